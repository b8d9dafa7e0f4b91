#include "sites.h"

#include "support.h"

/* Refuses allocations, from any thread. */
typedef struct refusal {
    long at;
    bool forever;
    const pp_fault_plan *plan;
    atomic_long count, refused;
    atomic_long operations_then; /* storage operations begun at the first refusal */
} refusal;

/* What one run has shown. */
typedef struct outcome {
    parapet_status status;
    bool is_reached;
    bool is_before_publish; /* the failure came before any shard could become visible */
    char message[PP_MESSAGE_BYTES];
} outcome;

static int decide(void *context, size_t bytes)
{
    refusal *plan = context;
    long number = atomic_fetch_add(&plan->count, 1);
    (void)bytes;
    if (number < plan->at || (number > plan->at && !plan->forever))
        return 0;
    if (atomic_fetch_add(&plan->refused, 1) == 0)
        atomic_store(&plan->operations_then, plan->plan->operations);
    return 1;
}

static const char *name_of_point(const site_test *test, const fault_point *point)
{
    static char text[256];
    (void)snprintf(text, sizeof text, "%s, %lld threads, io_thread %lld: %s %ld fails %s%s%s with %s", test->of->name,
                   (long long)test->threads, (long long)test->io_thread,
                   point->kind == FAULT_STORAGE ? "operation" : "allocation", point->at,
                   point->forever ? "forever" : "once", point->after ? ", after taking effect" : "",
                   point->torn ? ", torn" : "", parapet_status_name(point->status));
    return text;
}

static pp_store *build_memory(void)
{
    pp_store *memory;
    assert_ok(pp_store_memory_build(&memory, NULL));
    return memory;
}

void site_test_build(site_test *test, const scenario *of)
{
    *test = (site_test){.of = of, .threads = 1, .io_thread = PARAPET_IO_THREAD_NONE, .first_shard_publish = -1};
    scenario_prepare(of, &test->before);
    scenario_bounds(of, &test->before, &test->old, &test->new);
}

void site_test_free(site_test *test)
{
    image_free(&test->before);
}

static void run_with_storage_fault(site_test *test, bed *work, const fault_point *point, outcome *result)
{
    work->plan = (pp_fault_plan){.fail_at = point->at,
                                 .fail_forever = point->forever,
                                 .fail_after = point->after,
                                 .is_torn = point->torn,
                                 .status = point->status};
    result->status = test->of->run(work);
    result->is_reached = work->plan.failures > 0;
    (void)snprintf(result->message, sizeof result->message, "%s", parapet_error_message());
    if (strstr(result->message, "injected failure of publish a/c") != NULL && test->threads == 1 && !point->after &&
        (test->first_shard_publish < 0 || point->at < test->first_shard_publish))
        test->first_shard_publish = point->at;
    result->is_before_publish = strstr(result->message, "injected failure of publish") == NULL &&
                                strstr(result->message, "injected failure of sync_dirs") == NULL;
    work->plan = (pp_fault_plan){.fail_at = -1};
}

static void run_with_memory_fault(site_test *test, bed *work, const fault_point *point, outcome *result)
{
    refusal plan = {.at = point->at, .forever = point->forever, .plan = &work->plan};
    pp_memory_hook_set(decide, &plan);
    work->plan = (pp_fault_plan){.fail_at = -1};
    result->status = test->of->run(work);
    pp_memory_hook_set(NULL, NULL);
    result->is_reached = atomic_load(&plan.refused) > 0;
    (void)snprintf(result->message, sizeof result->message, "%s", parapet_error_message());
    result->is_before_publish =
        test->first_shard_publish >= 0 && atomic_load(&plan.operations_then) <= test->first_shard_publish;
}

/* The right status, and a sentence that names what was injected and where. */
static void check_report(const site_test *test, const fault_point *point, const outcome *result)
{
    parapet_status expected = point->kind == FAULT_MEMORY ? PARAPET_ERR_MEMORY : point->status;
    const char *word = point->kind == FAULT_MEMORY ? "memory" : "injected failure of ";
    if (result->status != expected)
        fail_msg("%s: returned %s (%s)", name_of_point(test, point), parapet_status_name(result->status),
                 result->message);
    if (strstr(result->message, word) == NULL)
        fail_msg("%s: the sentence \"%s\" does not say so", name_of_point(test, point), result->message);
}

static void check_budget(const site_test *test, const fault_point *point, const bed *work)
{
    if (work->store != NULL && pp_budget_used(&work->store->budget) != 0)
        fail_msg("%s: %zu bytes of the budget were not given back", name_of_point(test, point),
                 pp_budget_used(&work->store->budget));
    if (work->store != NULL && pp_budget_used(&work->store->alone.budget) != 0)
        fail_msg("%s: %zu bytes of local_bytes were not given back", name_of_point(test, point),
                 pp_budget_used(&work->store->alone.budget));
}

static void check_stored(const site_test *test, const fault_point *point, const outcome *result, bed *work)
{
    state_rule rule = {.whole = test->of->kind == SCENARIO_REPLACES,
                       .may_vanish = test->of->kind == SCENARIO_REPLACES,
                       .values_old = test->of->kind == SCENARIO_WRITES && result->is_before_publish};
    char problem[256];
    state seen;
    state_take(&seen, work->inner);
    if (!state_is_between(&seen, &test->old, &test->new, rule, problem))
        fail_msg("%s: %s (it had returned %s: %s)", name_of_point(test, point), problem,
                 parapet_status_name(result->status), result->message);
}

/* A handle must survive what happened: it reads, or says why not. */
static void use_handle(const site_test *test, const fault_point *point, bed *work)
{
    int32_t values[STATE_EDGE * STATE_EDGE];
    int64_t start[2] = {0, 0};
    parapet_array_info info;
    parapet_part part = {.ndim = 2, .start = start, .data = values};
    if (work->array == NULL)
        return;
    assert_ok(parapet_array_get_info(work->array, &info));
    part.count = info.shape;
    if (parapet_array_read(work->array, &part, 1) != PARAPET_OK && parapet_error_message()[0] == '\0')
        fail_msg("%s: the handle fails without a sentence", name_of_point(test, point));
    check_budget(test, point, work);
}

static bool is_refusal_to_repeat(parapet_status status)
{
    const char *message = parapet_error_message();
    return (status == PARAPET_ERR_ARGUMENT && strstr(message, "open it again") != NULL) ||
           (status == PARAPET_ERR_EXISTS && strstr(message, "already") != NULL);
}

/* With the trouble gone, the call works on the same handle, or asks for a new one; nothing is lost either way. */
static void repeat_call(const site_test *test, const fault_point *point, bed *work)
{
    outcome again = {.status = test->of->run(work)};
    state seen;
    char problem[256];
    (void)snprintf(again.message, sizeof again.message, "%s", parapet_error_message());
    if (again.status != PARAPET_OK && !is_refusal_to_repeat(again.status))
        fail_msg("%s: repeated, it returned %s: %s", name_of_point(test, point), parapet_status_name(again.status),
                 again.message);
    if (again.status != PARAPET_OK) {
        check_stored(test, point, &again, work);
        return;
    }
    state_take(&seen, work->inner);
    if (!state_equals(&seen, &test->new, problem))
        fail_msg("%s: repeated with success, but %s", name_of_point(test, point), problem);
}

/* Another change through the same handle finds its way too, or asks for a new handle. */
static void change_otherwise(const site_test *test, const fault_point *point, bed *work)
{
    state seen;
    parapet_status status = PARAPET_OK;
    if (work->mode == PARAPET_READ || (work->array == NULL && work->group == NULL))
        return;
    if (work->array != NULL)
        status = parapet_array_attribute_set(work->array, "note", "\"other\"");
    else
        status = parapet_group_attribute_set(work->group, "title", "\"other\"");
    if (status != PARAPET_OK && !is_refusal_to_repeat(status))
        fail_msg("%s: afterwards, setting an attribute returned %s: %s", name_of_point(test, point),
                 parapet_status_name(status), parapet_error_message());
    state_take(&seen, work->inner);
    if (status == PARAPET_OK &&
        strcmp(work->array != NULL ? seen.arrays[0].note : seen.groups[0].title, "\"other\"") != 0)
        fail_msg("%s: afterwards, an attribute was set with success, but is not there", name_of_point(test, point));
}

static void run_on_bed(site_test *test, bed *work, const fault_point *point, outcome *result)
{
    work->options.threads = test->threads;
    work->options.io_thread = test->io_thread;
    image_put(&test->before, work->inner);
    bed_open_handles(work, test->of);
    if (point->kind == FAULT_STORAGE)
        run_with_storage_fault(test, work, point, result);
    else
        run_with_memory_fault(test, work, point, result);
    check_budget(test, point, work);
    if (!result->is_reached) {
        assert_int_equal(result->status, PARAPET_OK);
        return;
    }
    check_report(test, point, result);
    check_stored(test, point, result, work);
    use_handle(test, point, work);
    if (point->forever)
        change_otherwise(test, point, work);
    else
        repeat_call(test, point, work);
}

bool site_test_run(site_test *test, const fault_point *point)
{
    long live = pp_memory_live_count();
    outcome result = {0};
    bed work;
    bed_build(&work, test->build_inner != NULL ? test->build_inner() : build_memory());
    run_on_bed(test, &work, point, &result);
    bed_free(&work);
    if (pp_memory_live_count() != live)
        fail_msg("%s: %ld allocations were not given back", name_of_point(test, point),
                 pp_memory_live_count() - live);
    if (test->check_inner != NULL)
        test->check_inner();
    test->runs++;
    return result.is_reached;
}

long site_test_run_all(site_test *test, fault_point manner)
{
    for (manner.at = test->runs % TEST_THINNING; site_test_run(test, &manner); manner.at += TEST_THINNING)
        continue;
    if (test->threads == 1 && test->io_thread == PARAPET_IO_THREAD_NONE)
        test->sites[manner.kind] = manner.at;
    return manner.at;
}
