/* An append that crashes or fails at each of its storage operations, or finds no memory at each of its allocations:
 * what readers see is of the old or the new length, and the same append without faults then ends as if nothing had
 * happened, also if somebody has written to the target since. One process, storage in memory. */
#include "support.h"

#include <parapet.h>

#include "array/open.h"
#include "base/memory.h"
#include "base/status.h"
#include "crash.h"
#include "image.h"
#include "scratch.h"

enum { WIDTH = 5, BEFORE = 3, ADDED = 4, AFTER = BEFORE + ADDED };

#define TARGET "g/all"
#define MARK TARGET "/__parapet/change"

static image prepared;  /* source and target before the append */
static image reference; /* after it */
static long operations;
static bool is_full, has_seals;

/* ---- What is stored ---- */

typedef struct bed {
    pp_store *inner, *faulty;
    pp_fault_plan plan;
} bed;

static void bed_build(bed *work, const image *before)
{
    *work = (bed){.plan = {.fail_at = -1}};
    assert_ok(pp_store_memory_build(&work->inner, NULL));
    if (before != NULL)
        image_put(before, work->inner);
    crash_prepare(work->inner, &work->plan);
    assert_ok(pp_store_faulty_build(&work->faulty, work->inner, &work->plan));
}

static void bed_free(bed *work)
{
    pp_store_free(work->faulty);
    pp_store_free(work->inner);
}

static parapet_status open_store(const bed *work, parapet_store **store, parapet_mode mode)
{
    return pp_store_open_over(store, MPI_COMM_NULL, work->faulty, mode,
                              &(parapet_store_options){.io_thread = PARAPET_IO_THREAD_NONE});
}

static void put_array(parapet_store *store, const char *path, int first, int length, bool has_x)
{
    static const char *const names[2] = {"time", "x"};
    const int64_t shape[2] = {length, WIDTH}, chunks[2] = {2, 2}, shards[2] = {4, 4}, start[2] = {0};
    parapet_array_spec spec = {.ndim = has_x ? 2 : 1,
                               .type = PARAPET_INT32,
                               .shape = shape,
                               .chunks = chunks,
                               .shards = shards,
                               .codec = "none",
                               .dimension_names = names};
    int32_t values[AFTER * WIDTH];
    parapet_part part = {.ndim = spec.ndim, .start = start, .count = shape, .data = values};
    parapet_array *array;
    int i;
    for (i = 0; i < AFTER * WIDTH; i++)
        values[i] = first * (has_x ? WIDTH : 1) + i;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    if (has_seals && strncmp(path, TARGET, strlen(TARGET)) == 0)
        assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
}

static void consolidate(parapet_store *store, const char *path)
{
    parapet_group *group;
    assert_ok(parapet_group_open(&group, store, path));
    assert_ok(parapet_group_consolidate(group));
    assert_ok(parapet_group_close(&group));
}

/* The groups around the target and the target itself are consolidated; its arrays may be sealed. */
static void prepare(void)
{
    parapet_store *store;
    bed work;
    bed_build(&work, NULL);
    assert_ok(open_store(&work, &store, PARAPET_CREATE));
    put_array(store, "source/t", BEFORE, ADDED, true);
    put_array(store, "source/deep/u", BEFORE, ADDED, true);
    put_array(store, "source/time", BEFORE, ADDED, false);
    put_array(store, TARGET "/t", 0, BEFORE, true);
    put_array(store, TARGET "/deep/u", 0, BEFORE, true);
    put_array(store, TARGET "/time", 0, BEFORE, false);
    consolidate(store, TARGET "/deep");
    consolidate(store, TARGET);
    consolidate(store, "");
    consolidate(store, TARGET "/deep"); /* which takes it from those around it */
    consolidate(store, TARGET);
    consolidate(store, "");
    assert_ok(parapet_store_close(&store));
    image_take(&prepared, work.inner);
    bed_free(&work);
}

/* ---- The append ---- */

static parapet_status append_through(parapet_store *store, const char *source, parapet_copy_result *result)
{
    parapet_copy_request request = {
        .source = store, .source_path = source, .target = store, .target_path = TARGET, .append = "time"};
    *result = (parapet_copy_result){0};
    return parapet_copy(&request, result);
}

static parapet_status append(const bed *work, parapet_copy_result *result)
{
    parapet_store *store = NULL;
    pp_failure failure = {0};
    parapet_status status = open_store(work, &store, PARAPET_UPDATE);
    if (status == PARAPET_OK)
        status = append_through(store, "source", result);
    pp_failure_take(&failure, status);
    (void)parapet_store_close(&store);
    return pp_failure_put(&failure);
}

/* The length of an array, all of whose values are right. */
static int64_t look_at(parapet_store *store, const char *path)
{
    int32_t values[AFTER * WIDTH];
    const int64_t start[2] = {0};
    parapet_array_info info;
    parapet_array *array;
    parapet_part part = {.start = start, .data = values};
    int64_t length, i;
    assert_ok(parapet_array_open(&array, store, path));
    assert_ok(parapet_array_get_info(array, &info));
    part.ndim = info.ndim;
    part.count = info.shape;
    length = info.shape[0];
    assert_true(length == BEFORE || length == AFTER);
    assert_ok(parapet_array_read(array, &part, 1));
    for (i = 0; i < length * (info.ndim == 2 ? WIDTH : 1); i++)
        assert_int_equal(values[i], i);
    assert_ok(parapet_array_close(&array));
    return length;
}

/* What a kill leaves can be read, by which no byte of it changes; the number of arrays that are longer. */
static int look(const bed *work)
{
    parapet_store *store;
    image before, after;
    int longer = 0;
    image_take(&before, work->inner);
    assert_ok(open_store(work, &store, PARAPET_READ));
    longer += look_at(store, TARGET "/t") == AFTER;
    longer += look_at(store, TARGET "/deep/u") == AFTER;
    longer += look_at(store, TARGET "/time") == AFTER;
    assert_ok(parapet_store_close(&store));
    image_take(&after, work->inner);
    assert_true(image_equals(&before, &after));
    image_free(&before);
    image_free(&after);
    return longer;
}

static bool is_ours(const char *key)
{
    return strstr(key, "__parapet/") != NULL && strstr(key, "/lock") == NULL && strstr(key, "__parapet/lock") == NULL;
}

/* What a call that fails may leave: groups around are marked, so that the next one looks after their metadata. */
static bool may_stay(const image *right, const char *key)
{
    return strstr(key, "/tmp/") != NULL || (right == &prepared && strstr(key, "__parapet/consolidate") != NULL);
}

/* The head of a seal that was about to be taken off belongs to two documents. */
static bool may_differ(const image *right, const char *key)
{
    return right == &prepared && strstr(key, "__parapet/seal") != NULL;
}

/* All objects but temporary ones, which the collector removes, are these. */
static void check_image(const bed *work, const image *right, const char *what, long at)
{
    image found;
    size_t i;
    image_take(&found, work->inner);
    for (i = 0; i < right->count; i++) {
        const image_object *wanted = &right->objects[i], *object = image_find(&found, wanted->key);
        if (strstr(wanted->key, "/lock") != NULL || may_differ(right, wanted->key))
            continue;
        if (object == NULL || object->bytes != wanted->bytes ||
            memcmp(object->data, wanted->data, wanted->bytes) != 0)
            fail_msg("%s %ld: %s is %s", what, at, wanted->key, object == NULL ? "missing" : "another");
    }
    for (i = 0; i < found.count; i++)
        if (image_find(right, found.objects[i].key) == NULL && is_ours(found.objects[i].key) &&
            !may_stay(right, found.objects[i].key))
            fail_msg("%s %ld: %s was left", what, at, found.objects[i].key);
    image_free(&found);
}

static void append_again(const bed *work, const char *what, long at)
{
    parapet_copy_result result;
    if (append(work, &result) != PARAPET_OK)
        fail_msg("after %s %ld it returned %s", what, at, parapet_error_message());
    assert_int_equal(result.extent_after, AFTER);
    assert_int_equal(look(work), 3);
    check_image(work, &reference, what, at);
}

static int build_reference(void)
{
    parapet_copy_result result;
    bed work;
    prepare();
    bed_build(&work, &prepared);
    work.plan = (pp_fault_plan){.fail_at = -1};
    assert_ok(append(&work, &result));
    operations = work.plan.operations;
    assert_int_equal(result.extent_before, BEFORE);
    assert_int_equal(result.extent_after, AFTER);
    assert_int_equal(result.repaired, PARAPET_REPAIR_NONE);
    image_take(&reference, work.inner);
    assert_int_equal(look(&work), 3);
    assert_ok(append(&work, &result));
    assert_int_equal(result.extent_before, AFTER);
    assert_int_equal(result.extent_after, AFTER);
    bed_free(&work);
    return 0;
}

static int build_plain(void **state)
{
    (void)state;
    has_seals = false;
    return build_reference();
}

static int build_sealed(void **state)
{
    (void)state;
    has_seals = true;
    return build_reference();
}

static int free_reference(void **state)
{
    (void)state;
    image_free(&prepared);
    image_free(&reference);
    return 0;
}

/* ---- Crashes ---- */

/* Without the source: all arrays are longer afterwards, or none. */
static void collect(const bed *work, long at)
{
    parapet_store *store;
    image left;
    int longer;
    assert_ok(open_store(work, &store, PARAPET_UPDATE));
    if (parapet_store_collect(store, "", 0, NULL, NULL) != PARAPET_OK)
        fail_msg("after a crash at operation %ld collecting returned %s", at, parapet_error_message());
    assert_ok(parapet_store_close(&store));
    image_take(&left, work->inner);
    assert_null(image_find(&left, MARK));
    image_free(&left);
    longer = look(work);
    assert_true(longer == 0 || longer == 3);
}

/* The last step of an array is written again, by a program that knows nothing of the append: what was stored beyond
 * it in the same chunk is gone then. */
static void write_last_step(const bed *work)
{
    const int64_t start[2] = {BEFORE - 1, 0}, count[2] = {1, WIDTH};
    int32_t values[WIDTH];
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    parapet_store *store;
    parapet_array *array;
    int i;
    for (i = 0; i < WIDTH; i++)
        values[i] = (BEFORE - 1) * WIDTH + i;
    assert_ok(open_store(work, &store, PARAPET_UPDATE));
    assert_ok(parapet_array_open(&array, store, TARGET "/t"));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
}

static void test_append__crashes_everywhere(void **state)
{
    long at, unfinished = 0;
    (void)state;
    for (at = 0; at < operations; at += is_full ? 1 : (has_seals ? 13 : 5) * TEST_THINNING) {
        parapet_copy_result result;
        image left;
        bed work;
        bed_build(&work, &prepared);
        work.plan = (pp_fault_plan){.fail_at = at, .fail_forever = true, .is_torn = at % 2 == 1};
        assert_true(append(&work, &result) != PARAPET_OK);
        assert_true(work.plan.failures > 0);
        work.plan = (pp_fault_plan){.fail_at = -1};
        (void)look(&work);
        image_take(&left, work.inner);
        unfinished += image_find(&left, MARK) != NULL;
        image_free(&left);
        if (!has_seals && at % 3 != 0)
            write_last_step(&work);
        if (at % 4 < 2)
            collect(&work, at);
        append_again(&work, "a crash at operation", at);
        bed_free(&work);
    }
    assert_true(unfinished > operations / (is_full ? 12 : 100 * TEST_THINNING));
    print_message("operations: %ld; %ld crashes left a mark\n", operations, unfinished);
}

/* An array that took another's place could not be told from what the append has left, nor could what is missing. */
static void refuse_replacing(parapet_store *store)
{
    static const char *const paths[] = {TARGET "/t", TARGET "/deep/u", TARGET "/deep/fresh", TARGET "/fresh"};
    const int64_t shape[1] = {AFTER}, chunks[1] = {2};
    parapet_array_spec spec = {
        .ndim = 1, .type = PARAPET_INT32, .shape = shape, .chunks = chunks, .codec = "none", .overwrite = 1};
    parapet_array *array = NULL;
    size_t i;
    for (i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_int_equal(parapet_array_create(&array, store, paths[i], &spec), PARAPET_ERR_EXISTS);
        assert_null(array);
        if (i < 2)
            assert_int_equal(parapet_store_remove(store, paths[i], 0, 0, NULL, NULL), PARAPET_ERR_EXISTS);
    }
    assert_int_equal(parapet_store_remove(store, TARGET "/deep", 1, 0, NULL, NULL), PARAPET_ERR_EXISTS);
}

/* Nothing shows, keeps or tells of elements that no document reaches. */
static void test_append__crash_keeps_others_out(void **state)
{
    const int64_t shape[2] = {AFTER + 1, WIDTH};
    parapet_copy_result result;
    parapet_store *store;
    parapet_array *array;
    parapet_group *group;
    bed work;
    (void)state;
    bed_build(&work, &prepared);
    work.plan = (pp_fault_plan){.fail_at = operations * 2 / 3, .fail_forever = true};
    assert_true(append(&work, &result) != PARAPET_OK);
    work.plan = (pp_fault_plan){.fail_at = -1};
    assert_ok(open_store(&work, &store, PARAPET_UPDATE));
    assert_ok(parapet_array_open(&array, store, TARGET "/deep/u"));
    assert_int_equal(parapet_array_resize(array, shape), PARAPET_ERR_EXISTS);
    assert_int_equal(parapet_array_seal(array), PARAPET_ERR_EXISTS);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_group_open(&group, store, TARGET "/deep"));
    assert_int_equal(parapet_group_consolidate(group), PARAPET_ERR_EXISTS);
    assert_ok(parapet_group_close(&group));
    refuse_replacing(store);
    assert_ok(parapet_store_close(&store));
    append_again(&work, "a crash at operation", operations * 2 / 3);
    bed_free(&work);
}

/* The repair itself crashes, and is repeated. */
static void test_append__crashes_while_it_repairs(void **state)
{
    long first, at, points = 0;
    (void)state;
    for (first = operations / 3; first < operations; first += is_full ? 7 : 61 * TEST_THINNING) {
        bool is_reached = true;
        for (at = 0; is_reached; at += is_full ? 5 : 83 * TEST_THINNING) {
            parapet_copy_result result;
            bed work;
            bed_build(&work, &prepared);
            work.plan = (pp_fault_plan){.fail_at = first, .fail_forever = true};
            (void)append(&work, &result);
            work.plan = (pp_fault_plan){.fail_at = at, .fail_forever = true};
            (void)append(&work, &result);
            is_reached = work.plan.failures > 0;
            work.plan = (pp_fault_plan){.fail_at = -1};
            (void)look(&work);
            append_again(&work, "a second crash at operation", at);
            bed_free(&work);
            points++;
        }
    }
    print_message("pairs of crashes: %ld\n", points);
}

/* ---- Failures ---- */

/* How often a text is in an object. */
static int count_text(const image *all, const char *key, const char *text)
{
    const image_object *object = image_find(all, key);
    const unsigned char *data = object->data;
    size_t bytes = strlen(text), i;
    int count = 0;
    for (i = 0; i + bytes <= object->bytes; i++)
        count += memcmp(data + i, text, bytes) == 0;
    return count;
}

/* Seals that were taken off are told, and consolidated metadata says so, too. */
static void check_seals(const image *left, const char *message, long at)
{
    static const char seal[] = "\"sealed\"";
    int in_deep = count_text(left, TARGET "/deep/u/zarr.json", seal);
    int in_target =
        in_deep + count_text(left, TARGET "/t/zarr.json", seal) + count_text(left, TARGET "/time/zarr.json", seal);
    if (strstr(message, "seals") == NULL)
        fail_msg("operation %ld failed, and seals are gone: %s", at, message);
    assert_int_equal(count_text(left, TARGET "/deep/zarr.json", seal), in_deep);
    assert_int_equal(count_text(left, TARGET "/zarr.json", seal), in_target);
    assert_int_equal(count_text(left, "zarr.json", seal), in_target);
}

static bool has_all_seals(const image *left)
{
    static const char *const keys[] = {TARGET "/t/zarr.json", TARGET "/deep/u/zarr.json", TARGET "/time/zarr.json"};
    size_t i;
    for (i = 0; i < 3; i++)
        if (count_text(left, keys[i], "\"sealed\"") == 0)
            return false;
    return true;
}

/* A call that failed has appended all, or nothing is changed, but for seals; or it has left a mark, since nobody
 * knows whether the decision is stored. */
static void check_failed(const bed *work, parapet_status status, long at)
{
    char message[2048];
    int longer;
    image left;
    (void)snprintf(message, sizeof message, "%s", parapet_error_message());
    longer = look(work);
    image_take(&left, work->inner);
    if (status != PARAPET_OK && longer < 3 && image_find(&left, MARK) == NULL) {
        if (longer > 0)
            fail_msg("operation %ld failed, and %d arrays are longer: %s", at, longer, message);
        if (has_seals && !has_all_seals(&left))
            check_seals(&left, message, at);
        else
            check_image(work, &prepared, "failed operation", at);
    }
    if (status != PARAPET_OK && longer < 3 && image_find(&left, MARK) != NULL && strstr(message, "or not") == NULL)
        fail_msg("operation %ld failed, and nothing was undone: %s", at, message);
    image_free(&left);
}

static void test_append__fails_everywhere(void **state)
{
    long at;
    (void)state;
    for (at = 0; at < operations; at += is_full ? 1 : 9 * TEST_THINNING) {
        long live = pp_memory_live_count();
        parapet_copy_result result;
        parapet_status status;
        bed work;
        bed_build(&work, &prepared);
        work.plan = (pp_fault_plan){.fail_at = at, .status = PARAPET_ERR_IO};
        status = append(&work, &result);
        work.plan = (pp_fault_plan){.fail_at = -1};
        check_failed(&work, status, at);
        append_again(&work, "a failure of operation", at);
        bed_free(&work);
        assert_int_equal(pp_memory_live_count(), live);
    }
}

static void test_append__finds_no_memory(void **state)
{
    bool is_reached = true;
    long at;
    (void)state;
    for (at = 0; is_reached; at += is_full ? 1 : 61 * TEST_THINNING) {
        long live = pp_memory_live_count();
        refusal refused = {.at = at};
        parapet_copy_result result;
        parapet_status status;
        bed work;
        bed_build(&work, &prepared);
        pp_memory_hook_set(refuse_one, &refused);
        status = append(&work, &result);
        pp_memory_hook_set(NULL, NULL);
        is_reached = refused.count > at;
        check_failed(&work, status, at);
        append_again(&work, "refused allocation", at);
        bed_free(&work);
        assert_int_equal(pp_memory_live_count(), live);
    }
    print_message("refused allocations: %ld\n", at);
}

/* ---- What is refused, or nothing ---- */

static void expect_refused(const bed *work, parapet_store *store, parapet_status expected)
{
    parapet_copy_result result;
    assert_int_equal(append_through(store, "source", &result), expected);
    assert_int_equal(result.extent_after, result.extent_before);
    assert_ok(parapet_store_close(&store));
    check_image(work, &prepared, "refused", 0);
}

static void test_append__read_only(void **state)
{
    parapet_store *store;
    bed work;
    (void)state;
    bed_build(&work, &prepared);
    assert_ok(open_store(&work, &store, PARAPET_READ));
    expect_refused(&work, store, PARAPET_ERR_ARGUMENT);
    bed_free(&work);
}

static void test_append__no_steps(void **state)
{
    parapet_copy_result result;
    parapet_store *store;
    bed work;
    (void)state;
    bed_build(&work, &prepared);
    assert_ok(open_store(&work, &store, PARAPET_UPDATE));
    put_array(store, "none/t", BEFORE, 0, true);
    put_array(store, "none/deep/u", BEFORE, 0, true);
    put_array(store, "none/time", BEFORE, 0, false);
    assert_ok(append_through(store, "none", &result));
    assert_int_equal(result.extent_before, BEFORE);
    assert_int_equal(result.extent_after, BEFORE);
    assert_ok(parapet_store_close(&store));
    assert_int_equal(look(&work), 0);
    bed_free(&work);
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append__crashes_everywhere),
        cmocka_unit_test(test_append__crash_keeps_others_out),
        cmocka_unit_test(test_append__crashes_while_it_repairs),
        cmocka_unit_test(test_append__fails_everywhere),
        cmocka_unit_test(test_append__finds_no_memory),
        cmocka_unit_test(test_append__read_only),
        cmocka_unit_test(test_append__no_steps),
    };
    is_full = count > 1 && strcmp(words[1], "full") == 0;
    return cmocka_run_group_tests(tests, build_plain, free_reference) +
           cmocka_run_group_tests(tests, build_sealed, free_reference);
}
