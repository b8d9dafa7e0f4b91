/* Steps that another program has added to the arrays of a series: refused until somebody says what to do. */
#include "support.h"

#include "array/array.h"
#include "change/change_record.h"
#include "stored.h"
#include "stores/wrapper.h"

enum { STEPS = 2, WIDTH = 3 };

static void create_series(parapet_store *store)
{
    int64_t shape[2] = {0, WIDTH}, chunks[2] = {1, WIDTH}, shards[2] = {STEPS, WIDTH}, start = 0, width = WIDTH;
    const char *names[1] = {"u"};
    parapet_array_spec array = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_series_spec spec = {.count = 1, .names = names, .specs = &array};
    parapet_series *series;
    int32_t data[WIDTH] = {7, 8, 9};
    parapet_part part = {.ndim = 1, .start = &start, .count = &width, .data = data};
    parapet_step step = {&part, 1, {0}};
    int i;
    assert_ok(parapet_series_create(&series, store, "s", &spec));
    for (i = 0; i < STEPS; i++)
        assert_ok(parapet_series_append(series, i, &step));
    assert_ok(parapet_series_close(&series));
}

/* As another program would: without the group knowing of it. */
static void resize(parapet_store *store, const char *path, int64_t steps)
{
    parapet_array_info info;
    parapet_array *array;
    int64_t shape[2];
    assert_ok(parapet_array_open(&array, store, path));
    assert_ok(parapet_array_get_info(array, &info));
    memcpy(shape, info.shape, (size_t)info.ndim * sizeof shape[0]);
    shape[0] = steps;
    assert_ok(parapet_array_resize(array, shape));
    assert_ok(parapet_array_close(&array));
}

static int64_t steps_of(parapet_store *store, const char *path)
{
    parapet_array_info info;
    parapet_array *array;
    int64_t steps;
    assert_ok(parapet_array_open(&array, store, path));
    assert_ok(parapet_array_get_info(array, &info));
    steps = info.shape[0];
    assert_ok(parapet_array_close(&array));
    return steps;
}

static void assert_goes_on_at(parapet_store *store, int64_t steps)
{
    parapet_series_info info;
    parapet_series *series;
    assert_ok(parapet_series_repair(store, "s", PARAPET_BEYOND_REFUSE));
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_ok(parapet_series_get_info(series, &info));
    assert_int_equal(info.steps, steps);
    assert_ok(parapet_series_close(&series));
    assert_int_equal(steps_of(store, "s/u"), steps);
    assert_int_equal(steps_of(store, "s/time"), steps);
}

static void assert_refused(parapet_store *store, const char *word)
{
    parapet_series *series;
    assert_fails(parapet_series_open(&series, store, "s"), PARAPET_ERR_FORMAT, word);
    assert_null(series);
    assert_fails(parapet_series_repair(store, "s", PARAPET_BEYOND_REFUSE), PARAPET_ERR_FORMAT, word);
}

static void test_uncommitted__steps_of_another_program_are_adopted_or_cut_off_when_asked_for(void **state)
{
    parapet_store *store;
    int adopts;
    (void)state;
    for (adopts = 0; adopts < 2; adopts++) {
        stored_open(&store, NULL);
        create_series(store);
        assert_goes_on_at(store, STEPS);
        resize(store, "s/u", STEPS + 3);
        resize(store, "s/time", STEPS + 3);
        assert_refused(store, "has 5 steps, but the group says that 2 are committed");
        assert_int_equal(steps_of(store, "s/u"), STEPS + 3); /* nothing was changed */
        assert_ok(parapet_series_repair(store, "s", adopts ? PARAPET_BEYOND_ADOPT : PARAPET_BEYOND_CUT));
        assert_goes_on_at(store, adopts ? STEPS + 3 : STEPS);
        stored_close(&store);
    }
}

static void test_uncommitted__arrays_of_different_lengths_are_not_adopted(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_series(store);
    resize(store, "s/u", STEPS + 3);
    assert_refused(store, "\"s/u\" has 5 steps");
    assert_int_equal(parapet_series_repair(store, "s", PARAPET_BEYOND_ADOPT), PARAPET_ERR_FORMAT);
    assert_int_equal(steps_of(store, "s/u"), STEPS + 3);
    assert_ok(parapet_series_repair(store, "s", PARAPET_BEYOND_CUT));
    assert_goes_on_at(store, STEPS);
    stored_close(&store);
}

/* A shard where the next row would be, of which the series has left no note. */
static void test_uncommitted__shards_that_nobody_has_noted_are_refused(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_series(store);
    stored_put_text(store, "s/u/c/1/0", "somebody's");
    assert_refused(store, "shards beyond step 1");
    assert_true(stored_has(store, "s/u/c/1/0"));
    assert_ok(parapet_series_repair(store, "s", PARAPET_BEYOND_CUT));
    assert_false(stored_has(store, "s/u/c/1/0"));
    assert_goes_on_at(store, STEPS);
    stored_close(&store);
}

/* The same of three dimensions, where shards are below directories. */
static void test_uncommitted__shards_below_directories_are_found(void **state)
{
    int64_t shape[3] = {0, 2, WIDTH};
    const char *names[1] = {"u"};
    parapet_array_spec array = {.type = PARAPET_INT32, .ndim = 3, .shape = shape};
    parapet_series_spec spec = {.count = 1, .names = names, .specs = &array};
    parapet_series *series;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_series_create(&series, store, "s", &spec));
    assert_ok(parapet_series_close(&series));
    stored_put_text(store, "s/u/c/0/1/0", "somebody's");
    stored_put_text(store, "s/u/c/0/0/0", "somebody's");
    assert_refused(store, "shards beyond step -1");
    assert_ok(parapet_series_repair(store, "s", PARAPET_BEYOND_CUT));
    assert_false(stored_has(store, "s/u/c/0/0/0") || stored_has(store, "s/u/c/0/1/0"));
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_ok(parapet_series_close(&series));
    stored_close(&store);
}

/* Keys in which a dot separates the numbers have no directories for layers: nothing is looked for there. */
static void test_uncommitted__keys_with_dots_are_left_alone(void **state)
{
    static const char *const keys[2] = {"s/u/zarr.json", "s/time/zarr.json"};
    parapet_series *series;
    parapet_store *store;
    int i;
    (void)state;
    stored_open(&store, NULL);
    create_series(store);
    for (i = 0; i < 2; i++) {
        size_t bytes;
        char *text = stored_get(store, keys[i], &bytes), *separator = strstr(text, "\"separator\"");
        assert_non_null(separator);
        *strchr(separator, '/') = '.';
        stored_put_text(store, keys[i], text);
        pp_free(text);
    }
    stored_put_text(store, "s/zarr.json",
                    "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"_parapet\":{\"series\":"
                    "{\"dimension\":\"time\",\"arrays\":[\"u\"],\"steps\":2}}}}");
    stored_put_text(store, "s/u/c.1.0", "somebody's");
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_ok(parapet_series_close(&series));
    assert_ok(parapet_series_repair(store, "s", PARAPET_BEYOND_CUT));
    stored_close(&store);
}

/* A log that no series can have written is not believed. */
static void test_uncommitted__records_without_end_are_damage(void **state)
{
    static char zeros[PP_CHANGE_BYTES_MOST + 1];
    parapet_series *series;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_series(store);
    stored_put(store, "s/time/__parapet/changes", zeros, 1);
    assert_goes_on_at(store, STEPS);
    stored_put(store, "s/time/__parapet/changes", zeros, 1 << 10);
    assert_goes_on_at(store, STEPS);
    stored_put(store, "s/time/__parapet/changes", zeros, sizeof zeros);
    assert_fails(parapet_series_open(&series, store, "s"), PARAPET_ERR_CORRUPT, "more than a series writes");
    stored_close(&store);
}

/* ---- What a log of records explains ---- */

/* What a record says: where the series was, where it goes, and what is wrong with it. */
typedef struct noted_row {
    int64_t before, after;
    bool has_other_documents, is_damaged;
} noted_row;

/* As if written down before both arrays got the documents that they have. */
static void put_record(parapet_store *store, const noted_row *of)
{
    static const char *const paths[2] = {"s/u", "s/time"}, *const names[2] = {"u", "time"};
    pp_change change = {0};
    pp_text text = {0};
    parapet_array *array;
    int i;
    assert_ok(pp_change_begin(&change, "time", of->before, of->after));
    for (i = 0; i < 2; i++) {
        unsigned char digest[PP_SHA256_BYTES];
        assert_ok(parapet_array_open(&array, store, paths[i]));
        memcpy(digest, pp_array_document_digest(array), sizeof digest);
        digest[0] ^= of->has_other_documents;
        assert_ok(pp_change_add_array(&change, names[i], digest));
        assert_ok(parapet_array_close(&array));
    }
    assert_ok(pp_change_print(&change, &text));
    text.data[text.bytes - 2] = (char)(text.data[text.bytes - 2] ^ of->is_damaged);
    stored_put(store, "s/time/__parapet/changes", text.data, text.bytes);
    pp_text_free(&text);
    pp_change_clear(&change);
}

static void test_uncommitted__only_what_a_record_tells_of_is_put_right(void **state)
{
    static const struct {
        int64_t steps; /* of the arrays; the group says STEPS */
        noted_row noted;
        bool is_explained;
    } cases[] = {
        {5, {2, 5, false, false}, true},  {5, {2, 5, true, false}, false},  {5, {2, 5, false, true}, false},
        {5, {2, 4, false, false}, false}, {5, {3, 5, false, false}, false}, {5, {1, 2, false, false}, false},
        {1, {1, 2, false, false}, false}, {1, {1, 2, true, false}, false},  {1, {1, 2, false, true}, false},
        {1, {1, 3, false, false}, false}, {1, {0, 2, false, false}, false},
    };
    parapet_series *series;
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stored_open(&store, NULL);
        create_series(store);
        resize(store, "s/u", cases[i].steps);
        resize(store, "s/time", cases[i].steps);
        put_record(store, &cases[i].noted);
        if (cases[i].is_explained) {
            assert_ok(parapet_series_open(&series, store, "s"));
            assert_ok(parapet_series_close(&series));
            assert_goes_on_at(store, STEPS);
        } else {
            assert_refused(store, "but the group says that 2 are committed");
            assert_int_equal(steps_of(store, "s/u"), cases[i].steps);
        }
        stored_close(&store);
    }
}

static void test_uncommitted__a_row_that_was_being_written_without_a_note_is_refused(void **state)
{
    static const noted_row noted = {.before = STEPS, .after = 2 * STEPS};
    parapet_series *series;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_series(store);
    stored_put_text(store, "s/zarr.json",
                    "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"_parapet\":{\"series\":"
                    "{\"dimension\":\"time\",\"arrays\":[\"u\"],\"steps\":2,\"uncertain\":true}}}}");
    assert_refused(store, "has left no note of it");
    put_record(store, &noted);
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_ok(parapet_series_close(&series));
    assert_goes_on_at(store, STEPS);
    stored_close(&store);
}

/* Another first extent of an array in the consolidated metadata of the group. */
static void show(parapet_store *store, const char *extent)
{
    size_t bytes;
    char *text = stored_get(store, "s/zarr.json", &bytes), *first = strstr(text, "\"shape\""), *changed = NULL;
    assert_non_null(first);
    first = strchr(first, '2');
    assert_non_null(first);
    assert_ok(pp_allocate_array(&changed, bytes + strlen(extent) + 1, 1));
    (void)snprintf(changed, bytes + strlen(extent) + 1, "%.*s%s%s", (int)(first - text), text, extent, first + 1);
    stored_put_text(store, "s/zarr.json", changed);
    pp_free(changed);
    pp_free(text);
}

static void test_uncommitted__steps_that_the_group_shows_are_compared(void **state)
{
    static const struct {
        const char *extent, *sentence;
    } cases[] = {
        {"5", "shows 2 to 5"},
        {"1", "shows 1 to 2"},
        {"-2", "shows -1 to 2"},
        {"\"2\"", "shows -1 to 2"},
    };
    static const noted_row noted = {.before = STEPS, .after = 5}, elsewhere = {.before = STEPS, .after = 4};
    parapet_series *series;
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stored_open(&store, NULL);
        create_series(store);
        show(store, cases[i].extent);
        assert_refused(store, cases[i].sentence);
        stored_close(&store);
    }
    stored_open(&store, NULL);
    create_series(store);
    show(store, "5");
    put_record(store, &elsewhere);
    assert_refused(store, "shows 2 to 5");
    put_record(store, &noted);
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_ok(parapet_series_close(&series));
    assert_goes_on_at(store, STEPS);
    stored_close(&store);
}

/* Another word in a document, of the same length. */
static void change_word(parapet_store *store, const char *key, const char *word, const char *other)
{
    size_t bytes;
    char *text = stored_get(store, key, &bytes), *at = strstr(text, word);
    assert_non_null(at);
    memcpy(at, other, strlen(other));
    stored_put(store, key, text, bytes);
    pp_free(text);
}

/* The documents of the arrays and what the group repeats of them check each other. */
static void test_uncommitted__a_document_that_differs_from_its_copy_is_refused(void **state)
{
    static const struct {
        const char *key, *word, *other, *sentence;
    } cases[] = {
        {"s/u/zarr.json", "\"dim_1\"", "\"dim_7\"", "\"s/u/zarr.json\" differs from its copy"},
        {"s/zarr.json", "\"data_type\"", "\"data_typo\"", "differs from its copy"},
        {"s/zarr.json", "\"shape\"", "\"shapf\"", "shows -1 to 2"},
    };
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stored_open(&store, NULL);
        create_series(store);
        change_word(store, cases[i].key, cases[i].word, cases[i].other);
        assert_refused(store, cases[i].sentence);
        change_word(store, cases[i].key, cases[i].other, cases[i].word);
        assert_goes_on_at(store, STEPS);
        stored_close(&store);
    }
}

/* ---- Another job, meanwhile ---- */

/* A store in which another job writes the document of the group just before the records are read. */
typedef struct busy {
    pp_wrapper wrapper;
    bool is_busy;
} busy;

static parapet_status begin(pp_wrapper *wrapper, pp_operation *operation)
{
    static const pp_write_request request = {.key = "s/zarr.json", .staging = "__foreign", .is_small = true};
    busy *self = (busy *)wrapper;
    size_t bytes;
    char *text;
    if (!self->is_busy || strcmp(operation->name, "open") != 0 ||
        strcmp(operation->key, "s/time/__parapet/changes") != 0)
        return PARAPET_OK;
    assert_ok(pp_store_read_all(wrapper->inner, request.key, 1 << 20, &text, &bytes));
    text[bytes - 1] = ' ';
    assert_ok(pp_reallocate(&text, bytes + 1));
    text[bytes] = '}';
    assert_ok(pp_store_write_all(wrapper->inner, &request, text, bytes + 1, PP_PUBLISH_REPLACE));
    pp_free(text);
    return PARAPET_OK;
}

static parapet_status end(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status)
{
    (void)wrapper;
    (void)operation;
    return status;
}

static void release(pp_wrapper *wrapper)
{
    (void)wrapper;
}

static void test_uncommitted__what_another_job_changes_meanwhile_is_no_damage(void **state)
{
    static const pp_wrapper_hooks hooks = {.name = "busy", .begin = begin, .end = end, .free = release};
    busy self = {.is_busy = false};
    parapet_store *store;
    pp_store *inner;
    (void)state;
    assert_ok(pp_store_memory_build(&inner, NULL));
    pp_wrapper_init(&self.wrapper, inner, &hooks);
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, &self.wrapper.store, PARAPET_CREATE, NULL));
    create_series(store);
    resize(store, "s/u", STEPS + 3);
    assert_fails(parapet_series_repair(store, "s", PARAPET_BEYOND_REFUSE), PARAPET_ERR_FORMAT, "has 5 steps");
    self.is_busy = true;
    assert_fails(parapet_series_repair(store, "s", PARAPET_BEYOND_REFUSE), PARAPET_ERR_STALE, "repeat the call");
    self.is_busy = false;
    assert_ok(parapet_store_close(&store));
    pp_store_free(inner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uncommitted__steps_of_another_program_are_adopted_or_cut_off_when_asked_for),
        cmocka_unit_test(test_uncommitted__arrays_of_different_lengths_are_not_adopted),
        cmocka_unit_test(test_uncommitted__shards_that_nobody_has_noted_are_refused),
        cmocka_unit_test(test_uncommitted__shards_below_directories_are_found),
        cmocka_unit_test(test_uncommitted__keys_with_dots_are_left_alone),
        cmocka_unit_test(test_uncommitted__records_without_end_are_damage),
        cmocka_unit_test(test_uncommitted__only_what_a_record_tells_of_is_put_right),
        cmocka_unit_test(test_uncommitted__a_row_that_was_being_written_without_a_note_is_refused),
        cmocka_unit_test(test_uncommitted__steps_that_the_group_shows_are_compared),
        cmocka_unit_test(test_uncommitted__a_document_that_differs_from_its_copy_is_refused),
        cmocka_unit_test(test_uncommitted__what_another_job_changes_meanwhile_is_no_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
