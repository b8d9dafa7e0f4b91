/* What a layout says of itself. */
#include "support.h"

#include "stored.h"

static char *explain(const parapet_array_spec *spec)
{
    parapet_store *store;
    parapet_array *array;
    char *text = NULL;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", spec));
    assert_ok(parapet_array_layout_print(array, &text));
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
    return text;
}

static void assert_says(const parapet_array_spec *spec, const char *word, const char *not_this)
{
    char *text = explain(spec);
    if (strstr(text, word) == NULL || strstr(text, not_this) != NULL)
        fail_msg("not \"%s\", or \"%s\": %s", word, not_this, text);
    parapet_free(text);
}

static void test_explain__one_element_needs_no_shards(void **state)
{
    parapet_array_spec spec = {.type = PARAPET_INT32};
    (void)state;
    assert_says(&spec, "chunks of one element, 4 bytes each", "these are small");
    assert_says(&spec, "not sharded: every chunk is a file, 1 in all", "shards of");
}

static void test_explain__small_and_large_chunks_are_named(void **state)
{
    int64_t shape[1] = {INT64_C(1) << 40}, chunks[1] = {1024}, shards[1] = {1024};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 1, .shape = shape, .chunks = chunks, .shards = shards};
    (void)state;
    assert_says(&spec, "these are small", "these are large");
    assert_says(&spec, "8 KiB each", "MiB each");
    chunks[0] = shards[0] = INT64_C(1) << 17;
    assert_says(&spec, "1 MiB each", "these are");
    chunks[0] = shards[0] = INT64_C(1) << 29;
    assert_says(&spec, "these are large", "these are small");
    assert_says(&spec, "4 GiB each", "KiB");
    shape[0] = 1000;
    chunks[0] = shards[0] = 1000;
    assert_says(&spec, "1000", "these are small"); /* there is nothing else to fetch */
}

/* There is no unit above EiB. */
static void test_explain__shards_of_any_size_are_told(void **state)
{
    int64_t shape[1] = {INT64_C(1) << 52}, chunks[1] = {INT64_C(1) << 31};
    parapet_array_spec spec = {
        .type = PARAPET_RAW, .element_bytes = 1024, .ndim = 1, .shape = shape, .chunks = chunks, .shards = shape};
    (void)state;
    assert_says(&spec, "4 EiB before compression", "PiB");
}

/* An array of texts can be looked at, but has no layout; nor can it be read. */
static void test_explain__elements_of_any_length_have_no_layout(void **state)
{
    parapet_array_parts parts;
    parapet_store *store;
    parapet_array *array;
    char *text = NULL;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "a/zarr.json",
                    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":\"string\","
                    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2]}},"
                    "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":\"\","
                    "\"codecs\":[{\"name\":\"vlen-utf8\"}]}");
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_fails(parapet_array_layout_print(array, &text), PARAPET_ERR_UNSUPPORTED, "");
    assert_int_equal(parapet_array_read(array, NULL, 0), PARAPET_ERR_UNSUPPORTED);
    assert_int_equal(parapet_array_read_local(array, NULL, 0), PARAPET_ERR_UNSUPPORTED);
    assert_int_equal(parapet_array_seal(array), PARAPET_ERR_UNSUPPORTED);
    assert_int_equal(parapet_array_parts_build(&parts, array, 0, MPI_DATATYPE_NULL, NULL), PARAPET_ERR_UNSUPPORTED);
    array->is_broken = true;
    assert_fails(parapet_array_parts_build(&parts, array, 0, MPI_DATATYPE_NULL, NULL), PARAPET_ERR_ARGUMENT,
                 "failed half-way");
    assert_null(text);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explain__one_element_needs_no_shards),
        cmocka_unit_test(test_explain__small_and_large_chunks_are_named),
        cmocka_unit_test(test_explain__shards_of_any_size_are_told),
        cmocka_unit_test(test_explain__elements_of_any_length_have_no_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
