/* Sparse exchange: random patterns of parcels, known to every rank, arrive exactly, each once and in order; also when
 * a rank has no memory. Sums between exchanges are those of all ranks. */
#include "comm/exchange.h"

#include <time.h>

#include "inside.h"

#define ROUNDS 40
#define MOST_RANKS 64

typedef struct post {
    uint64_t seed;
    int rank, size;
    int target;            /* whose turn it is */
    int sent[MOST_RANKS];  /* to each rank */
    int taken[MOST_RANKS]; /* from each rank */
    bool is_late;          /* pauses now and then */
    unsigned char expected[PP_PARCEL_BYTES];
} post;

/* How many parcels go from source to target: mostly none, sometimes many. */
static int count_between(const post *now, int source, int target)
{
    test_random random = random_of(now->seed, 1, (uint64_t)source, (uint64_t)target);
    switch (test_random_between(&random, 0, 5)) {
    case 0:
        return (int)test_random_between(&random, 1, 40);
    case 1:
        return (int)test_random_between(&random, 1, 3);
    default:
        return 0;
    }
}

static size_t make_parcel(const post *now, int source, int target, int number, unsigned char *parcel)
{
    test_random random = random_of(now->seed, 2 + (uint64_t)number, (uint64_t)source, (uint64_t)target);
    size_t bytes, i;
    switch (test_random_between(&random, 0, 3)) {
    case 0:
        bytes = PP_PARCEL_BYTES;
        break;
    case 1:
        bytes = (size_t)test_random_between(&random, 0, (int64_t)PP_PARCEL_BYTES);
        break;
    default:
        bytes = (size_t)test_random_between(&random, 0, 200);
    }
    for (i = 0; i < bytes; i++)
        parcel[i] = (unsigned char)(test_random_next(&random) >> 40);
    return bytes;
}

static bool next(void *context, int *rank, void *parcel, size_t *bytes)
{
    post *now = context;
    int tried;
    if (now->is_late && now->target == 0)
        (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    for (tried = 0; tried < now->size; tried++) {
        int target = now->target;
        now->target = (target + 1) % now->size;
        if (now->sent[target] == count_between(now, now->rank, target))
            continue;
        *bytes = make_parcel(now, now->rank, target, now->sent[target]++, parcel);
        *rank = target;
        return true;
    }
    return false;
}

static void receive(void *context, int source, const void *parcel, size_t bytes)
{
    post *now = context;
    int number = now->taken[source]++;
    size_t expected = make_parcel(now, source, now->rank, number, now->expected);
    expect(number < count_between(now, source, now->rank), "parcel %d from rank %d is one too many", number, source);
    expect(bytes == expected && memcmp(parcel, now->expected, bytes) == 0,
           "parcel %d from rank %d: %zu bytes for %zu", number, source, bytes, expected);
}

static parapet_status exchange_once(pp_comm *comm, uint64_t seed, bool is_late)
{
    static post now;
    pp_exchange exchange = {&now, next, receive};
    parapet_status status;
    int source;
    memset(&now, 0, sizeof now);
    now.seed = seed;
    now.rank = pp_comm_rank(comm);
    now.size = pp_comm_size(comm);
    now.is_late = is_late;
    status = pp_comm_exchange(comm, &exchange);
    for (source = 0; source < now.size; source++)
        expect(now.taken[source] == count_between(&now, source, now.rank), "%d parcels from rank %d, not %d",
               now.taken[source], source, count_between(&now, source, now.rank));
    return status;
}

static int refuse(void *context, size_t bytes)
{
    (void)context;
    return bytes >= PP_PARCEL_BYTES;
}

/* Without an agreement around it, beside ranks that are still in the exchange before. */
static void add_up_once(pp_comm *comm, int64_t round)
{
    int64_t size = pp_comm_size(comm), values[3] = {pp_comm_rank(comm), round, INT64_C(1) << 40};
    expect(pp_comm_add_up(comm, values, 3) == PARAPET_OK, "a sum in round %d", (int)round);
    expect(values[0] == size * (size - 1) / 2 && values[1] == size * round && values[2] == size << 40,
           "sums %lld, %lld, %lld", (long long)values[0], (long long)values[1], (long long)values[2]);
}

static void check(pp_comm *comm)
{
    uint64_t seed = test_random_start().state, round;
    int size = pp_comm_size(comm);
    for (round = 0; round < ROUNDS; round++) {
        int chosen = (int)(round / 2 % (uint64_t)size);
        bool is_mine = pp_comm_rank(comm) == chosen;
        bool has_no_memory = round % 4 == 3;
        parapet_status status;
        if (is_mine && has_no_memory)
            pp_memory_hook_set(refuse, NULL);
        status = exchange_once(comm, seed + round, is_mine && round % 4 == 1);
        pp_memory_hook_set(NULL, NULL);
        expect(status == (is_mine && has_no_memory ? PARAPET_ERR_MEMORY : PARAPET_OK), "status %d in round %d",
               status, (int)round);
        if (round % 2 == 0)
            add_up_once(comm, (int64_t)round);
        if (round % 3 == 0) /* else some ranks begin the next while others are still in this one */
            meet(comm);
    }
}

int main(int argc, char **argv)
{
    return run_parallel(&argc, &argv, check);
}
