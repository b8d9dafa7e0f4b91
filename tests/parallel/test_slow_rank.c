/* One rank's storage does not go on until that of all others is done with the call: their shards are finished without
 * it, also where they need that rank's data, because it goes on answering.
 *
 * parallel_slow_rank */
#include <parapet_store.h>
#include <stdio.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "delay.h"
#include "strip.h"
#include "watch.h"

enum { RANKS_MOST = 16 };
typedef enum direction { WRITING, READING, DIRECTIONS } direction;

/* What all ranks know of a case. */
typedef struct common {
    atomic_long operations[DIRECTIONS][RANKS_MOST]; /* of storage, on shards, in the call under way */
    long expected[DIRECTIONS][RANKS_MOST];          /* of a whole call */
    atomic_bool is_done[DIRECTIONS];                /* the others with all of them */
} common;

static launch run;
static common *all;
static int slow;
static atomic_bool is_held, is_in_vain;
static int number; /* of the case */

/* What storage does first and last with a shard. */
static const char *const first[DIRECTIONS] = {"begin", "open"}, *const last[DIRECTIONS] = {"stage", "read"};

/* DIRECTIONS: none of these. */
static direction direction_of(const char *const *operations, const char *operation, const char *key)
{
    int of = 0;
    while (of < DIRECTIONS && (strcmp(operation, operations[of]) != 0 || strstr(key, "/c/") == NULL))
        of++;
    return (direction)of;
}

static bool are_others_done(direction of)
{
    int i;
    for (i = 0; i < run.ranks; i++)
        if (i != slow && atomic_load(&all->operations[of][i]) < all->expected[of][i])
            return false;
    return true;
}

static void record(void *context, const char *operation, const char *key)
{
    direction of = direction_of(last, operation, key);
    (void)context;
    if (of == DIRECTIONS)
        return;
    (void)atomic_fetch_add(&all->operations[of][run.rank], 1);
    if (atomic_load(&is_held) && run.rank != slow && are_others_done(of))
        atomic_store(&all->is_done[of], true);
}

static void wait_for_others(void *context, const char *operation, const char *key)
{
    direction of = direction_of(first, operation, key);
    (void)context;
    if (of == DIRECTIONS || run.rank != slow || !atomic_load(&is_held) || atomic_load(&is_in_vain))
        return;
    if (!delay_until(&all->is_done[of], DELAY_PATIENCE_SECONDS))
        atomic_store(&is_in_vain, true);
}

static pp_store *open_folder(const char *name)
{
    pp_posix_options posix = {.not_durable = true, .create = true};
    char path[600];
    pp_store *inner = NULL;
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, name);
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    watch_meet();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    return inner;
}

static void begin_call(direction of)
{
    atomic_store(&all->operations[of][run.rank], 0);
    watch_meet();
}

static void transfer_once(parapet_array *array)
{
    int32_t generation;
    begin_call(WRITING);
    (void)LAUNCH_OK(&run, strip_write(array, &run, 1));
    begin_call(READING);
    (void)LAUNCH_OK(&run, strip_read(array, &run, &generation));
    launch_expect(&run, generation == 1, "what was written");
}

/* What each rank's storage has to do is seen in a first round, and waited for in the next. */
static void transfer(parapet_array *array)
{
    int of;
    transfer_once(array);
    for (of = 0; of < DIRECTIONS; of++) {
        all->expected[of][run.rank] = atomic_load(&all->operations[of][run.rank]);
        launch_expect(&run, all->expected[of][run.rank] > 0, "every rank has something to do");
        atomic_store(&all->is_done[of], false);
    }
    watch_meet();
    atomic_store(&is_held, true);
    transfer_once(array);
    atomic_store(&is_held, false);
    launch_expect(&run, !atomic_load(&is_in_vain), "the others done before the slow rank");
    atomic_store(&is_in_vain, false);
}

static void run_case(parapet_transport transport, parapet_owners owners, int slow_one)
{
    parapet_store_options options = {.transport = transport, .owners = owners, .servers = run.ranks};
    delay_plan plan = {.wait = wait_for_others, .record = record};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    pp_store *inner, *delayed = NULL;
    char name[32], description[96];
    slow = slow_one;
    launch_case_begin(&run, (uint64_t)number);
    (void)snprintf(name, sizeof name, "slow-%d", number++);
    (void)snprintf(description, sizeof description, "transport %d, owners %d, rank %d is slow", (int)transport,
                   (int)owners, slow);
    if (run.rank == 0)
        printf("%s\n", description);
    inner = open_folder(name);
    launch_expect(&run, delay_store_build(&delayed, inner, &plan) == PARAPET_OK, "a store");
    if (LAUNCH_OK(&run, pp_store_open_over(&store, MPI_COMM_WORLD, delayed, PARAPET_CREATE, &options)) &&
        LAUNCH_OK(&run, strip_create(&array, store, "a", run.ranks, 1)))
        transfer(array);
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    pp_store_free(delayed);
    pp_store_free(inner);
    (void)launch_case_end(&run, description);
}

int main(int argc, char **argv)
{
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    all = launch_share(&run, sizeof *all);
    run_case(PARAPET_TRANSPORT_DIRECT, PARAPET_OWNERS_IN_TURN, run.ranks / 2);
    run_case(PARAPET_TRANSPORT_MESSAGES, PARAPET_OWNERS_NEAREST, run.ranks / 2);
    run_case(PARAPET_TRANSPORT_DIRECT, PARAPET_OWNERS_NEAREST, 1 % run.ranks);
    run_case(PARAPET_TRANSPORT_MESSAGES, PARAPET_OWNERS_IN_TURN, run.ranks - 1);
    return launch_finish(&run);
}
