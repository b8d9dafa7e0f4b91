/* Where copies lie: what an earlier copy left in the target's store or in the one between passes is not believed, a
 * crash while it is forgotten does no harm, a copy is not made onto its own source, and what others have put at the
 * same path stays. */
#include <parapet_store.h>
#include <unistd.h>

#include "support.h"

#include "copy_bed.h"

enum { EDGE = 24 /* of the source */, ELEMENTS = EDGE * EDGE, SUBJECTS = 3 };

/* Elements stay where they are, so that source and target are compared one by one. */
static const copy_subject subjects[SUBJECTS] = {
    {.name = "two passes, a third store",
     .changes = {.chunks = "8,3", .shards = "24,6"},
     .unit_bytes = 500,
     .passes = 2,
     .has_temporary = true,
     .source_path = "s",
     .target_path = "t"},
    {.name = "two passes",
     .changes = {.chunks = "8,3", .shards = "24,6"},
     .unit_bytes = 500,
     .passes = 2,
     .source_path = "s",
     .target_path = "t"},
    {.name = "one pass",
     .changes = {.chunks = "6,4", .shards = "12,12"},
     .unit_bytes = 200,
     .passes = 1,
     .source_path = "s",
     .target_path = "t"},
};

static copy_reference reference;
static char point_name[256];

static int build_reference(void **context)
{
    (void)context;
    copy_reference_build(&reference, &subjects[0]); /* the source is the same for all */
    return 0;
}

static int free_reference(void **context)
{
    (void)context;
    copy_reference_free(&reference);
    return 0;
}

/* ---- Elements ---- */

static parapet_store *open_over(pp_store *backend, parapet_mode mode)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, backend, mode, &options));
    return store;
}

static void write_rows(parapet_array *array, int64_t first, int64_t rows, int32_t factor)
{
    int32_t values[ELEMENTS];
    int64_t start[2] = {first, 0}, count[2] = {rows, EDGE};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    int i;
    for (i = 0; i < rows * EDGE; i++)
        values[i] = (i + 1) * factor;
    assert_ok(parapet_array_write(array, &part, 1));
}

/* Every chunk of the source gets other elements; those that were not stored are afterwards. */
static void rewrite_source(copy_bed *work, int32_t factor)
{
    parapet_store *store = open_over(work->inner[COPY_SOURCE], PARAPET_UPDATE);
    parapet_array *array;
    assert_ok(parapet_array_open(&array, store, "s"));
    write_rows(array, 0, EDGE, factor);
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

/* The target has what the source has, and nothing is left between the passes. */
static void expect_right(copy_bed *work)
{
    int32_t source[ELEMENTS], target[ELEMENTS];
    image between;
    int i;
    read_elements(work->inner[COPY_SOURCE], work->of->source_path, source);
    read_elements(work->inner[COPY_TARGET], work->of->target_path, target);
    for (i = 0; i < ELEMENTS; i++)
        if (source[i] != target[i])
            fail_msg("%s: element %d is %d in the source and %d in the target", point_name, i, source[i], target[i]);
    image_take(&between, work->inner[COPY_TEMPORARY]);
    if (between.count > 0)
        fail_msg("%s: %s was left between the passes", point_name, between.objects[0].key);
    image_free(&between);
    if (copy_bed_has(work, "t/__parapet/copy/job"))
        fail_msg("%s: the job was left", point_name);
}

static void expect_copy(copy_bed *work, copy_manner manner)
{
    parapet_copy_result result;
    parapet_status status = copy_bed_run(work, manner, &result);
    if (status != PARAPET_OK)
        fail_msg("%s: it returned %s: %s", point_name, parapet_status_name(status), parapet_error_message());
    expect_right(work);
}

typedef struct outcomes {
    long resumed, refused;
} outcomes;

/* Resuming may be refused, but what it calls a success is one; after a refusal a copy from the beginning is right. */
static void expect_right_or_refusal(copy_bed *work, outcomes *seen)
{
    parapet_copy_result result;
    if (copy_bed_run(work, (copy_manner){.resumes = true}, &result) == PARAPET_OK) {
        expect_right(work);
        seen->resumed++;
        return;
    }
    if (parapet_error_message()[0] == '\0')
        fail_msg("%s: it was refused without a sentence", point_name);
    expect_copy(work, (copy_manner){.overwrites = true});
    seen->refused++;
}

/* ---- Reports ---- */

/* What happens at one of the reports of a copy. */
typedef struct happening {
    long at, calls;
    int answer;
    void (*act)(copy_bed *work); /* may be NULL */
    copy_bed *work;
} happening;

static int report(void *context, int64_t done, int64_t total)
{
    happening *at = context;
    (void)done;
    (void)total;
    if (at->calls++ != at->at)
        return 0;
    if (at->act != NULL)
        at->act(at->work);
    return at->answer;
}

static parapet_status run_with(copy_bed *work, copy_manner manner, happening *at)
{
    parapet_copy_result result;
    parapet_status status;
    at->work = work;
    work->progress = report;
    work->progress_context = at;
    status = copy_bed_run(work, manner, &result);
    work->progress = NULL;
    return status;
}

/* A copy that is cancelled at that report; false: there are fewer, and nothing is left to do. */
static bool build_cancelled(copy_bed *work, const copy_subject *of, copy_storage storage, bool is_whole, long at)
{
    happening cancel = {.at = at, .answer = 1};
    parapet_status status;
    (void)snprintf(point_name, sizeof point_name, "%s, cancelled at report %ld", of->name, at);
    copy_bed_build(work, of, &reference, storage);
    if (is_whole)
        rewrite_source(work, 7);
    status = run_with(work, (copy_manner){0}, &cancel);
    assert_int_equal(status, cancel.calls > at ? PARAPET_ERR_CANCELLED : PARAPET_OK);
    if (status == PARAPET_OK)
        copy_bed_free(work);
    return status != PARAPET_OK;
}

/* ---- What an earlier copy left ---- */

static void test_overwrite__of_an_unfinished_copy_has_what_the_source_has_now(void **context)
{
    long at, points = 0;
    copy_bed work;
    int i;
    (void)context;
    for (i = 0; i < SUBJECTS; i++)
        for (at = 0; build_cancelled(&work, &subjects[i], COPY_IN_MEMORY, false, at); at += 2, points++) {
            rewrite_source(&work, 11);
            expect_copy(&work, (copy_manner){.overwrites = true});
            copy_bed_free(&work);
        }
    for (at = 1; build_cancelled(&work, &subjects[0], COPY_IN_DIRECTORY, false, at); at += 5, points++) {
        rewrite_source(&work, 11);
        expect_copy(&work, (copy_manner){.overwrites = true});
        copy_bed_free(&work);
    }
    assert_true(points > 20);
}

static void put_sealed(copy_bed *work, image *stored)
{
    static const int64_t shape[2] = {EDGE, EDGE}, chunks[2] = {12, 12};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks};
    parapet_store *store = open_over(work->inner[COPY_TEMPORARY], PARAPET_CREATE);
    parapet_array *array;
    assert_ok(parapet_array_create(&array, store, "t", &spec));
    write_rows(array, 0, EDGE, 3);
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
    image_take(stored, work->inner[COPY_TEMPORARY]);
}

static void expect_sealed(copy_bed *work, const image *stored, const char *after)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE, .require_sealed = 1};
    parapet_check_summary summary;
    parapet_store *store;
    parapet_array *array;
    image now;
    image_take(&now, work->inner[COPY_TEMPORARY]);
    if (!image_equals(stored, &now))
        fail_msg("the store between the passes is not as it was after %s", after);
    image_free(&now);
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, work->inner[COPY_TEMPORARY], PARAPET_READ, &options));
    assert_ok(parapet_array_open(&array, store, "t"));
    assert_ok(parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    assert_int_equal(summary.missing + summary.torn + summary.stray, 0);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
}

static void test_between__a_sealed_array_at_the_same_path_stays_sealed(void **context)
{
    happening cancel = {.at = 3, .answer = 1};
    parapet_copy_result result;
    copy_bed work;
    image stored;
    (void)context;
    copy_bed_build(&work, &subjects[0], &reference, COPY_IN_MEMORY);
    put_sealed(&work, &stored);
    assert_int_equal(run_with(&work, (copy_manner){0}, &cancel), PARAPET_ERR_CANCELLED);
    assert_ok(copy_bed_run(&work, (copy_manner){.overwrites = true}, &result));
    expect_sealed(&work, &stored, "a copy over an unfinished one");
    work.plan = (pp_fault_plan){.fail_at = reference.operations / 2, .status = PARAPET_ERR_NO_SPACE};
    assert_int_equal(copy_bed_run(&work, (copy_manner){.overwrites = true}, &result), PARAPET_ERR_NO_SPACE);
    work.plan = (pp_fault_plan){.fail_at = -1};
    expect_sealed(&work, &stored, "a failure");
    cancel.calls = 0;
    assert_int_equal(run_with(&work, (copy_manner){.overwrites = true}, &cancel), PARAPET_ERR_CANCELLED);
    assert_ok(copy_bed_run(&work, (copy_manner){.resumes = true}, &result));
    expect_sealed(&work, &stored, "a copy that was resumed");
    image_free(&stored);
    copy_bed_free(&work);
}

/* ---- A group over a group ---- */

static const copy_subject group_subject = {.name = "a group with arrays",
                                           .changes = {.chunks = "6,4", .shards = "12,12"},
                                           .unit_bytes = 600,
                                           .source_path = "",
                                           .target_path = "copies"};

static void expect_group(copy_bed *work)
{
    static const char *const paths[][2] = {
        {"s", "copies/s"}, {"plain", "copies/plain"}, {"below/third", "copies/below/third"}};
    int32_t source[ELEMENTS], target[ELEMENTS];
    size_t i;
    for (i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        read_elements(work->inner[COPY_SOURCE], paths[i][0], source);
        read_elements(work->inner[COPY_TARGET], paths[i][1], target);
        if (memcmp(source, target, sizeof source) != 0)
            fail_msg("%s: %s is another", point_name, paths[i][1]);
    }
    if (copy_bed_has(work, "copies/__parapet/copy/finished"))
        fail_msg("%s: the log was left", point_name);
}

/* A copy of a group over an older one that is cancelled at that report; false: there are fewer. */
static bool build_cancelled_group(copy_bed *work, long at)
{
    happening cancel = {.at = at, .answer = 1};
    parapet_copy_result result;
    (void)snprintf(point_name, sizeof point_name, "a group over a group, cancelled at report %ld", at);
    copy_bed_build(work, &group_subject, &reference, COPY_IN_MEMORY);
    assert_ok(copy_bed_run(work, (copy_manner){0}, &result));
    rewrite_source(work, 11);
    if (run_with(work, (copy_manner){.overwrites = true}, &cancel) == PARAPET_ERR_CANCELLED)
        return true;
    copy_bed_free(work);
    return false;
}

static void test_overwrite__of_a_group_that_was_interrupted_is_resumed(void **context)
{
    parapet_copy_result result;
    parapet_status status;
    copy_bed work;
    long at;
    (void)context;
    for (at = 0; build_cancelled_group(&work, at); at += 2) {
        status = copy_bed_run(&work, (copy_manner){.resumes = true}, &result);
        if (status != PARAPET_OK)
            fail_msg("%s: resuming returned %s: %s", point_name, parapet_status_name(status),
                     parapet_error_message());
        expect_group(&work);
        copy_bed_free(&work);
    }
    assert_true(at > 10);
}

/* Takes the place of an array that the copy has not come to. */
static void put_another(copy_bed *work, const char *path)
{
    static const int64_t shape[2] = {EDGE, EDGE}, chunks[2] = {24, 8};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .overwrite = 1};
    parapet_store *store = open_over(work->inner[COPY_TARGET], PARAPET_UPDATE);
    parapet_array *array;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    write_rows(array, 0, EDGE, 3);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
}

static void test_overwrite__of_a_group_leaves_an_array_that_has_appeared_since(void **context)
{
    parapet_copy_result result;
    int32_t before[ELEMENTS], after[ELEMENTS];
    copy_bed work;
    (void)context;
    assert_true(build_cancelled_group(&work, 0));
    put_another(&work, "copies/s"); /* the last one */
    read_elements(work.inner[COPY_TARGET], "copies/s", before);
    assert_fails(copy_bed_run(&work, (copy_manner){.resumes = true}, &result), PARAPET_ERR_EXISTS, "copies/s");
    read_elements(work.inner[COPY_TARGET], "copies/s", after);
    assert_memory_equal(before, after, sizeof before);
    assert_ok(copy_bed_run(&work, (copy_manner){.resumes = true, .overwrites = true}, &result));
    expect_group(&work);
    copy_bed_free(&work);
}

/* ---- What lies between the passes ---- */

static void expect_untouched_refusal(copy_bed *work, const char *word)
{
    parapet_copy_result result;
    image before, after;
    image_take(&before, work->inner[COPY_TARGET]);
    assert_fails(copy_bed_run(work, (copy_manner){.resumes = true}, &result), PARAPET_ERR_ARGUMENT, word);
    image_take(&after, work->inner[COPY_TARGET]);
    assert_true(image_equals(&before, &after));
    image_free(&before);
    image_free(&after);
}

static void test_resume__with_another_store_between_passes_is_refused(void **context)
{
    copy_bed work, other;
    pp_store *first;
    long at;
    (void)context;
    copy_bed_build(&other, &subjects[0], &reference, COPY_IN_MEMORY);
    for (at = 0; build_cancelled(&work, &subjects[0], COPY_IN_MEMORY, at % 2 == 0, at); at += 3) {
        first = work.faulty[COPY_TEMPORARY];
        work.faulty[COPY_TEMPORARY] = other.faulty[COPY_TEMPORARY];
        expect_untouched_refusal(&work, "intermediate store");
        work.faulty[COPY_TEMPORARY] = first;
        expect_copy(&work, (copy_manner){.resumes = true});
        copy_bed_free(&work);
    }
    copy_bed_free(&other);
}

/* Removes the object with that number, all of what a pass has made when there are no more, or everything. */
static bool remove_between(copy_bed *work, size_t number)
{
    size_t i, length = strlen(point_name);
    bool is_there;
    image seen;
    image_take(&seen, work->inner[COPY_TEMPORARY]);
    is_there = number <= seen.count + 1;
    for (i = 0; i < seen.count; i++) {
        const char *key = seen.objects[i].key;
        if (number == seen.count ? strstr(key, "/between-") == NULL : number < seen.count && number != i)
            continue;
        assert_ok(pp_store_remove(work->inner[COPY_TEMPORARY], key));
        (void)snprintf(point_name + length, sizeof point_name - length, ", without %s%s", key,
                       number < seen.count ? "" : " and others");
    }
    image_free(&seen);
    return is_there;
}

static void lose_what_lies_between(copy_storage storage, bool is_whole, long at_first, long step, outcomes *seen)
{
    copy_bed work;
    size_t number;
    long at;
    for (at = at_first; build_cancelled(&work, &subjects[0], storage, is_whole, at); at += step) {
        for (number = 0; remove_between(&work, number); number++) {
            expect_right_or_refusal(&work, seen);
            copy_bed_free(&work);
            assert_true(build_cancelled(&work, &subjects[0], storage, is_whole, at));
        }
        copy_bed_free(&work);
    }
}

static void test_resume__after_objects_between_passes_were_removed_is_right_or_refused(void **context)
{
    outcomes seen = {0};
    (void)context;
    lose_what_lies_between(COPY_IN_MEMORY, true, 1, 6, &seen);
    lose_what_lies_between(COPY_IN_MEMORY, false, 1, 6, &seen);
    lose_what_lies_between(COPY_IN_DIRECTORY, true, 3, 17, &seen);
    lose_what_lies_between(COPY_IN_DIRECTORY, false, 3, 17, &seen);
    printf("%ld were resumed, %ld refused\n", seen.resumed, seen.refused);
    assert_true(seen.refused > 0);
}

/* ---- A crash while a copy is forgotten ---- */

/* The storage of a copy over an unfinished one is gone from that operation on; false: it was not reached. */
static bool crash_overwriting(copy_bed *work, long operation)
{
    size_t length = strlen(point_name);
    parapet_copy_result result;
    parapet_status status;
    bool is_reached;
    (void)snprintf(point_name + length, sizeof point_name - length, ", then a crash at operation %ld", operation);
    work->plan = (pp_fault_plan){.fail_at = operation, .fail_forever = true};
    status = copy_bed_run(work, (copy_manner){.overwrites = true}, &result);
    is_reached = work->plan.failures > 0;
    work->plan = (pp_fault_plan){.fail_at = -1};
    if (is_reached == (status == PARAPET_OK))
        fail_msg("%s: it returned %s", point_name, parapet_status_name(status));
    return is_reached;
}

/* Operations that forget come first: all of those, and some of the copy itself. */
static long operation_after(long operation)
{
    return operation < 40 ? operation + 1 : operation + 97;
}

static void crash_everywhere(const copy_subject *of, long at, bool is_changed, bool resumes, outcomes *seen)
{
    bool is_reached = true;
    copy_bed work;
    long operation;
    for (operation = 0; is_reached; operation = operation_after(operation)) {
        assert_true(build_cancelled(&work, of, COPY_IN_MEMORY, false, at));
        if (is_changed)
            rewrite_source(&work, 11);
        is_reached = crash_overwriting(&work, operation);
        if (is_reached && resumes)
            expect_right_or_refusal(&work, seen);
        else if (is_reached)
            expect_copy(&work, (copy_manner){.overwrites = true});
        copy_bed_free(&work);
    }
}

static long count_reports(const copy_subject *of)
{
    happening none = {.at = -1};
    copy_bed work;
    copy_bed_build(&work, of, &reference, COPY_IN_MEMORY);
    assert_ok(run_with(&work, (copy_manner){0}, &none));
    copy_bed_free(&work);
    return none.calls;
}

static void test_overwrite__that_crashes_is_followed_by_a_right_copy_or_a_refusal(void **context)
{
    outcomes seen = {0};
    int i;
    (void)context;
    for (i = 0; i < SUBJECTS; i++) {
        long reports = count_reports(&subjects[i]);
        crash_everywhere(&subjects[i], reports / 3, false, true, &seen);
        crash_everywhere(&subjects[i], reports - 2, true, true, &seen);
        if (subjects[i].has_temporary)
            crash_everywhere(&subjects[i], reports / 3, true, false, &seen);
    }
    printf("%ld were resumed, %ld refused\n", seen.resumed, seen.refused);
    assert_true(seen.resumed > 0);
}

/* Many objects are not removed at once: storage is gone after so many of them, in the order of a walk or against it.
 */
static struct {
    long left;
    bool is_backward, is_reached;
    pp_fault_plan *plan;
    parapet_status (*whole)(pp_store *store, const char *prefix);
} tearing;

static parapet_status remove_some(pp_store *store, const char *prefix)
{
    size_t i, length = strlen(prefix);
    image seen;
    image_take(&seen, store);
    for (i = 0; i < seen.count && !tearing.is_reached; i++) {
        const char *key = seen.objects[tearing.is_backward ? seen.count - 1 - i : i].key;
        if (strncmp(key, prefix, length) != 0 || key[length] != '/')
            continue;
        tearing.is_reached = tearing.left-- == 0;
        if (!tearing.is_reached)
            assert_ok(pp_store_remove(store, key));
    }
    image_free(&seen);
    if (!tearing.is_reached)
        return tearing.whole(store, prefix);
    tearing.plan->fail_at = 0;
    tearing.plan->fail_forever = true;
    tearing.plan->failures = 1;
    return pp_fail(PARAPET_ERR_IO, "a crash while objects are removed");
}

static bool crash_removing(const copy_subject *of, long at, long left, bool is_backward, outcomes *seen)
{
    size_t length;
    parapet_copy_result result;
    parapet_status status;
    pp_store_ops *ops;
    copy_bed work;
    assert_true(build_cancelled(&work, of, COPY_IN_MEMORY, false, at));
    length = strlen(point_name);
    (void)snprintf(point_name + length, sizeof point_name - length, ", then a crash after %ld objects %s", left,
                   is_backward ? "from the end" : "from the beginning");
    ops = (pp_store_ops *)(uintptr_t)work.inner[COPY_TARGET]->ops; /* those of the bed */
    tearing.left = left;
    tearing.is_backward = is_backward;
    tearing.is_reached = false;
    tearing.plan = &work.plan;
    tearing.whole = ops->remove_prefix;
    ops->remove_prefix = remove_some;
    status = copy_bed_run(&work, (copy_manner){.overwrites = true}, &result);
    if (tearing.is_reached == (status == PARAPET_OK))
        fail_msg("%s: it returned %s: %s", point_name, parapet_status_name(status), parapet_error_message());
    ops->remove_prefix = tearing.whole;
    work.plan = (pp_fault_plan){.fail_at = -1};
    if (tearing.is_reached)
        expect_right_or_refusal(&work, seen);
    copy_bed_free(&work);
    return tearing.is_reached;
}

static void test_overwrite__that_crashes_between_two_removals_is_followed_by_a_right_copy_or_a_refusal(void **context)
{
    outcomes seen = {0};
    long at, left;
    int i, is_backward;
    (void)context;
    for (i = 0; i < SUBJECTS; i++) {
        long reports = count_reports(&subjects[i]);
        for (at = reports / 4; at < reports - 1; at += reports / 3)
            for (is_backward = 0; is_backward < 2; is_backward++)
                for (left = 0; crash_removing(&subjects[i], at, left, is_backward == 1, &seen); left++)
                    continue;
    }
    printf("%ld were resumed, %ld refused\n", seen.resumed, seen.refused);
    assert_true(seen.resumed + seen.refused > 0);
}

/* One allocation fails, and so does the copy; some operations later, while it tidies up, storage is gone. */
static long operations_left;

static int refuse_once(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    pp_memory_hook_set(NULL, NULL);
    return 1;
}

static void run_out_of_memory(copy_bed *work)
{
    work->plan.fail_at = work->plan.operations + operations_left;
    work->plan.fail_forever = true;
    pp_memory_hook_set(refuse_once, NULL);
}

static bool crash_tidying_up(const copy_subject *of, long at, long operations, outcomes *seen)
{
    happening end = {.at = at, .act = run_out_of_memory};
    parapet_status status;
    copy_bed work;
    bool is_reached;
    (void)snprintf(point_name, sizeof point_name, "%s, no memory at report %ld, a crash %ld operations later",
                   of->name, at, operations);
    operations_left = operations;
    copy_bed_build(&work, of, &reference, COPY_IN_MEMORY);
    status = run_with(&work, (copy_manner){0}, &end);
    pp_memory_hook_set(NULL, NULL);
    is_reached = work.plan.failures > 0;
    work.plan = (pp_fault_plan){.fail_at = -1};
    if (status == PARAPET_OK)
        fail_msg("%s: it returned success", point_name);
    expect_right_or_refusal(&work, seen);
    copy_bed_free(&work);
    return is_reached;
}

static void test_failure__that_crashes_tidying_up_is_followed_by_a_right_copy_or_a_refusal(void **context)
{
    outcomes seen = {0};
    long at, operations;
    int i;
    (void)context;
    for (i = 0; i < SUBJECTS; i++) {
        long reports = count_reports(&subjects[i]);
        for (at = reports / 4; at < reports - 1; at += reports / 3)
            for (operations = 0; crash_tidying_up(&subjects[i], at, operations, &seen); operations++)
                continue;
    }
    printf("%ld were resumed, %ld refused\n", seen.resumed, seen.refused);
    assert_true(seen.resumed > 0);
}

/* ---- The source's own place ---- */

static const struct {
    const char *source, *target;
} own_places[] = {
    {"s", "s"},                    /* an array onto itself */
    {"below/third", "below"},      /* above it */
    {"below/third", ""},           /* the root */
    {"below", "below"},            /* a group onto itself */
    {"below", "below/third/copy"}, /* into itself */
    {"", "copies"},                /* all of it into itself */
    {"twin", ""},                  /* onto itself, by way of what it has: twin/twin becomes twin */
};
enum { OWN_PLACES = sizeof own_places / sizeof own_places[0] };

static void put_twin(copy_bed *work)
{
    static const int64_t shape[2] = {EDGE, EDGE};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape};
    parapet_store *store = open_over(work->inner[COPY_SOURCE], PARAPET_UPDATE);
    parapet_array *array;
    assert_ok(parapet_array_create(&array, store, "twin/twin", &spec));
    write_rows(array, 0, EDGE, 5);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
}

static void refuse_own_places(copy_bed *work, const char *source_url, const char *target_url)
{
    parapet_copy_request request = {.overwrite = 1, .no_probe = 1};
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE};
    image before, after;
    int i;
    assert_ok(parapet_store_open(&request.source, MPI_COMM_NULL, source_url, PARAPET_READ, &options));
    assert_ok(parapet_store_open(&request.target, MPI_COMM_NULL, target_url, PARAPET_UPDATE, &options));
    image_take(&before, work->inner[COPY_SOURCE]);
    for (i = 0; i < OWN_PLACES; i++) {
        request.source_path = own_places[i].source;
        request.target_path = own_places[i].target;
        if (parapet_copy(&request, NULL) != PARAPET_ERR_ARGUMENT ||
            strstr(parapet_error_message(), "cannot be copied") == NULL)
            fail_msg("\"%s\" to \"%s\" at %s: %s", request.source_path, request.target_path, target_url,
                     parapet_error_message());
        image_take(&after, work->inner[COPY_SOURCE]);
        assert_true(image_equals(&before, &after));
        image_free(&after);
    }
    image_free(&before);
    assert_ok(parapet_store_close(&request.target));
    assert_ok(parapet_store_close(&request.source));
}

static void test_copy__to_its_own_place_in_a_store_that_was_opened_twice_is_refused(void **context)
{
    char url[128], again[128], link[128];
    copy_bed work;
    (void)context;
    copy_bed_build(&work, &subjects[0], &reference, COPY_IN_DIRECTORY);
    put_twin(&work);
    (void)snprintf(url, sizeof url, "%s/source", work.folder);
    (void)snprintf(again, sizeof again, "%s/target/../source", work.folder);
    (void)snprintf(link, sizeof link, "%s/link", work.folder);
    assert_int_equal(symlink("source", link), 0);
    refuse_own_places(&work, url, url);
    refuse_own_places(&work, url, again);
    refuse_own_places(&work, url, link);
    copy_bed_free(&work);
}

/* The same path in a store of the same name elsewhere is another place. */
static void test_copy__to_the_same_path_in_another_store_is_made(void **context)
{
    copy_subject same = subjects[1];
    copy_bed work;
    (void)context;
    same.target_path = same.source_path;
    (void)snprintf(point_name, sizeof point_name, "the same path");
    copy_bed_build(&work, &same, &reference, COPY_IN_DIRECTORY);
    expect_copy(&work, (copy_manner){.overwrites = true});
    expect_copy(&work, (copy_manner){.overwrites = true});
    copy_bed_free(&work);
}

/* ---- What appears at the target's path meanwhile ---- */

/* Another job that would make its array there is told that the place is taken. */
static void create_target(copy_bed *work)
{
    static const int64_t shape[2] = {EDGE, EDGE};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .attributes = "{\"of\": \"others\"}"};
    parapet_store *store = open_over(work->inner[COPY_TARGET], PARAPET_UPDATE);
    parapet_array *array;
    assert_fails(parapet_array_create(&array, store, work->of->target_path, &spec), PARAPET_ERR_BUSY, "copying");
    assert_ok(parapet_store_close(&store));
}

/* The same by a program that leaves alone what it does not know. */
static void put_target(copy_bed *work)
{
    static const char document[] =
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [24, 24], \"data_type\": \"int32\", "
        "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [24, 24]}}, "
        "\"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \".\"}}, "
        "\"fill_value\": 7, \"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}], "
        "\"attributes\": {\"of\": \"others\"}}";
    int32_t values[ELEMENTS];
    int i;
    for (i = 0; i < ELEMENTS; i++)
        values[i] = (i + 1) * 13;
    image_put_object(work->inner[COPY_TARGET], "t/c.0.0", values, sizeof values);
    image_put_object(work->inner[COPY_TARGET], "t/zarr.json", document, strlen(document));
}

static void put_target_and_fail(copy_bed *work)
{
    put_target(work);
    work->plan.fail_at = work->plan.operations;
    work->plan.status = PARAPET_ERR_NO_SPACE;
}

static void expect_appeared(copy_bed *work, bool has_elements)
{
    int32_t values[ELEMENTS];
    const image_object *document;
    image seen;
    int i;
    image_take(&seen, work->inner[COPY_TARGET]);
    document = image_find(&seen, "t/zarr.json");
    if (document == NULL || memmem(document->data, document->bytes, "others", 6) == NULL)
        fail_msg("%s: the array that appeared was %s", point_name, document == NULL ? "removed" : "replaced");
    image_free(&seen);
    if (!has_elements)
        return;
    read_elements(work->inner[COPY_TARGET], "t", values);
    for (i = 0; i < ELEMENTS; i++)
        if (values[i] != (i + 1) * 13)
            fail_msg("%s: element %d of the array that appeared is %d", point_name, i, values[i]);
}

/* The array appears at that report and stays, whatever is tried without overwrite; false: there are fewer. Elements
 * with keys like those of the copy may be replaced while it goes on. */
static bool let_appear(const copy_subject *of, long at, void (*act)(copy_bed *work), bool has_own_keys)
{
    happening appear = {.at = at, .act = act};
    parapet_copy_result result;
    parapet_status status;
    copy_bed work;
    (void)snprintf(point_name, sizeof point_name, "%s, an array appears at report %ld", of->name, at);
    copy_bed_build(&work, of, &reference, COPY_IN_MEMORY);
    status = run_with(&work, (copy_manner){0}, &appear);
    work.plan = (pp_fault_plan){.fail_at = -1};
    if (appear.calls > at) {
        if (status == PARAPET_OK)
            fail_msg("%s: it returned success", point_name);
        expect_appeared(&work, has_own_keys);
        if (copy_bed_run(&work, (copy_manner){.resumes = true}, &result) == PARAPET_OK)
            fail_msg("%s: it was taken for what the copy had made", point_name);
        expect_appeared(&work, has_own_keys);
        expect_copy(&work, (copy_manner){.overwrites = true});
    }
    copy_bed_free(&work);
    return appear.calls > at;
}

static void let_appear_everywhere(void (*act)(copy_bed *work), bool has_own_keys)
{
    long at;
    int i;
    for (i = 0; i < SUBJECTS; i++)
        for (at = 0; let_appear(&subjects[i], at, act, has_own_keys); at += 3)
            continue;
}

/* The copy goes on as if nobody had tried; false: there are fewer reports. */
static bool refuse_to_create(const copy_subject *of, long at)
{
    happening appear = {.at = at, .act = create_target};
    copy_bed work;
    (void)snprintf(point_name, sizeof point_name, "%s, an array is made at report %ld", of->name, at);
    copy_bed_build(&work, of, &reference, COPY_IN_MEMORY);
    assert_ok(run_with(&work, (copy_manner){0}, &appear));
    expect_copy(&work, (copy_manner){.overwrites = true});
    copy_bed_free(&work);
    return appear.calls > at;
}

static void test_appear__an_array_cannot_be_created_meanwhile(void **context)
{
    long at;
    int i;
    (void)context;
    for (i = 0; i < SUBJECTS; i++)
        for (at = 0; refuse_to_create(&subjects[i], at); at += 3)
            continue;
}

static void test_appear__an_array_of_another_program_stays_and_is_not_taken_for_the_copy(void **context)
{
    (void)context;
    let_appear_everywhere(put_target, true);
}

static void test_appear__an_array_stays_when_the_copy_fails_for_another_reason(void **context)
{
    (void)context;
    let_appear_everywhere(put_target_and_fail, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overwrite__of_an_unfinished_copy_has_what_the_source_has_now),
        cmocka_unit_test(test_overwrite__of_a_group_that_was_interrupted_is_resumed),
        cmocka_unit_test(test_overwrite__of_a_group_leaves_an_array_that_has_appeared_since),
        cmocka_unit_test(test_between__a_sealed_array_at_the_same_path_stays_sealed),
        cmocka_unit_test(test_resume__with_another_store_between_passes_is_refused),
        cmocka_unit_test(test_resume__after_objects_between_passes_were_removed_is_right_or_refused),
        cmocka_unit_test(test_overwrite__that_crashes_is_followed_by_a_right_copy_or_a_refusal),
        cmocka_unit_test(test_overwrite__that_crashes_between_two_removals_is_followed_by_a_right_copy_or_a_refusal),
        cmocka_unit_test(test_failure__that_crashes_tidying_up_is_followed_by_a_right_copy_or_a_refusal),
        cmocka_unit_test(test_copy__to_its_own_place_in_a_store_that_was_opened_twice_is_refused),
        cmocka_unit_test(test_copy__to_the_same_path_in_another_store_is_made),
        cmocka_unit_test(test_appear__an_array_cannot_be_created_meanwhile),
        cmocka_unit_test(test_appear__an_array_of_another_program_stays_and_is_not_taken_for_the_copy),
        cmocka_unit_test(test_appear__an_array_stays_when_the_copy_fails_for_another_reason),
    };
    return cmocka_run_group_tests(tests, build_reference, free_reference);
}
