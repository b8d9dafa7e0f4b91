/* Checkpoints that crash at each of their storage operations, fail at one of them or find no memory: what was
 * acknowledged is there bit for bit, the generation in the making is absent or whole, what is left over can be
 * collected, and the next checkpoint works.
 *
 * fault_checkpoint_points quick|soak: soak takes a directory as storage too, and 2,000 pairs of crashes. */
#include "support.h"

#include "checkpoint_bed.h"

enum { QUICK_PAIRS = 100, SOAK_PAIRS = 2000, MANNER_STRIDE = 5, DIRECTORY_STRIDE = 29, MOST_SHOWN = 5 };

static bool is_soak;

/* What the runs have shown. */
typedef struct figures {
    long points, violations, ahead; /* ahead: the generation in the making was there, and not acknowledged */
} figures;

static figures seen;

/* Where and how a run is disturbed. */
typedef struct point {
    const char *what;
    checkpoint_storage storage;
    long at;
    bool is_torn, is_after;
} point;

static void violate(const point *at, const checkpoint_bed *work, const char *when)
{
    if (seen.violations++ < MOST_SHOWN)
        print_error("VIOLATION: %s %ld, in %s, %s: %s\n", at->what, at->at,
                    at->storage == CHECKPOINT_IN_MEMORY ? "memory" : "a directory", when, work->problem);
}

static void check(const point *at, checkpoint_bed *work, bool is_strict, const char *when)
{
    int known = work->known_count;
    if (!checkpoint_bed_check(work, is_strict))
        violate(at, work, when);
    seen.ahead += work->known_count - known;
}

/* What a program finds when everything works again. */
static void check_and_go_on(const point *at, checkpoint_bed *work, bool is_strict)
{
    parapet_status status;
    check(at, work, is_strict, "afterwards");
    if (!checkpoint_bed_check_collected(work))
        violate(at, work, "after collecting");
    status = checkpoint_bed_make(work, 1, false);
    (void)snprintf(work->problem, sizeof work->problem, "%s", parapet_error_message());
    if (status != PARAPET_OK)
        violate(at, work, "the next checkpoint");
    check(at, work, true, "after the next checkpoint");
    if (!checkpoint_bed_check_collected(work))
        violate(at, work, "after collecting again");
}

static pp_fault_plan plan_of(const point *at, bool forever)
{
    return (pp_fault_plan){
        .fail_at = at->at, .fail_forever = forever, .fail_after = at->is_after, .is_torn = at->is_torn};
}

/* Carries on after a fault was planned; whether it was reached. */
static bool end_fault(checkpoint_bed *work)
{
    bool is_reached = work->plan.failures > 0;
    work->plan = (pp_fault_plan){.fail_at = -1};
    return is_reached;
}

/* ---- Crashes and failures of storage ---- */

static bool run_crash(const point *at)
{
    checkpoint_bed work;
    bool is_reached;
    checkpoint_bed_build(&work, at->storage);
    work.plan = plan_of(at, true);
    (void)checkpoint_bed_make(&work, 2, false);
    if ((is_reached = end_fault(&work))) {
        check_and_go_on(at, &work, false);
        seen.points++;
    }
    checkpoint_bed_free(&work);
    return is_reached;
}

/* One operation fails: the generation that did not come about is not there. */
static bool run_failure(const point *at)
{
    long live = pp_memory_live_count();
    checkpoint_bed work;
    bool is_reached;
    checkpoint_bed_build(&work, at->storage);
    work.plan = plan_of(at, false);
    (void)checkpoint_bed_make(&work, 2, true);
    if ((is_reached = end_fault(&work))) {
        check_and_go_on(at, &work, true);
        seen.points++;
    }
    checkpoint_bed_free(&work);
    (void)snprintf(work.problem, sizeof work.problem, "%ld allocations were not given back",
                   pp_memory_live_count() - live);
    if (pp_memory_live_count() != live)
        violate(at, &work, "at the end");
    return is_reached;
}

static void run_everywhere(point at, bool (*run)(const point *at), long stride)
{
    for (at.at = 0; run(&at); at.at += stride)
        continue;
}

/* Quick: all operations in memory, plainly; of the rest, some. */
static void run_in_all_manners(const char *names[3], bool (*run)(const point *at))
{
    int storage;
    for (storage = CHECKPOINT_IN_MEMORY; storage <= CHECKPOINT_IN_DIRECTORY; storage++) {
        point plain = {.what = names[0], .storage = (checkpoint_storage)storage}, torn = plain, after = plain;
        long stride = is_soak ? 1 : storage == CHECKPOINT_IN_MEMORY ? MANNER_STRIDE : DIRECTORY_STRIDE;
        long plain_stride = storage == CHECKPOINT_IN_MEMORY ? 1 : stride, thinning = is_soak ? 1 : TEST_THINNING;
        torn.what = names[1];
        torn.is_torn = true;
        after.what = names[2];
        after.is_after = true;
        run_everywhere(plain, run, plain_stride * thinning);
        run_everywhere(torn, run, stride * thinning);
        run_everywhere(after, run, stride * thinning);
    }
}

/* ---- Memory ---- */

typedef struct refusal {
    long at, count, refused;
    bool forever;
} refusal;

static int refuse(void *context, size_t bytes)
{
    refusal *plan = context;
    long number = plan->count++;
    (void)bytes;
    if (number < plan->at || (number > plan->at && !plan->forever))
        return 0;
    plan->refused++;
    return 1;
}

static bool run_without_memory(long number, bool forever)
{
    point at = {.what = forever ? "no memory from allocation" : "no memory for allocation", .at = number};
    refusal plan = {.at = number, .forever = forever};
    long live = pp_memory_live_count();
    checkpoint_bed work;
    checkpoint_bed_build(&work, CHECKPOINT_IN_MEMORY);
    pp_memory_hook_set(refuse, &plan);
    (void)checkpoint_bed_make(&work, 2, true);
    pp_memory_hook_set(NULL, NULL);
    if (plan.refused > 0) {
        check_and_go_on(&at, &work, false);
        seen.points++;
    }
    checkpoint_bed_free(&work);
    (void)snprintf(work.problem, sizeof work.problem, "%ld allocations were not given back",
                   pp_memory_live_count() - live);
    if (pp_memory_live_count() != live)
        violate(&at, &work, "at the end");
    return plan.refused > 0;
}

/* ---- One crash after the other ---- */

/* A crash, and another one, or a refusal of memory, while what the first has left is put right. */
static void run_pair(test_random *random, long operations)
{
    point first = {.what = "a pair of crashes, the first at operation",
                   .storage = test_random_between(random, 0, 3) == 0 ? CHECKPOINT_IN_DIRECTORY : CHECKPOINT_IN_MEMORY,
                   .at = (long)test_random_between(random, 0, operations - 1),
                   .is_torn = test_random_between(random, 0, 1) == 1,
                   .is_after = test_random_between(random, 0, 2) == 0};
    point second = {.at = (long)test_random_between(random, 0, operations * 2 / 3),
                    .is_torn = test_random_between(random, 0, 1) == 1,
                    .is_after = test_random_between(random, 0, 2) == 0};
    refusal plan = {.at = (long)test_random_between(random, 0, operations * 4)};
    checkpoint_bed work;
    checkpoint_bed_build(&work, first.storage);
    work.plan = plan_of(&first, true);
    (void)checkpoint_bed_make(&work, 2, false);
    (void)end_fault(&work);
    check(&first, &work, false, "in between");
    if (test_random_between(random, 0, 3) == 0)
        pp_memory_hook_set(refuse, &plan);
    else
        work.plan = plan_of(&second, test_random_between(random, 0, 3) > 0);
    (void)checkpoint_bed_recover(&work);
    pp_memory_hook_set(NULL, NULL);
    (void)end_fault(&work);
    check_and_go_on(&first, &work, false);
    checkpoint_bed_free(&work);
    seen.points++;
}

/* ---- The tests ---- */

static long count_operations(void)
{
    checkpoint_bed work;
    long operations;
    checkpoint_bed_build(&work, CHECKPOINT_IN_MEMORY);
    work.plan.operations = 0;
    assert_ok(checkpoint_bed_make(&work, 2, false));
    operations = work.plan.operations;
    checkpoint_bed_free(&work);
    return operations;
}

static void conclude(const char *name)
{
    printf("{\"test\": \"checkpoint points: %s\", \"points\": %ld, \"unacknowledged and there\": %ld, "
           "\"violations\": %ld}\n",
           name, seen.points, seen.ahead, seen.violations);
    assert_true(seen.points > 0);
    assert_int_equal(seen.violations, 0);
}

static void test_checkpoint__crash_at_every_operation_leaves_what_was_acknowledged(void **context)
{
    const char *names[3] = {"crash at operation", "crash, torn, at operation", "crash after operation"};
    (void)context;
    seen = (figures){0};
    run_in_all_manners(names, run_crash);
    conclude("crashes");
}

static void test_checkpoint__failure_of_any_operation_leaves_no_half_generation(void **context)
{
    const char *names[3] = {"failure of operation", "failure, torn, of operation",
                            "failure, after taking effect, of operation"};
    (void)context;
    seen = (figures){0};
    run_in_all_manners(names, run_failure);
    conclude("failures");
}

static void test_checkpoint__refused_allocation_anywhere_leaves_what_was_acknowledged(void **context)
{
    long at, step = is_soak ? 1 : 7;
    (void)context;
    seen = (figures){0};
    for (at = 0; run_without_memory(at, false); at += step)
        continue;
    for (at = 0; run_without_memory(at, true); at += step)
        continue;
    conclude("no memory");
}

static void test_checkpoint__crash_during_recovery_leaves_what_was_acknowledged(void **context)
{
    test_random random = test_random_start();
    long operations = count_operations();
    int i;
    (void)context;
    seen = (figures){0};
    printf("%ld operations in two checkpoints\n", operations);
    for (i = 0; i < (is_soak ? SOAK_PAIRS : QUICK_PAIRS); i++)
        run_pair(&random, operations);
    conclude("pairs");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoint__crash_at_every_operation_leaves_what_was_acknowledged),
        cmocka_unit_test(test_checkpoint__failure_of_any_operation_leaves_no_half_generation),
        cmocka_unit_test(test_checkpoint__refused_allocation_anywhere_leaves_what_was_acknowledged),
        cmocka_unit_test(test_checkpoint__crash_during_recovery_leaves_what_was_acknowledged),
    };
    is_soak = argc > 1 && strcmp(argv[1], "soak") == 0;
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
