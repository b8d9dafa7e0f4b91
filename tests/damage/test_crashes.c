/* A crash at every storage operation of every call that changes something: what is left opens and verifies, shows
 * old or new, and can be worked with. Then crashes during that work too, at random.
 *
 * A crash is storage that fails for good from one operation on; that operation may still have taken effect.
 *
 * damage_crashes quick|full|soak: how many pairs of crashes are drawn. */
#include "support.h"

#include "scenario.h"

enum { RECOVERED = 3 }; /* the generation of values that is written afterwards */

static int pair_count;
static long failing_operations_most; /* of calls that are tried with a failure before the crash */

static const int64_t recovered_shape[2] = {10, 12};

/* A scenario ready to crash in. */
typedef struct crash_site {
    const scenario *of;
    image before;
    state old, new;
    long operations;
} crash_site;

static crash_site *sites;
static int site_count;
static long points, recoveries, crashes_inside;

static pp_store *fresh_memory(void)
{
    pp_store *memory;
    assert_ok(pp_store_memory_build(&memory, NULL));
    return memory;
}

static parapet_status create_again(bed *work)
{
    static const int64_t chunks[2] = {2, 3}, shards[2] = {STATE_SHARD, STATE_SHARD};
    static const int32_t fill = STATE_FILL;
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 2,
                               .shape = recovered_shape,
                               .chunks = chunks,
                               .shards = shards,
                               .codec = "zstd:1",
                               .fill_value = &fill};
    return parapet_array_create(&work->array, work->store, "a", &spec);
}

static bool is_absent(parapet_status status)
{
    return status == PARAPET_ERR_NOT_FOUND ||
           (status == PARAPET_ERR_ARGUMENT && strstr(parapet_error_message(), "is a group") != NULL);
}

/* What a program does that starts again: looks what is there, brings it to its shape, writes, marks and seals. */
static parapet_status recover(bed *work)
{
    parapet_status status =
        pp_store_open_over(&work->store, MPI_COMM_NULL, work->faulty, PARAPET_CREATE, &work->options);
    if (status != PARAPET_OK)
        return status;
    status = parapet_array_open(&work->array, work->store, "a");
    if (is_absent(status))
        status = create_again(work);
    if (status != PARAPET_OK || (status = parapet_array_resize(work->array, recovered_shape)) != PARAPET_OK ||
        (status = bed_write_all(work->array, RECOVERED)) != PARAPET_OK ||
        (status = parapet_array_attribute_set(work->array, "note", "\"recovered\"")) != PARAPET_OK)
        return status;
    return parapet_array_seal(work->array);
}

static void check_recovered(pp_store *inner)
{
    const array_state *array;
    state seen;
    int64_t i, j;
    state_take(&seen, inner);
    array = &seen.arrays[0];
    assert_true(array->exists && array->is_sealed);
    assert_memory_equal(array->shape, recovered_shape, sizeof recovered_shape);
    assert_string_equal(array->note, "\"recovered\"");
    for (i = 0; i < recovered_shape[0]; i++)
        for (j = 0; j < recovered_shape[1]; j++)
            assert_int_equal(array->values[i][j], RECOVERED * 10000 + i * 100 + j);
}

/* What shrinking cut off, or overwriting replaced, must not come back when the array grows or is made again. */
static void check_nothing_comes_back(const crash_site *site, bed *work, const state *seen)
{
    const array_state *was = &seen->arrays[0];
    state grown;
    int64_t i, j;
    if (was->exists && site->of->kind != SCENARIO_REPLACES && was->shape[0] >= recovered_shape[0])
        return;
    assert_ok(pp_store_open_over(&work->store, MPI_COMM_NULL, work->inner, PARAPET_CREATE, &work->options));
    if (was->exists)
        assert_ok(parapet_array_open(&work->array, work->store, "a"));
    else
        assert_ok(create_again(work));
    assert_ok(parapet_array_resize(work->array, (const int64_t[2]){STATE_EDGE, STATE_EDGE}));
    bed_close_handles(work);
    state_take(&grown, work->inner);
    for (i = 0; i < STATE_EDGE; i++)
        for (j = 0; j < STATE_EDGE; j++)
            if (grown.arrays[0].values[i][j] != (was->exists ? was->values[i][j] : STATE_FILL))
                fail_msg("%s: (%lld, %lld) came back as %d", site->of->name, (long long)i, (long long)j,
                         (int)grown.arrays[0].values[i][j]);
}

/* Runs the scenario into a crash; what is stored afterwards is in the bed. */
static void crash(const crash_site *site, bed *work, long at, bool after)
{
    parapet_status status;
    bed_build(work, fresh_memory());
    image_put(&site->before, work->inner);
    bed_open_handles(work, site->of);
    work->plan = (pp_fault_plan){.fail_at = at, .fail_forever = true, .fail_after = after, .is_torn = after};
    status = site->of->run(work);
    if (work->plan.failures > 0 && status != PARAPET_ERR_IO)
        fail_msg("%s: crashed at %ld, but returned %s", site->of->name, at, parapet_status_name(status));
    bed_close_handles(work);
    work->plan = (pp_fault_plan){.fail_at = -1};
}

static void crash_and_look(const crash_site *site, long at, bool after)
{
    state_rule rule = {.whole = site->of->kind == SCENARIO_REPLACES,
                       .may_vanish = site->of->kind == SCENARIO_REPLACES};
    char problem[256];
    state seen;
    image left;
    bed work;
    crash(site, &work, at, after);
    state_take(&seen, work.inner);
    if (!state_is_between(&seen, &site->old, &site->new, rule, problem))
        fail_msg("%s: after a crash at operation %ld%s: %s", site->of->name, at, after ? ", done" : "", problem);
    image_take(&left, work.inner);
    assert_ok(recover(&work));
    bed_close_handles(&work);
    check_recovered(work.inner);
    bed_free(&work);
    bed_build(&work, fresh_memory());
    image_put(&left, work.inner);
    check_nothing_comes_back(site, &work, &seen);
    bed_free(&work);
    image_free(&left);
    points++;
}

static void test_crash__at_every_operation(void **context)
{
    const crash_site *site = *context;
    long at;
    for (at = 0; at < site->operations; at += TEST_THINNING) {
        crash_and_look(site, at, false);
        crash_and_look(site, at, true);
    }
}

/* Values are of a generation that was written, or fill; and a shard that has any of the last write has all of it. */
static void check_values(const crash_site *site, const array_state *seen)
{
    int64_t i, j;
    for (i = 0; i < seen->shape[0]; i++)
        for (j = 0; j < seen->shape[1]; j++) {
            int64_t row = i - i % STATE_SHARD, column = j - j % STATE_SHARD;
            int32_t value = seen->values[i][j], place = (int32_t)(i * 100 + j);
            bool is_recovered = value == RECOVERED * 10000 + place;
            bool is_first_recovered = seen->values[row][column] == RECOVERED * 10000 + row * 100 + column;
            if (value != STATE_FILL && value != 10000 + place && value != 20000 + place && !is_recovered)
                fail_msg("%s: (%lld, %lld) is %d, which nobody wrote", site->of->name, (long long)i, (long long)j,
                         (int)value);
            if (is_recovered != is_first_recovered && i < recovered_shape[0] && j < recovered_shape[1])
                fail_msg("%s: the shard of (%lld, %lld) is a mixture", site->of->name, (long long)i, (long long)j);
        }
}

static void crash_twice(test_random *random)
{
    const crash_site *site = &sites[test_random_between(random, 0, site_count - 1)];
    long first = test_random_between(random, 0, site->operations - 1), second = test_random_between(random, 0, 140);
    state seen;
    bed work;
    crash(site, &work, first, test_random_between(random, 0, 1) == 1);
    work.plan = (pp_fault_plan){.fail_at = second,
                                .fail_forever = true,
                                .fail_after = test_random_between(random, 0, 1) == 1,
                                .is_torn = test_random_between(random, 0, 1) == 1};
    (void)recover(&work);
    recoveries += work.plan.failures > 0 ? 1 : 0;
    bed_close_handles(&work);
    work.plan = (pp_fault_plan){.fail_at = -1};
    state_take(&seen, work.inner);
    if (seen.arrays[0].exists)
        check_values(site, &seen.arrays[0]);
    assert_ok(recover(&work));
    bed_close_handles(&work);
    check_recovered(work.inner);
    bed_free(&work);
}

static void test_crash__and_another_during_recovery(void **context)
{
    test_random random = test_random_start();
    int i;
    (void)context;
    for (i = 0; i < pair_count; i++)
        crash_twice(&random);
    printf("%d pairs of crashes, %ld of them inside the recovery\n", pair_count, recoveries);
    assert_true(recoveries > pair_count / 2);
}

/* A failure that passes, and then a crash in the next call through the same handle; whether it came to that. */
static bool fail_then_crash(const crash_site *site, long failing, bool after, long second)
{
    bool is_crashed;
    state seen;
    bed work;
    bed_build(&work, fresh_memory());
    image_put(&site->before, work.inner);
    bed_open_handles(&work, site->of);
    work.plan = (pp_fault_plan){.fail_at = failing, .fail_after = after};
    (void)site->of->run(&work);
    work.plan = (pp_fault_plan){.fail_at = second, .fail_forever = true, .fail_after = after};
    (void)parapet_array_attribute_set(work.array, "note", "\"other\"");
    is_crashed = work.plan.failures > 0;
    bed_close_handles(&work);
    work.plan = (pp_fault_plan){.fail_at = -1};
    state_take(&seen, work.inner);
    bed_free(&work);
    return is_crashed;
}

static void test_crash__on_a_handle_that_saw_a_failure(void **context)
{
    long failing, second;
    int i, after;
    (void)context;
    for (i = 0; i < site_count; i++) {
        if (sites[i].of->opens != OPENS_ARRAY || sites[i].operations > failing_operations_most)
            continue;
        for (failing = 0; failing < sites[i].operations; failing += TEST_THINNING)
            for (after = 0; after < 2; after++)
                for (second = 0; fail_then_crash(&sites[i], failing, after == 1, second); second++)
                    crashes_inside++;
    }
    printf("%ld failures followed by a crash\n", crashes_inside);
    assert_true(crashes_inside > 100);
}

static void build_site(crash_site *site, const scenario *of)
{
    bed work;
    site->of = of;
    scenario_prepare(of, &site->before);
    scenario_bounds(of, &site->before, &site->old, &site->new);
    bed_build(&work, fresh_memory());
    image_put(&site->before, work.inner);
    bed_open_handles(&work, of);
    work.plan.operations = 0;
    assert_ok(of->run(&work));
    site->operations = work.plan.operations;
    bed_free(&work);
}

/* Only calls that change something. */
static void gather_sites(void)
{
    int i;
    sites = calloc((size_t)scenario_count, sizeof sites[0]);
    for (i = 0; i < scenario_count; i++) {
        if (scenarios[i].kind == SCENARIO_READS || scenarios[i].prepare == NULL)
            continue;
        build_site(&sites[site_count], &scenarios[i]);
        if (sites[site_count].operations > 0)
            site_count++;
        else
            image_free(&sites[site_count].before);
    }
}

static void print_table(void)
{
    int i;
    printf("\n%-40s %10s\n", "call", "operations");
    for (i = 0; i < site_count; i++)
        printf("%-40s %10ld\n", sites[i].of->name, sites[i].operations);
    printf("%ld crash points\n", points);
}

int main(int argc, char **argv)
{
    struct CMUnitTest *list;
    int i, failed;
    const char *length = argc > 1 ? argv[1] : "quick";
    pair_count = strcmp(length, "soak") == 0 ? 200000 : strcmp(length, "full") == 0 ? 2000 : 200;
    failing_operations_most = strcmp(length, "quick") == 0 ? 25 : 1000;
    gather_sites();
    list = calloc((size_t)site_count + 2, sizeof list[0]);
    for (i = 0; i < site_count; i++)
        list[i] = (struct CMUnitTest){
            .name = sites[i].of->name, .test_func = test_crash__at_every_operation, .initial_state = &sites[i]};
    list[site_count] = (struct CMUnitTest){.name = "test_crash__and_another_during_recovery",
                                           .test_func = test_crash__and_another_during_recovery};
    list[site_count + 1] = (struct CMUnitTest){.name = "test_crash__on_a_handle_that_saw_a_failure",
                                               .test_func = test_crash__on_a_handle_that_saw_a_failure};
    failed = _cmocka_run_group_tests("damage_crashes", list, (size_t)site_count + 2, NULL, NULL);
    print_table();
    for (i = 0; i < site_count; i++)
        image_free(&sites[i].before);
    free(sites);
    free(list);
    return failed;
}
