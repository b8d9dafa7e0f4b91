/* A copy that was interrupted and is given up, because an array is created in its place or another copy is begun
 * there: a crash or a failure in the middle of that leaves a copy that can be resumed and is right then, or none. */
#include "support.h"

#include <parapet_store.h>

#include "copy_bed.h"

enum { EDGE = 24 /* of the source */, ELEMENTS = EDGE * EDGE };

static const copy_subject subject = {.name = "one pass",
                                     .changes = {.chunks = "6,4", .shards = "12,12"},
                                     .unit_bytes = 600,
                                     .passes = 1,
                                     .source_path = "s",
                                     .target_path = "t"};

static copy_reference reference;
static char point_name[256];

/* How a copy is interrupted, and what takes its place. */
typedef struct point {
    bool replaces; /* the copy replaces an array */
    bool copies;   /* what takes its place is another copy */
    long copied;   /* the operation of the copy at which storage is gone */
    long failing;  /* that of giving up which fails */
    bool is_once;  /* only that one fails */
    bool is_backward;
} point;

typedef struct outcomes {
    long resumed, refused;
} outcomes;

static int build_reference(void **context)
{
    (void)context;
    copy_reference_build(&reference, &subject);
    return 0;
}

static int free_reference(void **context)
{
    (void)context;
    copy_reference_free(&reference);
    return 0;
}

/* ---- Removing ---- */

static struct {
    bool is_backward;
    pp_fault_plan *plan;
    parapet_status (*whole)(pp_store *store, const char *prefix);
} removing;

/* Every object that goes is an operation of its own, as in a directory, and they go in any order. */
static parapet_status remove_one_by_one(pp_store *store, const char *prefix)
{
    size_t i, length = strlen(prefix);
    parapet_status status = PARAPET_OK;
    pp_fault_plan *plan = removing.plan;
    image seen;
    image_take(&seen, store);
    for (i = 0; i < seen.count && status == PARAPET_OK; i++) {
        const char *key = seen.objects[removing.is_backward ? seen.count - 1 - i : i].key;
        long number = plan->operations;
        if (strncmp(key, prefix, length) != 0 || key[length] != '/')
            continue;
        plan->operations++;
        if (plan->fail_at >= 0 && (number == plan->fail_at || (plan->fail_forever && number > plan->fail_at))) {
            plan->failures++;
            status = pp_fail(PARAPET_ERR_IO, "injected failure of removing %s", key);
        } else
            assert_ok(pp_store_remove(store, key));
    }
    image_free(&seen);
    return status == PARAPET_OK ? removing.whole(store, prefix) : status;
}

static void remove_slowly(copy_bed *work, bool is_backward)
{
    pp_store_ops *ops = (pp_store_ops *)(uintptr_t)work->inner[COPY_TARGET]->ops; /* those of the bed */
    removing.is_backward = is_backward;
    removing.plan = &work->plan;
    removing.whole = ops->remove_prefix;
    ops->remove_prefix = remove_one_by_one;
}

/* ---- Arrays ---- */

static parapet_store *open_over(pp_store *backend, parapet_mode mode)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, backend, mode, &options));
    return store;
}

/* Storage fails as planned while it is created. */
static parapet_status create(copy_bed *work, pp_fault_plan plan, bool *is_reached)
{
    static const int64_t shape[2] = {EDGE, EDGE}, chunks[2] = {12, 8};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .overwrite = 1};
    parapet_store *store = open_over(work->faulty[COPY_TARGET], PARAPET_CREATE);
    parapet_array *array = NULL;
    parapet_status status;
    pp_failure failure = {0};
    work->plan = plan;
    status = parapet_array_create(&array, store, "t", &spec);
    pp_failure_take(&failure, status);
    *is_reached = work->plan.failures > 0;
    work->plan = (pp_fault_plan){.fail_at = -1};
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
    return pp_failure_put(&failure);
}

static void write_target(copy_bed *work)
{
    static const int64_t start[2] = {0, 0}, count[2] = {EDGE, EDGE};
    int32_t values[ELEMENTS];
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    parapet_store *store;
    parapet_array *array;
    bool is_reached;
    int i;
    for (i = 0; i < ELEMENTS; i++)
        values[i] = -i;
    assert_ok(create(work, work->plan, &is_reached));
    store = open_over(work->inner[COPY_TARGET], PARAPET_UPDATE);
    assert_ok(parapet_array_open(&array, store, "t"));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
}

static void read_elements(pp_store *backend, const char *path, int32_t values[ELEMENTS])
{
    static const int64_t start[2] = {0, 0}, count[2] = {EDGE, EDGE};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    parapet_store *store = open_over(backend, PARAPET_READ);
    parapet_array *array;
    assert_ok(parapet_array_open(&array, store, path));
    assert_ok(parapet_array_read(array, &part, 1));
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
}

static void expect_right(copy_bed *work)
{
    int32_t source[ELEMENTS], target[ELEMENTS];
    int i;
    read_elements(work->inner[COPY_SOURCE], "s", source);
    read_elements(work->inner[COPY_TARGET], "t", target);
    for (i = 0; i < ELEMENTS; i++)
        if (source[i] != target[i])
            fail_msg("%s: element %d is %d in the source and %d in the target", point_name, i, source[i], target[i]);
}

/* ---- One point ---- */

/* Storage is gone in the middle of the copy; false: it was done before that. */
static bool interrupt(copy_bed *work, const point *at)
{
    parapet_copy_result result;
    bool is_reached;
    copy_bed_build(work, &subject, &reference, COPY_IN_MEMORY);
    remove_slowly(work, at->is_backward);
    if (at->replaces)
        write_target(work);
    work->plan = (pp_fault_plan){.fail_at = at->copied, .fail_forever = true};
    (void)copy_bed_run(work, (copy_manner){.overwrites = at->replaces}, &result);
    is_reached = work->plan.failures > 0;
    work->plan = (pp_fault_plan){.fail_at = -1};
    return is_reached;
}

static bool give_up(copy_bed *work, const point *at)
{
    pp_fault_plan plan = {.fail_at = at->failing, .fail_forever = !at->is_once};
    parapet_copy_result result;
    parapet_status status;
    bool is_reached;
    if (at->copies) {
        work->plan = plan;
        status = copy_bed_run(work, (copy_manner){.overwrites = true}, &result);
        is_reached = work->plan.failures > 0;
        work->plan = (pp_fault_plan){.fail_at = -1};
    } else
        status = create(work, plan, &is_reached);
    if (!is_reached && status != PARAPET_OK)
        fail_msg("%s: it returned %s: %s", point_name, parapet_status_name(status), parapet_error_message());
    return is_reached;
}

/* Resuming may be refused, but what it calls a success is one; after a refusal a copy from the beginning is right. */
static void resume(copy_bed *work, outcomes *seen)
{
    parapet_copy_result result;
    parapet_status status = copy_bed_run(work, (copy_manner){.resumes = true}, &result);
    if (status == PARAPET_OK) {
        seen->resumed++;
        expect_right(work);
        return;
    }
    seen->refused++;
    status = copy_bed_run(work, (copy_manner){.overwrites = true}, &result);
    if (status != PARAPET_OK)
        fail_msg("%s: a copy from the beginning returned %s: %s", point_name, parapet_status_name(status),
                 parapet_error_message());
    expect_right(work);
}

/* Whether giving up had so many operations. */
static bool try(const point *at, outcomes *seen)
{
    copy_bed work;
    bool is_reached;
    (void)snprintf(point_name, sizeof point_name,
                   "a copy %s an array, gone at operation %ld; then %s, %s at operation %ld, removing %s",
                   at->replaces ? "over" : "without", at->copied, at->copies ? "another copy" : "an array",
                   at->is_once ? "failing once" : "gone", at->failing, at->is_backward ? "backward" : "forward");
    if (!interrupt(&work, at)) {
        copy_bed_free(&work);
        return false;
    }
    is_reached = give_up(&work, at);
    if (is_reached)
        resume(&work, seen);
    copy_bed_free(&work);
    return is_reached;
}

/* Operations of a copy from its beginning to its end: how many there are. */
static long count_operations(bool replaces)
{
    point at = {.replaces = replaces};
    copy_bed work;
    while (interrupt(&work, &at)) {
        copy_bed_free(&work);
        at.copied += 1;
    }
    copy_bed_free(&work);
    return at.copied;
}

/* Some operations of the beginning, and more of the end, when shards get their keys and the array its document. Of
 * another copy, those that make room for it. */
static void give_up_everywhere(bool replaces, bool copies)
{
    long operations = count_operations(replaces), most = copies ? 60 : operations, copied;
    outcomes seen = {0};
    for (copied = 0; copied < operations; copied += (copied < operations - 60 ? 13 : 5) * TEST_THINNING) {
        point at = {.replaces = replaces,
                    .copies = copies,
                    .copied = copied,
                    .is_once = copied % 2 == 1,
                    .is_backward = copied % 4 < 2};
        while (at.failing < most && try(&at, &seen))
            at.failing++;
    }
    printf("%ld operations; %ld were resumed, %ld refused\n", operations, seen.resumed, seen.refused);
    assert_true(seen.resumed > 0 && (seen.refused > 0 || TEST_THINNING > 1)); /* few are refused */
}

static void test_give_up__for_an_array_is_followed_by_a_right_copy_or_a_refusal(void **context)
{
    (void)context;
    give_up_everywhere(false, false);
}

static void test_give_up__of_a_copy_over_an_array_for_another_is_followed_by_a_right_copy_or_a_refusal(void **context)
{
    (void)context;
    give_up_everywhere(true, false);
}

static void test_give_up__for_another_copy_is_followed_by_a_right_copy_or_a_refusal(void **context)
{
    (void)context;
    give_up_everywhere(false, true);
    give_up_everywhere(true, true);
}

/* An array of another program, which names its shards in another way. */
static void put_foreign(copy_bed *work)
{
    static const char document[] =
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [24, 24], \"data_type\": \"int32\", "
        "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [24, 24]}}, "
        "\"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \".\"}}, "
        "\"fill_value\": 7, \"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]}";
    static const int32_t values[ELEMENTS];
    image_put_object(work->inner[COPY_TARGET], "t/c.0.0", values, sizeof values);
    image_put_object(work->inner[COPY_TARGET], "t/zarr.json", document, strlen(document));
}

/* Whether the copy over it had so many operations. */
static bool give_up_foreign(long copied)
{
    parapet_copy_result result;
    bool is_reached, is_failed;
    copy_bed work;
    copy_bed_build(&work, &subject, &reference, COPY_IN_MEMORY);
    put_foreign(&work);
    work.plan = (pp_fault_plan){.fail_at = copied, .fail_forever = true};
    (void)copy_bed_run(&work, (copy_manner){.overwrites = true}, &result);
    is_reached = work.plan.failures > 0;
    work.plan = (pp_fault_plan){.fail_at = -1};
    assert_ok(create(&work, work.plan, &is_failed));
    if (copy_bed_has(&work, "t/c.0.0"))
        fail_msg("a copy over an array was gone at operation %ld; a shard of the old array was left", copied);
    copy_bed_free(&work);
    return is_reached;
}

static void test_give_up__of_a_copy_over_an_array_leaves_none_of_its_shards(void **context)
{
    long copied = 0;
    (void)context;
    while (give_up_foreign(copied))
        copied++;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_give_up__for_an_array_is_followed_by_a_right_copy_or_a_refusal),
        cmocka_unit_test(test_give_up__of_a_copy_over_an_array_for_another_is_followed_by_a_right_copy_or_a_refusal),
        cmocka_unit_test(test_give_up__for_another_copy_is_followed_by_a_right_copy_or_a_refusal),
        cmocka_unit_test(test_give_up__of_a_copy_over_an_array_leaves_none_of_its_shards),
    };
    return cmocka_run_group_tests(tests, build_reference, free_reference);
}
