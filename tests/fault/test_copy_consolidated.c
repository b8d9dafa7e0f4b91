/* A copy into groups that have consolidated metadata, which it has to remove: it crashes or fails at each of its
 * storage operations, and after the next copy both groups have it again, as if nothing had happened. So they have
 * after collecting what the crash left. */
#include "support.h"

#include <parapet_store.h>

#include "copy_bed.h"

enum { ARRAY = 0, STRIDE = 3 };

/* The groups around the target of the subject, and what marks each. */
static const struct {
    const char *path, *document, *mark;
} groups[] = {{"g", "g/zarr.json", "g/__parapet/consolidate"}, {"", "zarr.json", "__parapet/consolidate"}};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static const copy_subject *const of = &copy_subjects[ARRAY];
static copy_reference reference; /* stored: with the metadata */
static image prepared;           /* the target before the copy */

static void consolidate(parapet_store *store, const char *path)
{
    parapet_group *group;
    assert_ok(parapet_group_open(&group, store, path));
    assert_ok(parapet_group_consolidate(group));
    assert_ok(parapet_group_close(&group));
}

static void prepare_target(copy_bed *work)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store;
    parapet_group *group;
    int i;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, work->inner[COPY_TARGET], PARAPET_CREATE, &options));
    assert_ok(parapet_group_create(&group, store, groups[0].path, NULL));
    assert_ok(parapet_group_close(&group));
    for (i = 0; i < GROUPS; i++)
        consolidate(store, groups[i].path);
    assert_ok(parapet_store_close(&store));
    image_take(&prepared, work->inner[COPY_TARGET]);
}

static bool has_metadata(const copy_bed *work, const char *document, const char *of_what)
{
    const image_object *object;
    char *text;
    image seen;
    bool has;
    image_take(&seen, work->inner[COPY_TARGET]);
    object = image_find(&seen, document);
    assert_non_null(object);
    text = strndup((const char *)object->data, object->bytes);
    has = strstr(text, "\"consolidated_metadata\"") != NULL && strstr(text, of_what) != NULL;
    free(text);
    image_free(&seen);
    return has;
}

static void build_bed(copy_bed *work)
{
    copy_bed_build(work, of, &reference, COPY_IN_MEMORY);
    image_put(&prepared, work->inner[COPY_TARGET]);
}

static int build_reference(void **state)
{
    parapet_copy_result result;
    copy_bed work;
    (void)state;
    copy_reference_build(&reference, of);
    copy_bed_build(&work, of, &reference, COPY_IN_MEMORY);
    prepare_target(&work);
    assert_ok(copy_bed_run(&work, (copy_manner){0}, &result));
    assert_true(has_metadata(&work, "zarr.json", "\"g/t\""));
    assert_true(has_metadata(&work, "g/zarr.json", "\"t\""));
    image_free(&reference.stored);
    image_take(&reference.stored, work.inner[COPY_TARGET]);
    reference.operations = work.plan.operations;
    copy_bed_free(&work);
    return 0;
}

static int free_reference(void **state)
{
    (void)state;
    copy_reference_free(&reference);
    image_free(&prepared);
    return 0;
}

/* What a copy without faults makes of what is there. One that was complete is only consolidated. */
static void copy_again(copy_bed *work, copy_manner manner, long at)
{
    parapet_copy_result result;
    char problem[256];
    parapet_status status = copy_bed_run(work, manner, &result);
    if (status != PARAPET_OK && status != PARAPET_ERR_EXISTS)
        fail_msg("after operation %ld it returned %s", at, parapet_error_message());
    if (!copy_bed_is_complete(work, &reference, problem))
        fail_msg("after operation %ld: %s", at, problem);
}

static void test_consolidated__metadata_outlives_a_crash(void **state)
{
    parapet_copy_result result;
    bool is_reached = true;
    copy_bed work;
    long at;
    (void)state;
    for (at = 0; is_reached; at += STRIDE) {
        build_bed(&work);
        work.plan = (pp_fault_plan){.fail_at = at, .fail_forever = true};
        (void)copy_bed_run(&work, (copy_manner){0}, &result);
        is_reached = work.plan.failures > 0;
        work.plan = (pp_fault_plan){.fail_at = -1};
        if (is_reached)
            copy_again(&work, (copy_manner){.resumes = true}, at);
        copy_bed_free(&work);
    }
    assert_true(at >= reference.operations);
}

static void collect(copy_bed *work)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, work->inner[COPY_TARGET], PARAPET_UPDATE, &options));
    assert_ok(parapet_store_collect(store, "", 0, NULL, NULL));
    assert_ok(parapet_store_close(&store));
}

static void test_consolidated__collecting_makes_what_a_crash_took(void **state)
{
    parapet_copy_result result;
    bool is_reached = true;
    long at, marked = 0;
    copy_bed work;
    int i;
    (void)state;
    for (at = 0; is_reached; at += STRIDE) {
        build_bed(&work);
        work.plan = (pp_fault_plan){.fail_at = at, .fail_forever = true};
        (void)copy_bed_run(&work, (copy_manner){0}, &result);
        is_reached = work.plan.failures > 0;
        work.plan = (pp_fault_plan){.fail_at = -1};
        marked += copy_bed_has(&work, groups[0].mark);
        if (is_reached)
            collect(&work);
        for (i = 0; is_reached && i < GROUPS; i++)
            if (!has_metadata(&work, groups[i].document, "") || copy_bed_has(&work, groups[i].mark))
                fail_msg("after operation %ld, \"%s\" is not as it should be", at, groups[i].path);
        if (is_reached)
            copy_again(&work, (copy_manner){.resumes = true}, at);
        copy_bed_free(&work);
    }
    assert_true(marked > 0);
}

/* Only a failure of making it again may lose it, and then the next copy makes it. */
static void test_consolidated__metadata_outlives_a_failure(void **state)
{
    parapet_copy_result result;
    bool is_reached = true;
    copy_bed work;
    long at;
    int i;
    (void)state;
    for (at = 0; is_reached; at += STRIDE) {
        bool is_said = false;
        build_bed(&work);
        work.plan = (pp_fault_plan){.fail_at = at, .status = PARAPET_ERR_NO_SPACE};
        if (copy_bed_run(&work, (copy_manner){0}, &result) != PARAPET_OK)
            is_said = strstr(parapet_error_message(), "the copy is complete, but the metadata of \"") != NULL;
        is_reached = work.plan.failures > 0;
        work.plan = (pp_fault_plan){.fail_at = -1};
        for (i = 0; is_reached && i < GROUPS; i++)
            if (!has_metadata(&work, groups[i].document, "") && !(is_said && copy_bed_has(&work, groups[i].mark)))
                fail_msg("after a failure of operation %ld, \"%s\" has lost its metadata", at, groups[i].path);
        if (is_reached)
            copy_again(&work, (copy_manner){.overwrites = true}, at);
        copy_bed_free(&work);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_consolidated__metadata_outlives_a_crash),
        cmocka_unit_test(test_consolidated__collecting_makes_what_a_crash_took),
        cmocka_unit_test(test_consolidated__metadata_outlives_a_failure),
    };
    return cmocka_run_group_tests(tests, build_reference, free_reference);
}
