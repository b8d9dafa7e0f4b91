/* Servers that take work from each other, endpoint.c and stealing.c as they are, over a simulated wire: a few ranks
 * in one process run through random interleavings, each step one rank or one message.
 *
 *     unit_comm_stealing [COUNT | soak]         100,000 interleavings when nothing is said; soak: 1,000,000
 *
 * A failure prints its seed; PARAPET_TEST_SEED with that number repeats it as the first one. */
#include "comm/stealing.h"

#include "base/memory.h"
#include "simulated_wire.h"

#define QUICK_COUNT (100000 / TEST_THINNING)
#define SOAK_COUNT 1000000
#define MOST_STEPS 1000000
#define MOST_SHARDS 256
#define MOST_OWN 24
#define DESCRIPTION_BYTES SIM_MOST_BYTES
#define MOST_GIVEN ((int64_t)(DESCRIPTION_BYTES / sizeof(int64_t)))
#define NOBODY (-1)

typedef enum phase { ASLEEP, BEGINS, SERVES, ENDS, DRAINS, LEAVES, GONE } phase;

typedef struct person {
    int rank;
    phase phase;
    int transfer;
    bool is_server, is_slow;
    pp_endpoint endpoint;
    pp_budget budget;
    pp_stealing *taking;
    int64_t shards[MOST_SHARDS]; /* that it has, none of them begun; the next is the first */
    int64_t shard_count;
    int64_t at_work; /* a shard, or NOBODY */
    int steps_left, steps_per_shard;
    int64_t fails_after; /* so many shards; NOBODY: it does not */
    bool fails_aloud, has_failed, has_heard;
    bool is_asking; /* a TAKE is under way */
    int64_t taken_count;
} person;

static struct {
    uint64_t seed;
    test_random random;
    sim_network network;
    int size, server_count, transfer_count;
    int servers[SIM_MOST_RANKS];
    int64_t rank_share; /* of 100 steps */
    bool is_failing;    /* somebody fails in the transfer under way */
    person persons[SIM_MOST_RANKS];
    int64_t shard_count;
    int done[MOST_SHARDS], holder[MOST_SHARDS]; /* how often it was done; who has it, NOBODY while it travels */
    int left_count, awake_count, gone_count;
    int64_t takes, gifts, counted; /* messages of the transfer under way */
    int64_t steps, all_takes, all_gifts, moved, failures;
} world;

static void broken(const char *what)
{
    fprintf(stderr, "seed %llu: %s (%d ranks, %d servers, step %lld)\n", (unsigned long long)world.seed, what,
            world.size, world.server_count, (long long)world.steps);
    fail_msg("seed %llu: %s", (unsigned long long)world.seed, what);
}

static void demand(bool is_true, const char *what)
{
    if (!is_true)
        broken(what);
}

static int64_t draw(int64_t low, int64_t high)
{
    return test_random_between(&world.random, low, high);
}

static bool draw_one_in(int64_t n)
{
    return draw(1, n) == 1;
}

/* ---- Work ---- */

static void draw_part(person *who)
{
    int64_t i, most = draw_one_in(3) ? MOST_OWN : draw_one_in(2) ? 3 : 0;
    who->shard_count = who->is_server ? draw(0, most) : 0;
    for (i = 0; i < who->shard_count; i++) {
        world.done[world.shard_count] = 0;
        world.holder[world.shard_count] = who->rank;
        who->shards[i] = world.shard_count++;
    }
    who->at_work = NOBODY;
    who->steps_per_shard = (int)draw(1, draw_one_in(4) ? 64 : 4);
    who->fails_after = draw_one_in(6 * world.size) ? draw(0, who->shard_count) : NOBODY;
    who->fails_aloud = draw_one_in(2);
    world.is_failing |= who->fails_after != NOBODY;
    who->taken_count = 0;
}

static void draw_transfer(void)
{
    int rank;
    world.shard_count = 0;
    world.left_count = 0;
    world.takes = world.gifts = world.counted = 0;
    world.is_failing = false;
    for (rank = 0; rank < world.size; rank++)
        draw_part(&world.persons[rank]);
}

static int64_t next_shard(person *who)
{
    int64_t shard = who->shards[0];
    memmove(who->shards, who->shards + 1, (size_t)--who->shard_count * sizeof who->shards[0]);
    return shard;
}

static int64_t count_left(void *context)
{
    return ((person *)context)->shard_count;
}

/* From the end, as many as fit and as chance will have it. */
static size_t give(void *context, int64_t speed, void *description, size_t most_bytes)
{
    person *who = context;
    int64_t given = draw(0, who->shard_count < MOST_GIVEN ? who->shard_count : MOST_GIVEN), i;
    demand(speed >= 0 && speed <= 1000, "a taker's speed is not what it said");
    demand(most_bytes >= DESCRIPTION_BYTES, "there is less room than was promised");
    for (i = 0; i < given; i++) {
        int64_t shard = who->shards[--who->shard_count];
        demand(world.holder[shard] == who->rank, "a shard is given that is somebody else's");
        world.holder[shard] = NOBODY;
        ((int64_t *)description)[i] = shard;
    }
    world.moved += given;
    return (size_t)given * sizeof(int64_t);
}

static void take(person *who)
{
    size_t bytes, i;
    const int64_t *shards = pp_stealing_take(who->taking, &bytes);
    demand(bytes > 0 && bytes <= DESCRIPTION_BYTES && bytes % sizeof(int64_t) == 0, "a description is torn");
    for (i = 0; i < bytes / sizeof(int64_t); i++) {
        demand(shards[i] >= 0 && shards[i] < world.shard_count, "a description is not what was sent");
        demand(world.holder[shards[i]] == NOBODY, "a shard is taken that somebody has");
        world.holder[shards[i]] = who->rank;
        who->shards[who->shard_count++] = shards[i];
        who->taken_count++;
    }
}

static bool fail_now(person *who)
{
    if (who->has_failed || who->fails_after == NOBODY || who->fails_after-- > 0)
        return false;
    who->has_failed = true;
    if (who->fails_aloud)
        pp_endpoint_abort(&who->endpoint);
    return true;
}

/* A shard takes some steps; true: it did something. */
static bool work(person *who)
{
    if (who->has_failed || pp_endpoint_is_aborted(&who->endpoint)) {
        who->shard_count = 0;
        who->at_work = NOBODY;
        return false;
    }
    if (who->at_work == NOBODY) {
        if (who->shard_count == 0)
            return false;
        if (fail_now(who))
            return true;
        who->at_work = next_shard(who);
        who->steps_left = who->steps_per_shard;
        return true;
    }
    if (--who->steps_left > 0)
        return true;
    demand(world.holder[who->at_work] == who->rank, "a shard is done by a rank that does not have it");
    world.done[who->at_work]++;
    who->at_work = NOBODY;
    return true;
}

/* ---- Agreements ---- */

static void join(person *who, parapet_status status)
{
    pp_verdict mine = {.failed_rank = status != PARAPET_OK ? who->rank : -1,
                       .status = status,
                       .differing_rank = -1,
                       .call_rank = who->rank};
    pp_endpoint_join(&who->endpoint, &mine);
}

/* ---- What holds after a transfer ---- */

static void check_transfer(bool has_failed)
{
    int64_t i, most = world.gifts + (int64_t)world.server_count * pp_stealing_most_refusals(world.server_count);
    for (i = 0; i < world.shard_count; i++) {
        demand(has_failed || world.done[i] == 1, "a shard is lost or doubled");
        demand(world.done[i] <= 1, "a shard is done twice");
    }
    demand(world.takes <= most, "more is asked than there are gifts and servers x log(servers)");
    demand(world.counted == 2 * world.takes + 2 * world.gifts, "messages are counted that were not sent");
    world.failures += has_failed;
    world.all_takes += world.takes;
    world.all_gifts += world.gifts;
}

/* ---- The life of a rank ---- */

static void start_transfer(person *who)
{
    who->phase = SERVES;
}

static void leave_transfer(person *who, bool has_failed)
{
    world.counted += pp_stealing_message_count(who->taking);
    pp_stealing_free(who->taking);
    who->taking = NULL;
    demand(pp_budget_used(&who->budget) == 0, "a budget is not given back");
    demand(pp_budget_peak(&who->budget) <= pp_stealing_bytes(DESCRIPTION_BYTES), "a budget is exceeded");
    demand(!who->is_asking, "a question is still open after the end");
    who->transfer++;
    who->phase = ASLEEP;
    world.awake_count--;
    if (++world.left_count < world.size)
        return;
    check_transfer(has_failed);
    draw_transfer();
}

/* The taking is built before anybody can ask. */
static void wake(person *who)
{
    pp_stealing_options options = {.endpoint = &who->endpoint,
                                   .budget = &who->budget,
                                   .servers = world.servers,
                                   .server_count = world.server_count,
                                   .most_bytes = DESCRIPTION_BYTES,
                                   .giver = {who, count_left, give}};
    bool is_last = who->transfer == world.transfer_count;
    who->has_failed = who->has_heard = false;
    world.awake_count++;
    who->phase = is_last ? LEAVES : BEGINS;
    if (!is_last)
        assert_ok(pp_stealing_build(&who->taking, &options));
    join(who, PARAPET_OK);
}

static void finish_agreement(person *who)
{
    if (!pp_endpoint_is_agreed(&who->endpoint))
        return;
    world.network.calls++;
    if (who->phase == BEGINS)
        start_transfer(who);
    else {
        world.gone_count += who->phase == LEAVES;
        who->phase = who->phase == ENDS ? DRAINS : GONE;
    }
}

static void step_agreement(person *who)
{
    (void)pp_endpoint_progress(&who->endpoint);
    if (who->phase == ENDS)
        (void)pp_stealing_progress(who->taking);
    finish_agreement(who);
}

/* As transfers do: works, then asks, then joins. */
static bool serve(person *who)
{
    bool is_any = work(who);
    if (is_any || who->at_work != NOBODY)
        return is_any;
    if (who->has_failed || pp_endpoint_is_aborted(&who->endpoint))
        return false;
    if (pp_stealing_get_state(who->taking) == PP_STEALING_ARRIVED)
        take(who);
    else if (pp_stealing_get_state(who->taking) == PP_STEALING_IDLE)
        pp_stealing_ask(who->taking, draw(0, 1000));
    else
        return false;
    return true;
}

static bool has_served(const person *who)
{
    bool is_over = who->has_failed || pp_endpoint_is_aborted(&who->endpoint);
    if (who->at_work != NOBODY || (who->shard_count > 0 && !is_over) || !pp_stealing_is_idle(who->taking))
        return false;
    return is_over || pp_stealing_get_state(who->taking) == PP_STEALING_ENDED;
}

static void step_server(person *who)
{
    (void)pp_endpoint_progress(&who->endpoint);
    (void)pp_stealing_progress(who->taking);
    who->has_heard |= pp_endpoint_is_aborted(&who->endpoint);
    if (serve(who))
        world.network.calls++;
    if (!has_served(who))
        return;
    join(who, who->has_failed ? PARAPET_ERR_IO : PARAPET_OK);
    world.network.calls++;
    who->phase = ENDS;
    (void)pp_endpoint_progress(&who->endpoint);
    finish_agreement(who); /* as transfers do: the last one to join knows the end at once */
}

/* MPI may need what was sent for longer than the receiver needs to get it. */
static void step_drain(person *who)
{
    (void)pp_endpoint_progress(&who->endpoint);
    (void)pp_stealing_progress(who->taking);
    if (!pp_stealing_has_left(who->taking))
        return;
    world.network.calls++;
    leave_transfer(who, who->endpoint.verdict.failed_rank >= 0);
}

static void step_rank(person *who)
{
    switch (who->phase) {
    case BEGINS:
    case ENDS:
    case LEAVES:
        step_agreement(who);
        break;
    case SERVES:
        step_server(who);
        break;
    case DRAINS:
        step_drain(who);
        break;
    case ASLEEP:
    case GONE:
        return;
    }
}

/* ---- The world ---- */

/* Every control message that is sent: one question at a time, none after a failure is known, none to oneself. */
static void watch_control(int source, int target, const pp_control *control)
{
    person *from = &world.persons[source], *to = &world.persons[target];
    switch (control->kind) {
    case PP_CONTROL_TAKE:
        demand(source != target && to->is_server, "somebody is asked who has nothing to give");
        demand(!from->is_asking, "two questions of one rank are under way");
        demand(from->phase == SERVES && from->shard_count == 0 && from->at_work == NOBODY,
               "a rank asks although it has work");
        demand(!pp_endpoint_is_aborted(&from->endpoint), "a rank asks although it knows of a failure");
        from->is_asking = true;
        world.takes++;
        break;
    case PP_CONTROL_GIVE:
        demand(to->is_asking, "somebody is given something who did not ask");
        demand(!pp_endpoint_is_aborted(&from->endpoint), "work is given away although it is of no use");
        to->is_asking = false;
        world.gifts++;
        break;
    case PP_CONTROL_NONE:
        demand(to->is_asking, "somebody is answered who did not ask");
        to->is_asking = false;
        break;
    default:
        break;
    }
}

static void start_rank(int rank)
{
    person *who = &world.persons[rank];
    who->rank = rank;
    who->phase = ASLEEP;
    who->transfer = 0;
    who->is_slow = draw_one_in(6);
    who->is_asking = false;
    pp_budget_init(&who->budget, pp_stealing_bytes(DESCRIPTION_BYTES));
    pp_endpoint_init(&who->endpoint, &world.network.wires[rank].wire);
}

/* Servers are any ranks, in ascending order. */
static void choose_servers(void)
{
    int rank, count = 0;
    for (rank = 0; rank < world.size; rank++) {
        bool must = world.size - rank <= world.server_count - count;
        world.persons[rank].is_server = count < world.server_count && (must || draw_one_in(2));
        if (world.persons[rank].is_server)
            world.servers[count++] = rank;
    }
}

static void start_world(uint64_t seed)
{
    bool is_large;
    int rank;
    world.seed = seed;
    world.random.state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    is_large = draw_one_in(10);
    world.size = (int)draw(2, is_large ? SIM_MOST_RANKS : 4);
    world.server_count = (int)draw(1, world.size);
    world.transfer_count = (int)draw(1, 2);
    world.rank_share = draw_one_in(4) ? 8 : draw_one_in(4) ? 90 : draw(20, 75);
    world.awake_count = world.gone_count = 0;
    world.steps = 0;
    sim_restart(&world.network, world.size, draw_one_in(6) ? (unsigned)draw(1, 6) : 0);
    for (rank = 0; rank < world.size; rank++)
        start_rank(rank);
    choose_servers();
    draw_transfer();
}

/* Nothing is under way: every rank is woken and tried, and one of them must move. */
static void step_all(void)
{
    int64_t before = world.network.calls;
    int rank, awake = world.awake_count;
    for (rank = 0; rank < world.size; rank++)
        step_rank(&world.persons[rank]);
    if (world.network.calls != before || sim_can_move(&world.network))
        return;
    for (rank = 0; rank < world.size; rank++)
        if (world.persons[rank].phase == ASLEEP) {
            wake(&world.persons[rank]);
            return;
        }
    demand(awake != world.awake_count, "deadlock: nothing can move");
}

static void step_one(void)
{
    person *who = &world.persons[draw(0, world.size - 1)];
    if (who->is_slow && !draw_one_in(16))
        return;
    if (who->phase != ASLEEP)
        step_rank(who);
    else if (draw_one_in(8))
        wake(who);
}

static void end_world(void)
{
    int rank, i;
    while (sim_can_move(&world.network))
        sim_move(&world.network, &world.random);
    for (rank = 0; rank < world.size; rank++) {
        person *who = &world.persons[rank];
        pp_wire *wire = who->endpoint.wire;
        for (i = 0; i <= PP_TREE_WIDTH; i++) {
            pp_neighbour *next = &who->endpoint.neighbours[i];
            demand(wire->ops->is_over(wire, &next->verdict.request) && wire->ops->is_over(wire, &next->abort.request),
                   "a message of an agreement never leaves");
        }
        demand(world.network.wires[rank].arrived.first == NULL, "a message is left after the last agreement");
        pp_endpoint_clear(&who->endpoint);
    }
    demand(world.network.send_count == 0 && world.network.receive_count == 0, "something is under way after the end");
}

static void run_world(uint64_t seed)
{
    start_world(seed);
    while (world.gone_count < world.size) {
        demand(++world.steps < MOST_STEPS, "it does not end");
        if (!sim_can_move(&world.network) && draw_one_in(4))
            step_all();
        else if (sim_can_move(&world.network) && draw(1, 100) > world.rank_share)
            sim_move(&world.network, &world.random);
        else
            step_one();
    }
    end_world();
}

static int64_t run_count = QUICK_COUNT;

static void test_stealing__any_interleaving_ends_and_does_every_shard_once(void **state)
{
    const char *text = getenv("PARAPET_TEST_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : UINT64_C(20261116);
    int64_t i, steps = 0;
    (void)state;
    printf("seed %llu and the following\n", (unsigned long long)seed);
    sim_init(&world.network, broken, watch_control);
    for (i = 0; i < run_count; i++) {
        run_world(seed + (uint64_t)i);
        steps += world.steps;
    }
    printf("%lld interleavings, %lld steps, %lld questions, %lld gifts of %lld shards, %lld failed transfers\n",
           (long long)i, (long long)steps, (long long)world.all_takes, (long long)world.all_gifts,
           (long long)world.moved, (long long)world.failures);
    demand(run_count < 1000 || (world.all_gifts > 0 && world.failures > 0), "nothing was ever given, or failed");
    assert_int_equal(pp_memory_live_count(), 0);
}

static void test_stealing__refusals_grow_with_the_logarithm_of_servers(void **state)
{
    (void)state;
    assert_int_equal(pp_stealing_most_refusals(1), 4);
    assert_int_equal(pp_stealing_most_refusals(2), 5);
    assert_int_equal(pp_stealing_most_refusals(16), 8);
    assert_int_equal(pp_stealing_most_refusals(17), 9);
    assert_int_equal(pp_stealing_most_refusals(131072), 21);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stealing__refusals_grow_with_the_logarithm_of_servers),
        cmocka_unit_test(test_stealing__any_interleaving_ends_and_does_every_shard_once),
    };
    if (argc > 1)
        run_count = strcmp(argv[1], "soak") == 0 ? SOAK_COUNT : strtoll(argv[1], NULL, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
