/* Lists of arrays that are written as one, of which some are not as the others; and shards that are listed. One
 * process, storage in memory. */
#include "support.h"

#include "array/node_lock.h"
#include "array/refresh.h"
#include "array/seal.h"
#include "array/stored_shards.h"
#include "failing.h"
#include "stored.h"

enum { LENGTH = 8 };

static const int64_t shape[1] = {LENGTH}, shards[1] = {2}, start[1] = {0};
static const parapet_array_spec spec = {
    .type = PARAPET_INT32, .ndim = 1, .shape = shape, .chunks = shards, .shards = shards};
static const char *const paths[2] = {"a", "b"};

typedef struct bed {
    parapet_store *store, *other;
    parapet_array *arrays[2];
    int32_t values[LENGTH];
    parapet_part part;
    parapet_array_parts list[2];
} bed;

static void set_up(bed *b)
{
    int i;
    *b = (bed){.values = {1, 2, 3, 4, 5, 6, 7, 8}};
    b->part = (parapet_part){.ndim = 1, .start = start, .count = shape, .data = b->values};
    stored_open(&b->store, NULL);
    assert_ok(parapet_store_open(&b->other, MPI_COMM_NULL, "memory:test", PARAPET_UPDATE, NULL));
    for (i = 0; i < 2; i++) {
        assert_ok(parapet_array_create(&b->arrays[i], b->store, paths[i], &spec));
        b->list[i] = (parapet_array_parts){.array = b->arrays[i], .parts = &b->part, .part_count = 1};
    }
    assert_ok(parapet_arrays_write(b->list, 2));
}

static void tear_down(bed *b)
{
    assert_ok(parapet_arrays_close(b->arrays, 2));
    assert_ok(parapet_store_close(&b->other));
    stored_close(&b->store);
}

static void test_lists__the_seal_of_one_goes_and_the_others_had_none(void **state)
{
    parapet_array_info info;
    bed b;
    int i;
    (void)state;
    for (i = 0; i < 2; i++) {
        set_up(&b);
        assert_ok(parapet_array_seal(b.arrays[i]));
        assert_ok(parapet_arrays_write(b.list, 2));
        assert_ok(parapet_array_get_info(b.arrays[i], &info));
        assert_int_equal(info.is_sealed, 0);
        assert_ok(parapet_arrays_read(b.list, 2));
        tear_down(&b);
    }
}

/* A part of a shard is written, and what is kept of it is not what was sealed: that is told, and nothing is written.
 */
static void test_lists__damage_of_one_that_is_sealed_ends_the_write(void **state)
{
    static const int64_t one[1] = {1};
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.arrays[1]));
    stored_put_text(b.store, "b/c/0", "damaged");
    b.part.count = one;
    b.values[0] = 77;
    assert_int_equal(parapet_arrays_write(b.list, 2), PARAPET_ERR_CORRUPT);
    b.values[0] = 0;
    assert_ok(parapet_array_read(b.arrays[0], &b.part, 1));
    assert_int_equal(b.values[0], 1);
    tear_down(&b);
}

static void test_lists__one_that_another_job_has_made_smaller_is_named(void **state)
{
    static const int64_t small[1] = {3}, first[1] = {2};
    parapet_array *theirs;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_open(&theirs, b.other, "b"));
    assert_ok(parapet_array_resize(theirs, small));
    assert_ok(parapet_array_close(&theirs));
    b.part.count = first;
    assert_fails(parapet_array_read_local(b.arrays[1], &b.part, 1), PARAPET_ERR_STALE, "smaller");
    assert_fails(parapet_arrays_write(b.list, 2), PARAPET_ERR_STALE, "array \"b\": another job has made it smaller");
    tear_down(&b);
}

static void test_lists__two_handles_of_one_array_are_refused(void **state)
{
    parapet_array *again;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_open(&again, b.store, "a"));
    b.list[1].array = again;
    assert_fails(parapet_arrays_write(b.list, 2), PARAPET_ERR_ARGUMENT, "array \"a\" is in the list twice");
    assert_ok(parapet_arrays_read(b.list, 2)); /* which disturbs nobody */
    assert_ok(parapet_array_close(&again));
    tear_down(&b);
}

static int add_start(void *context, const int64_t *of, const int64_t *count)
{
    *(int64_t *)context += of[0] + 100 * count[0];
    return 0;
}

static void test_lists__every_stored_shard_is_listed(void **state)
{
    int64_t sum = 0;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(pp_store_remove(b.store->backend, "a/c/1"));
    assert_ok(parapet_array_list(b.arrays[0], add_start, &sum));
    assert_int_equal(sum, 3 * 200 + 0 + 4 + 6);
    tear_down(&b);
}

/* ---- What a check finds ---- */

typedef struct findings {
    int absent, missing, torn, stray;
    char problem[200]; /* of the last one that is not absent */
} findings;

static int note_finding(void *context, const parapet_finding *finding)
{
    findings *all = context;
    all->absent += finding->kind == PARAPET_FINDING_ABSENT;
    all->missing += finding->kind == PARAPET_FINDING_MISSING;
    all->torn += finding->kind == PARAPET_FINDING_TORN;
    all->stray += finding->kind == PARAPET_FINDING_STRAY;
    if (finding->kind != PARAPET_FINDING_ABSENT)
        (void)snprintf(all->problem, sizeof all->problem, "%s %s", finding->key, finding->problem);
    return 0;
}

/* What is done to the array "a", with one object; text NULL: it is removed. */
static const struct check_case {
    const char *key, *text;
    bool is_sealed;
    parapet_check_depth depth;
    findings found;
} check_cases[] = {
    {"x", "x", false, PARAPET_CHECK_SURVEY, {0, 0, 0, 0, ""}},
    {"a/c/1", NULL, false, PARAPET_CHECK_SURVEY, {0, 0, 0, 0, ""}},
    {"a/c/1", NULL, false, PARAPET_CHECK_INDEX, {1, 0, 0, 0, ""}},
    {"a/c/1", NULL, true, PARAPET_CHECK_SURVEY, {0, 1, 0, 0, "a/c/1 is missing: the array was sealed with it"}},
    {"a/c/1", NULL, true, PARAPET_CHECK_DATA, {0, 1, 0, 0, "a/c/1 is missing: the array was sealed with it"}},
    {"a/c/1", "torn", false, PARAPET_CHECK_SURVEY, {0, 0, 0, 0, ""}},
    {"a/c/1", "torn", false, PARAPET_CHECK_INDEX, {0, 0, 1, 0, "a/c/1"}},
    {"a/c/1", "torn", true, PARAPET_CHECK_DATA, {0, 0, 1, 0, "a/c/1"}},
    {"a/c/4", "cut off", false, PARAPET_CHECK_DATA, {0, 0, 0, 1, "a/c/4 is no shard of this array"}},
    {"a/notes", "somebody's", false, PARAPET_CHECK_INDEX, {0, 0, 0, 1, "a/notes is no shard of this array"}},
    {"a/.zattrs", "{}", false, PARAPET_CHECK_INDEX, {0, 0, 0, 0, ""}},
    {"a/.zarray", "{}", false, PARAPET_CHECK_INDEX, {0, 0, 0, 0, ""}},
    {"a/__parapet/tmp/half",
     "half",
     false,
     PARAPET_CHECK_DATA,
     {0, 0, 0, 1, "a/__parapet/tmp/half is a temporary object that was never published"}},
};

static void run_check(const struct check_case *of)
{
    parapet_check_summary summary;
    findings found = {0};
    bed b;
    set_up(&b);
    if (of->is_sealed)
        assert_ok(parapet_array_seal(b.arrays[0]));
    if (of->text != NULL)
        stored_put_text(b.store, of->key, of->text);
    else
        assert_ok(pp_store_remove(b.store->backend, of->key));
    assert_ok(parapet_array_check(b.arrays[0], of->depth, note_finding, &found, &summary));
    assert_int_equal(found.absent, of->found.absent);
    assert_int_equal(found.missing, of->found.missing);
    assert_int_equal(found.torn, of->found.torn);
    assert_int_equal(found.stray, of->found.stray);
    assert_true(strncmp(found.problem, of->found.problem, strlen(of->found.problem)) == 0);
    assert_int_equal(summary.missing + summary.torn + summary.stray,
                     of->found.missing + of->found.torn + of->found.stray);
    tear_down(&b);
}

static void test_check__finds_what_was_done_and_nothing_else(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof check_cases / sizeof check_cases[0]; i++)
        run_check(&check_cases[i]);
}

/* Shards that were never written are counted, but not listed one by one. */
static void test_check__of_very_many_shards_ends(void **state)
{
    static const int64_t many[1] = {INT64_C(1) << 40}, few[1] = {16};
    parapet_array_spec sparse = {.type = PARAPET_INT32, .ndim = 1, .shape = many, .chunks = few, .shards = few};
    parapet_check_summary summary;
    findings found = {0};
    parapet_array *array;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &sparse));
    assert_ok(parapet_array_check(array, PARAPET_CHECK_DATA, note_finding, &found, &summary));
    assert_int_equal(summary.shards_expected, INT64_C(1) << 36);
    assert_int_equal(found.absent, 0);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_lists__a_shard_that_was_sealed_and_is_not_listed_is_missing(void **state)
{
    pp_ranges found = {0};
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.arrays[0]));
    found.budget = &b.store->budget;
    assert_ok(pp_array_stored_shards(b.arrays[0], &found));
    assert_ok(pp_array_check_stored_shards(b.arrays[0], &found));
    pp_ranges_clear(&found);
    assert_ok(pp_store_remove(b.store->backend, "a/c/3"));
    found.budget = &b.store->budget;
    assert_ok(pp_array_stored_shards(b.arrays[0], &found));
    assert_fails(pp_array_check_stored_shards(b.arrays[0], &found), PARAPET_ERR_MISSING, "a/c/3 is missing");
    pp_ranges_clear(&found);
    tear_down(&b);
}

/* A handle of which nobody knows what is stored tells so, whatever it is asked. */
static void test_lists__a_broken_handle_lists_and_reads_nothing(void **state)
{
    parapet_check_summary summary;
    int64_t sum = 0;
    bed b;
    (void)state;
    set_up(&b);
    b.arrays[0]->is_broken = true;
    assert_fails(parapet_array_list(b.arrays[0], add_start, &sum), PARAPET_ERR_ARGUMENT, "open it again");
    assert_fails(parapet_array_read_local(b.arrays[0], &b.part, 1), PARAPET_ERR_ARGUMENT, "open it again");
    assert_fails(parapet_array_check(b.arrays[0], PARAPET_CHECK_DATA, NULL, NULL, &summary), PARAPET_ERR_ARGUMENT,
                 "open it again");
    assert_fails(parapet_arrays_read(b.list, 2), PARAPET_ERR_ARGUMENT, "open it again");
    assert_int_equal(sum, 0);
    tear_down(&b);
}

static void test_sparse__is_what_has_few_of_very_many(void **state)
{
    (void)state;
    assert_false(pp_is_sparse(PP_SHARDS_WALKED_MOST, 0));
    assert_false(pp_is_sparse(2 * PP_SHARDS_WALKED_MOST, 2 * PP_SHARDS_WALKED_MOST));
    assert_true(pp_is_sparse(2 * PP_SHARDS_WALKED_MOST, 1));
}

static void test_lists__only_those_that_are_not_sealed_are(void **state)
{
    parapet_array_info info;
    bed b;
    int i, first;
    (void)state;
    for (first = 0; first < 2; first++) {
        set_up(&b);
        assert_ok(parapet_array_seal(b.arrays[first]));
        stored_put_text(b.store, first == 0 ? "b/__parapet/seal" : "a/__parapet/seal", "stale");
        b.arrays[1 - first]->has_head = true;
        assert_ok(pp_arrays_seal(b.arrays, 2));
        for (i = 0; i < 2; i++) {
            assert_ok(parapet_array_get_info(b.arrays[i], &info));
            assert_int_equal(info.is_sealed, 1);
        }
        assert_ok(pp_arrays_seal(b.arrays, 2));
        assert_ok(parapet_arrays_read(b.list, 2));
        tear_down(&b);
    }
}

static void test_lists__a_document_that_another_job_has_changed_is_taken_up(void **state)
{
    static const int64_t longer[1] = {LENGTH + 2};
    parapet_array_info info;
    parapet_array *theirs;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(pp_array_refresh_document(b.arrays[0]));
    assert_ok(parapet_array_open(&theirs, b.other, "a"));
    assert_ok(parapet_array_resize(theirs, longer));
    assert_ok(pp_array_refresh_document(b.arrays[0]));
    assert_ok(parapet_array_get_info(b.arrays[0], &info));
    assert_int_equal(info.shape[0], LENGTH + 2);
    assert_ok(parapet_array_close(&theirs));
    assert_ok(pp_store_remove(b.store->backend, "a/zarr.json"));
    assert_fails(pp_array_refresh_document(b.arrays[0]), PARAPET_ERR_STALE, "removed array \"a\"");
    tear_down(&b);
}

/* ---- Beside another job ---- */

/* Writes the first element of the array "a" in place of another job. */
static void write_as_another(bed *b)
{
    static const int64_t one[1] = {1};
    parapet_part part = {.ndim = 1, .start = start, .count = one, .data = &(int32_t){77}};
    parapet_array *theirs;
    assert_ok(parapet_array_open(&theirs, b->other, "a"));
    assert_ok(parapet_array_write(theirs, &part, 1));
    assert_ok(parapet_array_close(&theirs));
}

static void test_check__what_another_job_has_changed_is_no_damage(void **state)
{
    parapet_check_summary summary;
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(parapet_array_seal(b.arrays[0]));
    write_as_another(&b);
    assert_fails(parapet_array_check(b.arrays[0], PARAPET_CHECK_DATA, NULL, NULL, &summary), PARAPET_ERR_STALE,
                 "another job has changed the sealed array \"a\"");
    tear_down(&b);
}

/* Whoever holds the array may be making or removing what is no shard; and nobody else changes it. */
static void test_check__objects_of_an_array_that_is_held_are_not_stray(void **state)
{
    parapet_check_summary summary;
    pp_node_lock hold = {0};
    pp_node_lock_wish wish;
    bed b;
    (void)state;
    set_up(&b);
    wish = (pp_node_lock_wish){
        .store = b.other, .paths = paths, .count = 1, .mode = PP_LOCK_EXCLUSIVE, .purpose = "testing"};
    stored_put_text(b.store, "a/c/9", "half");
    assert_ok(pp_node_locks_take(&hold, &wish));
    assert_ok(parapet_array_check(b.arrays[0], PARAPET_CHECK_DATA, NULL, NULL, &summary));
    assert_int_equal(summary.stray, 0);
    assert_fails(parapet_arrays_write(b.list, 2), PARAPET_ERR_BUSY, "\"a\" is being changed by this process");
    pp_node_locks_release(&hold, 1);
    assert_ok(parapet_array_check(b.arrays[0], PARAPET_CHECK_DATA, NULL, NULL, &summary));
    assert_int_equal(summary.stray, 1);
    assert_ok(parapet_arrays_write(b.list, 2));
    tear_down(&b);
}

/* Deeper than any shard lies. */
static void test_check__what_is_nested_too_deep_is_not_looked_at(void **state)
{
    char key[200] = "a";
    parapet_check_summary summary;
    int64_t sum = 0;
    bed b;
    int i;
    (void)state;
    for (i = 0; i < 50; i++)
        strcat(key, "/d");
    set_up(&b);
    stored_put_text(b.store, key, "somebody's");
    assert_ok(parapet_array_list(b.arrays[0], add_start, &sum));
    assert_ok(parapet_array_check(b.arrays[0], PARAPET_CHECK_DATA, NULL, NULL, &summary));
    assert_int_equal(summary.stray, 0);
    tear_down(&b);
}

/* Of an array with so many shards that its seal has pages of their own. */
static void test_check__a_page_that_is_damaged_or_missing_is_found_where_a_shard_is(void **state)
{
    static const int64_t many[1] = {3000}, one[1] = {1};
    parapet_array_spec of = {
        .type = PARAPET_INT32, .ndim = 1, .shape = many, .chunks = one, .shards = one, .codec = "none"};
    parapet_check_summary summary;
    findings found = {0};
    parapet_store *store;
    parapet_array *array;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &of));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    assert_true(stored_has(store, "a/__parapet/manifest/0"));
    stored_put_text(store, "a/__parapet/manifest/0", "no page");
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(parapet_array_check(array, PARAPET_CHECK_INDEX, note_finding, &found, &summary));
    assert_int_equal(found.torn, 1);
    assert_non_null(strstr(found.problem, "__parapet/manifest"));
    assert_ok(parapet_array_close(&array));
    assert_ok(pp_store_remove(store->backend, "a/__parapet/manifest/0"));
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(parapet_array_check(array, PARAPET_CHECK_INDEX, note_finding, &found, &summary));
    assert_int_equal(found.missing, 1);
    assert_non_null(strstr(found.problem, "__parapet/manifest"));
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

/* ---- Failures ---- */

typedef struct seen {
    findings found;
    int64_t sum;
} seen;

/* What a check finds of "a", or the sum of what is listed. */
static parapet_status look(parapet_array *array, bool lists, seen *all)
{
    parapet_check_summary summary;
    *all = (seen){0};
    return lists ? parapet_array_list(array, add_start, &all->sum)
                 : parapet_array_check(array, PARAPET_CHECK_DATA, note_finding, &all->found, &summary);
}

static void check_looks(bed *b, bool lists, bool is_memory)
{
    parapet_array *array;
    seen all, whole;
    failing by;
    bool has_failed;
    failing_open(&by, b->store->backend, is_memory);
    assert_ok(parapet_array_open(&array, by.store, "a"));
    assert_ok(look(array, lists, &whole));
    do {
        parapet_status status;
        failing_begin(&by);
        status = look(array, lists, &all);
        has_failed = failing_end(&by);
        if (status == PARAPET_OK &&
            (all.sum != whole.sum || all.found.stray != whole.found.stray || all.found.absent != whole.found.absent ||
             all.found.missing != whole.found.missing))
            fail_msg("something is not told when %s %ld fails", failing_words(&by), by.at - 1);
    } while (has_failed);
    assert_ok(parapet_array_close(&array));
    failing_close(&by);
}

static void test_check__that_fails_anywhere_says_so_or_finds_all(void **state)
{
    bed b;
    int i;
    (void)state;
    for (i = 0; i < 8; i++) {
        set_up(&b);
        stored_put_text(b.store, "a/c/4", "cut off");
        stored_put_text(b.store, "a/__parapet/tmp/half", "half");
        if (i / 4 > 0)
            assert_ok(parapet_array_seal(b.arrays[0]));
        else
            assert_ok(pp_store_remove(b.store->backend, "a/c/1"));
        check_looks(&b, i / 2 % 2 > 0, i % 2 > 0);
        tear_down(&b);
    }
}

/* As a job leaves it that was killed while it made the array smaller. */
static void test_check__what_a_resize_has_left_is_told_as_such(void **state)
{
    static const char unmarked[] = "\"attributes\": {}",
                      marked[] = "\"attributes\": {\"_parapet\": {\"trim\": [true]}}";
    parapet_check_summary summary;
    findings found = {0};
    char *text, *place;
    pp_text changed = {0};
    size_t bytes;
    bed b;
    (void)state;
    set_up(&b);
    text = stored_get(b.store, "a/zarr.json", &bytes);
    assert_non_null(place = strstr(text, unmarked));
    pp_text_add(&changed, "%.*s%s%s", (int)(place - text), text, marked, place + strlen(unmarked));
    stored_put(b.store, "a/zarr.json", changed.data, changed.bytes);
    stored_put_text(b.store, "a/c/4", "cut off");
    assert_ok(parapet_array_close(&b.arrays[0]));
    assert_ok(parapet_array_open(&b.arrays[0], b.store, "a"));
    assert_ok(parapet_array_check(b.arrays[0], PARAPET_CHECK_DATA, note_finding, &found, &summary));
    assert_int_equal(found.stray, 1);
    assert_non_null(strstr(found.problem, "a/c/4 was cut off by a resize that did not finish"));
    pp_text_free(&changed);
    pp_free(text);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists__the_seal_of_one_goes_and_the_others_had_none),
        cmocka_unit_test(test_lists__damage_of_one_that_is_sealed_ends_the_write),
        cmocka_unit_test(test_lists__one_that_another_job_has_made_smaller_is_named),
        cmocka_unit_test(test_lists__two_handles_of_one_array_are_refused),
        cmocka_unit_test(test_lists__every_stored_shard_is_listed),
        cmocka_unit_test(test_check__finds_what_was_done_and_nothing_else),
        cmocka_unit_test(test_lists__a_shard_that_was_sealed_and_is_not_listed_is_missing),
        cmocka_unit_test(test_lists__a_broken_handle_lists_and_reads_nothing),
        cmocka_unit_test(test_sparse__is_what_has_few_of_very_many),
        cmocka_unit_test(test_lists__only_those_that_are_not_sealed_are),
        cmocka_unit_test(test_lists__a_document_that_another_job_has_changed_is_taken_up),
        cmocka_unit_test(test_check__what_another_job_has_changed_is_no_damage),
        cmocka_unit_test(test_check__objects_of_an_array_that_is_held_are_not_stray),
        cmocka_unit_test(test_check__what_is_nested_too_deep_is_not_looked_at),
        cmocka_unit_test(test_check__a_page_that_is_damaged_or_missing_is_found_where_a_shard_is),
        cmocka_unit_test(test_check__of_very_many_shards_ends),
        cmocka_unit_test(test_check__that_fails_anywhere_says_so_or_finds_all),
        cmocka_unit_test(test_check__what_a_resize_has_left_is_told_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
