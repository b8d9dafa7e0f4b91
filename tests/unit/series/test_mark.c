/* The mark of a series in the document of its group: one that no series has is refused, whoever has written it, and
 * nothing is changed. */
#include "support.h"

#include "stored.h"

static void create_series(parapet_store *store)
{
    int64_t shape[2] = {0, 4};
    const char *names[2] = {"u", "w"};
    parapet_array_spec array = {.type = PARAPET_INT32, .ndim = 2, .shape = shape};
    parapet_series_spec spec = {.count = 2, .names = names, .specs = (parapet_array_spec[]){array, array}};
    parapet_series *series;
    assert_ok(parapet_series_create(&series, store, "s", &spec));
    assert_ok(parapet_series_close(&series));
}

/* The document of the group, with something else under attributes._parapet. */
static void put_mark(parapet_store *store, const char *mark)
{
    char text[1000];
    (void)snprintf(text, sizeof text, "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"_parapet\":%s}}",
                   mark);
    stored_put_text(store, "s/zarr.json", text);
}

typedef struct mark_case {
    const char *mark;
    parapet_status status;
    const char *sentence;
} mark_case;

static void test_mark__one_that_no_series_has_is_refused(void **state)
{
    static const mark_case cases[] = {
        {"{}", PARAPET_ERR_NOT_FOUND, "not a series"},
        {"7", PARAPET_ERR_NOT_FOUND, "not a series"},
        {"{\"series\":[]}", PARAPET_ERR_NOT_FOUND, "not a series"},
        {"{\"sesies\":{}}", PARAPET_ERR_FORMAT, "a member \"sesies\""},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":[\"u\"],\"stebs\":3}}", PARAPET_ERR_FORMAT,
         "a member \"stebs\""},
        {"{\"series\":{\"arrays\":[\"u\"]}}", PARAPET_ERR_FORMAT, "an invalid name"},
        {"{\"series\":{\"dimension\":7,\"arrays\":[\"u\"]}}", PARAPET_ERR_FORMAT, "an invalid name"},
        {"{\"series\":{\"dimension\":\"ti\\u0000me\",\"arrays\":[\"u\"]}}", PARAPET_ERR_FORMAT, "an invalid name"},
        {"{\"series\":{\"dimension\":\"a/b\",\"arrays\":[\"u\"]}}", PARAPET_ERR_FORMAT, "an invalid name"},
        {"{\"series\":{\"dimension\":\"\",\"arrays\":[\"u\"]}}", PARAPET_ERR_FORMAT, "an invalid name"},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":[\"..\"]}}", PARAPET_ERR_FORMAT, "an invalid name"},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":[\"\"]}}", PARAPET_ERR_FORMAT, "an invalid name"},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":[\"u\",\"__parapet\"]}}", PARAPET_ERR_FORMAT,
         "an invalid name"},
        {"{\"series\":{\"dimension\":\"time\"}}", PARAPET_ERR_FORMAT, "has no arrays"},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":[]}}", PARAPET_ERR_FORMAT, "has no arrays"},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":{\"u\":1}}}", PARAPET_ERR_FORMAT,
         "attributes._parapet.series"},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":[\"u\",\"u\"]}}", PARAPET_ERR_FORMAT, "names \"u\" twice"},
        {"{\"series\":{\"dimension\":\"u\",\"arrays\":[\"u\"]}}", PARAPET_ERR_FORMAT, "names \"u\" twice"},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":[\"a\",\"w\",\"a\"]}}", PARAPET_ERR_FORMAT,
         "names \"a\" twice"},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":[\"u\"],\"steps\":-1}}", PARAPET_ERR_FORMAT,
         "not a number of steps"},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":[\"u\"],\"steps\":\"1\"}}", PARAPET_ERR_FORMAT,
         "not a number of steps"},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":[\"u\"],\"steps\":0,\"uncertain\":1}}", PARAPET_ERR_FORMAT,
         "neither true nor false"},
        {"{\"series\":{\"dimension\":\"time\",\"arrays\":[\"v\"],\"steps\":0}}", PARAPET_ERR_NOT_FOUND, "s/v"},
    };
    parapet_series *series;
    parapet_store *store;
    size_t i, bytes;
    char *before, *after;
    (void)state;
    stored_open(&store, NULL);
    create_series(store);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_mark(store, cases[i].mark);
        before = stored_get(store, "s/zarr.json", &bytes);
        assert_fails(parapet_series_open(&series, store, "s"), cases[i].status, cases[i].sentence);
        assert_null(series);
        assert_fails(parapet_series_repair(store, "s", PARAPET_BEYOND_CUT), cases[i].status, cases[i].sentence);
        assert_fails(parapet_series_repair(store, "s", PARAPET_BEYOND_REFUSE), cases[i].status, cases[i].sentence);
        after = stored_get(store, "s/zarr.json", &bytes);
        assert_string_equal(before, after);
        pp_free(before);
        pp_free(after);
    }
    stored_close(&store);
}

static void test_mark__what_is_no_group_of_zarr_3_is_no_series(void **state)
{
    parapet_series *series;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_series(store);
    assert_fails(parapet_series_open(&series, store, "s/u"), PARAPET_ERR_ARGUMENT, "is an array, not a series");
    stored_put_text(store, "old/.zgroup", "{\"zarr_format\":2}");
    assert_fails(parapet_series_open(&series, store, "old"), PARAPET_ERR_NOT_FOUND, "without a zarr.json");
    stored_put_text(store, "files/notes.txt", "somebody's");
    assert_fails(parapet_series_open(&series, store, "files"), PARAPET_ERR_NOT_FOUND, "not a series");
    stored_close(&store);
}

/* The arrays that it names must be what a series has made. */
static void test_mark__arrays_of_another_form_are_no_series(void **state)
{
    static const char *const bare = "{\"series\":{\"dimension\":\"time\",\"arrays\":[\"u\",\"w\"],\"steps\":0}}";
    int64_t shapes[2][2] = {{0, 4}, {0, 1}}, shards[2] = {7, 4};
    parapet_array_spec scalar = {.type = PARAPET_INT32},
                       wide = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shapes[1]};
    parapet_array_spec whole = {.type = PARAPET_INT64, .ndim = 1, .shape = shapes[1]};
    parapet_array_spec longer = {.type = PARAPET_INT32, .ndim = 2, .shape = shapes[0], .shards = shards};
    const struct {
        const char *path, *sentence;
        const parapet_array_spec *spec;
    } cases[] = {
        {"s/u", "is not an array of a series", &scalar},
        {"s/time", "is not an array of a series", &wide},
        {"s/time", "is not an array of a series", &whole},
        {"s/w", "cover another number of steps", &longer},
    };
    parapet_series *series;
    parapet_store *store;
    parapet_array *array;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parapet_array_spec spec = *cases[i].spec;
        spec.overwrite = 1;
        stored_open(&store, NULL);
        create_series(store);
        assert_ok(parapet_array_create(&array, store, cases[i].path, &spec));
        assert_ok(parapet_array_close(&array));
        put_mark(store, bare);
        assert_fails(parapet_series_open(&series, store, "s"), PARAPET_ERR_FORMAT, cases[i].sentence);
        stored_close(&store);
    }
}

/* A document of an array with steps of one element each; no shards are stored. */
static void put_array(parapet_store *store, const char *path, int64_t steps, int64_t chunk, const char *codec)
{
    bool is_coordinate = strcmp(path, "s/time") == 0;
    char text[1000], key[64];
    (void)snprintf(text, sizeof text,
                   "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[%lld%s],\"data_type\":\"%s\","
                   "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[%lld%s]}},"
                   "\"chunk_key_encoding\":{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}},"
                   "\"fill_value\":0,\"codecs\":[{\"name\":\"%s\",\"configuration\":{\"endian\":\"little\"}}],"
                   "\"attributes\":{}}",
                   (long long)steps, is_coordinate ? "" : ",1", is_coordinate ? "float64" : "int32", (long long)chunk,
                   is_coordinate ? "" : ",1", codec);
    (void)snprintf(key, sizeof key, "%s/zarr.json", path);
    stored_put_text(store, key, text);
}

static void put_series_of_one(parapet_store *store, int64_t steps, int64_t row, int64_t chunk)
{
    char mark[200];
    (void)snprintf(mark, sizeof mark, "{\"series\":{\"dimension\":\"time\",\"arrays\":[\"u\"],\"steps\":%lld}}",
                   (long long)steps);
    put_mark(store, mark);
    put_array(store, "s/u", steps, row, "bytes");
    put_array(store, "s/time", steps, chunk, "bytes");
}

/* A series whose documents say that it has nearly as many steps as 63 bits count: no number wraps. */
static void test_mark__steps_that_cannot_be_counted_are_refused(void **state)
{
    static const struct {
        int64_t steps, row, chunk; /* the last is of the coordinate */
        bool is_kept;              /* the row is not full */
        const char *sentence;
    } cases[] = {
        {INT64_MAX / 8, 1, 1, false, "s/time"},
        {INT64_MAX / 8, 1, 4, false, "s/time"},
        {INT64_MAX / 8, 3, 4, true, "s/time"},
    };
    int64_t start = 0, count = 1;
    int32_t value = 7;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = &value};
    parapet_step step = {&part, 1, {0}};
    parapet_series_info info;
    parapet_series *series;
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stored_open(&store, NULL);
        put_series_of_one(store, cases[i].steps, cases[i].row, cases[i].chunk);
        assert_ok(parapet_series_open(&series, store, "s"));
        if (cases[i].is_kept) {
            assert_ok(parapet_series_append(series, 0, &step));
            assert_fails(parapet_series_flush(series), PARAPET_ERR_ARGUMENT, cases[i].sentence);
            assert_fails(parapet_series_close(&series), PARAPET_ERR_ARGUMENT, cases[i].sentence);
        } else {
            assert_fails(parapet_series_append(series, 0, &step), PARAPET_ERR_ARGUMENT, cases[i].sentence);
            assert_ok(parapet_series_close(&series));
        }
        assert_ok(parapet_series_open(&series, store, "s"));
        assert_ok(parapet_series_get_info(series, &info));
        assert_true(info.steps == cases[i].steps);
        assert_ok(parapet_series_close(&series));
        stored_close(&store);
    }
    stored_open(&store, NULL);
    put_series_of_one(store, INT64_MAX / 4, 1, 1);
    assert_fails(parapet_series_open(&series, store, "s"), PARAPET_ERR_FORMAT, "more bytes than 63 bits");
    stored_close(&store);
}

static void test_mark__no_series_begins_where_an_append_was_interrupted(void **state)
{
    const char *names[] = {"u"};
    const parapet_array_spec steps = {.type = PARAPET_INT32, .ndim = 1, .shape = (const int64_t[]){0}};
    const parapet_series_spec spec = {.count = 1, .names = names, .specs = &steps};
    parapet_series *series;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "a/zarr.json", "{\"zarr_format\": 3, \"node_type\": \"group\"}");
    stored_put_text(store, "a/__parapet/change", "");
    assert_fails(parapet_series_create(&series, store, "a/s", &spec), PARAPET_ERR_EXISTS, "was interrupted");
    assert_fails(parapet_series_create(&series, store, "a", &spec), PARAPET_ERR_EXISTS, "was interrupted");
    assert_false(stored_has(store, "a/s/zarr.json"));
    stored_close(&store);
}

/* Arrays that cannot be decoded, or that only others can write, make the whole series one that cannot go on. */
static void test_mark__arrays_that_cannot_be_written_end_a_series(void **state)
{
    parapet_series *series;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    put_series_of_one(store, 0, 2, 2);
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_ok(parapet_series_close(&series));
    put_array(store, "s/u", 0, 2, "squeeze");
    assert_fails(parapet_series_open(&series, store, "s"), PARAPET_ERR_UNSUPPORTED, "squeeze");
    assert_ok(pp_store_remove(store->backend, "s/u/zarr.json"));
    stored_put_text(store, "s/u/.zarray",
                    "{\"zarr_format\":2,\"shape\":[0,1],\"chunks\":[2,1],\"dtype\":\"<i4\",\"compressor\":null,"
                    "\"fill_value\":0,\"order\":\"C\",\"filters\":null}");
    assert_fails(parapet_series_open(&series, store, "s"), PARAPET_ERR_UNSUPPORTED, "only be read");
    stored_close(&store);
}

/* A creation that was interrupted has left no steps: what has some is not replaced, whatever the group says. */
static void test_mark__a_creation_that_was_interrupted_replaces_no_steps(void **state)
{
    static const char *const begun = "{\"series\":{\"dimension\":\"time\",\"arrays\":[\"u\",\"w\"]}}";
    int64_t shape[2] = {0, 4};
    const char *names[2] = {"u", "w"};
    parapet_array_spec array = {.type = PARAPET_INT32, .ndim = 2, .shape = shape};
    parapet_series_spec spec = {.count = 2, .names = names, .specs = (parapet_array_spec[]){array, array}};
    parapet_series *series;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_series(store);
    put_mark(store, begun);
    put_array(store, "s/u", 5, 2, "bytes");
    assert_fails(parapet_series_create(&series, store, "s", &spec), PARAPET_ERR_EXISTS, "\"s/u\" has steps");
    assert_true(stored_contains(store, "s/u/zarr.json", "[5,1]"));
    stored_put_text(store, "s/u/zarr.json", "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[]}");
    assert_fails(parapet_series_create(&series, store, "s", &spec), PARAPET_ERR_EXISTS, "\"s/u\" has steps");
    put_array(store, "s/u", 0, 2, "bytes");
    assert_ok(parapet_series_create(&series, store, "s", &spec));
    assert_ok(parapet_series_close(&series));
    assert_false(stored_contains(store, "s/u/zarr.json", "[0,1]"));
    stored_close(&store);
}

/* What is no array or group of Zarr is nobody's place, and an array goes where its spec says so. */
static void test_mark__a_series_is_made_over_what_it_may_replace(void **state)
{
    int64_t shape[2] = {0, 4};
    const char *names[2] = {"u", "w"};
    parapet_array_spec array = {.type = PARAPET_INT32, .ndim = 2, .shape = shape};
    parapet_array_spec specs[2] = {array, array};
    parapet_series_spec spec = {.count = 2, .names = names, .specs = specs};
    parapet_series *series;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "s/u/notes.txt", "somebody's");
    put_array(store, "s/w", 5, 2, "bytes");
    assert_fails(parapet_series_create(&series, store, "s", &spec), PARAPET_ERR_EXISTS, "s/w");
    specs[1].overwrite = 1;
    assert_ok(parapet_series_create(&series, store, "s", &spec));
    assert_ok(parapet_series_close(&series));
    assert_true(stored_has(store, "s/u/notes.txt"));
    stored_reopen(&store, PARAPET_READ, NULL);
    assert_fails(parapet_series_create(&series, store, "r", &spec), PARAPET_ERR_ARGUMENT, "open for reading");
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mark__no_series_begins_where_an_append_was_interrupted),
        cmocka_unit_test(test_mark__one_that_no_series_has_is_refused),
        cmocka_unit_test(test_mark__what_is_no_group_of_zarr_3_is_no_series),
        cmocka_unit_test(test_mark__arrays_of_another_form_are_no_series),
        cmocka_unit_test(test_mark__steps_that_cannot_be_counted_are_refused),
        cmocka_unit_test(test_mark__arrays_that_cannot_be_written_end_a_series),
        cmocka_unit_test(test_mark__a_creation_that_was_interrupted_replaces_no_steps),
        cmocka_unit_test(test_mark__a_series_is_made_over_what_it_may_replace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
