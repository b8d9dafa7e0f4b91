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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mark__one_that_no_series_has_is_refused),
        cmocka_unit_test(test_mark__what_is_no_group_of_zarr_3_is_no_series),
        cmocka_unit_test(test_mark__arrays_of_another_form_are_no_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
