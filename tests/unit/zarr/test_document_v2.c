#include "support.h"

#include "base/memory.h"
#include "zarr/document.h"

typedef struct field {
    const char *name;
    const char *json;
} field;

static const field usual[] = {
    {"zarr_format", "2"},   {"shape", "[5,7]"},  {"chunks", "[2,3]"}, {"dtype", "\"<i4\""},
    {"compressor", "null"}, {"fill_value", "0"}, {"order", "\"C\""},  {"filters", "null"},
};
#define USUAL_COUNT (sizeof usual / sizeof usual[0])

/* The usual .zarray with up to three fields replaced or, with "", left out. */
static pp_json *usual_with(const field *changes, size_t change_count)
{
    pp_json *json, *value;
    size_t i;
    assert_ok(pp_json_object_build(&json));
    for (i = 0; i < USUAL_COUNT + change_count; i++) {
        const field *one = i < USUAL_COUNT ? &usual[i] : &changes[i - USUAL_COUNT];
        if (one->json[0] == '\0') {
            pp_json_remove(json, one->name);
            continue;
        }
        assert_ok(pp_json_parse(&value, one->json, strlen(one->json)));
        assert_ok(pp_json_set(json, one->name, value));
    }
    return json;
}

static parapet_status parse_with(pp_array_document *document, const field *changes, size_t change_count)
{
    pp_json *json = usual_with(changes, change_count);
    parapet_status status = pp_array_document_parse_v2(document, json, NULL);
    pp_json_free(json);
    return status;
}

static void refuse_with(const char *name, const char *json, parapet_status expected, const char *word)
{
    pp_array_document document;
    const field change = {name, json};
    long live = pp_memory_live_count();
    assert_fails(parse_with(&document, &change, 1), expected, word);
    assert_int_equal(live, pp_memory_live_count());
}

static void test_v2__a_usual_array_is_read(void **state)
{
    pp_array_document document;
    (void)state;
    assert_ok(parse_with(&document, NULL, 0));
    assert_int_equal(document.zarr_format, 2);
    assert_int_equal(document.ndim, 2);
    assert_true(document.shape[1] == 7 && document.grid_shape[1] == 3);
    assert_int_equal(document.type.id, PARAPET_INT32);
    assert_true(document.keys.is_v2 && document.keys.separator == '.');
    assert_true(document.is_fill_defined);
    assert_int_equal(document.codecs.count, 1);
    assert_true(document.codecs.codecs[0].id == PP_CODEC_BYTES && !document.codecs.codecs[0].is_big_endian);
    assert_false(document.has_dimension_names);
    assert_int_equal(pp_json_kind_of(document.attributes), PP_JSON_OBJECT);
    pp_array_document_clear(&document);
}

static void test_v2__cannot_be_written(void **state)
{
    pp_array_document document;
    pp_group_document group = {.zarr_format = 2};
    pp_text text = {0};
    (void)state;
    assert_ok(parse_with(&document, NULL, 0));
    assert_fails(pp_array_document_print(&document, &text), PARAPET_ERR_UNSUPPORTED, "v2");
    assert_fails(pp_group_document_print(&group, &text), PARAPET_ERR_UNSUPPORTED, "v2");
    pp_array_document_clear(&document);
}

static void test_v2__byte_order_order_and_separator_become_v3(void **state)
{
    const field changes[] = {
        {"dtype", "\">f8\""}, {"order", "\"F\""}, {"dimension_separator", "\"/\""}, {"fill_value", "null"}};
    pp_array_document document;
    (void)state;
    assert_ok(parse_with(&document, changes, 4));
    assert_int_equal(document.codecs.count, 2);
    assert_int_equal(document.codecs.codecs[0].id, PP_CODEC_TRANSPOSE);
    assert_int_equal(document.codecs.codecs[0].order[0], 1);
    assert_int_equal(document.codecs.codecs[0].order[1], 0);
    assert_true(document.codecs.codecs[1].id == PP_CODEC_BYTES && document.codecs.codecs[1].is_big_endian);
    assert_int_equal(document.keys.separator, '/');
    assert_false(document.is_fill_defined);
    pp_array_document_clear(&document);
}

static void test_v2__filters_come_in_order_and_the_compressor_last(void **state)
{
    const field changes[] = {
        {"filters", "[{\"id\":\"delta\",\"dtype\":\"<i4\",\"astype\":\"<i4\"},{\"id\":\"shuffle\",\"elementsize\":4},"
                    "{\"id\":\"bitround\",\"keepbits\":3},{\"id\":\"quantize\",\"digits\":2,\"dtype\":\"<f4\","
                    "\"astype\":\"<f4\"},{\"id\":\"fletcher32\"},{\"id\":\"crc32\"},{\"id\":\"adler32\"},"
                    "{\"id\":\"crc32c\"}]"},
        {"compressor", "{\"id\":\"zlib\",\"level\":1}"}};
    const pp_codec_id expected[] = {PP_CODEC_BYTES, PP_CODEC_DELTA,   PP_CODEC_SHUFFLE, PP_CODEC_FLETCHER32,
                                    PP_CODEC_CRC32, PP_CODEC_ADLER32, PP_CODEC_CRC32C,  PP_CODEC_ZLIB};
    pp_array_document document;
    int i;
    (void)state;
    assert_ok(parse_with(&document, changes, 2));
    assert_int_equal(document.codecs.count, 8);
    for (i = 0; i < 8; i++)
        assert_int_equal(document.codecs.codecs[i].id, expected[i]);
    assert_int_equal(document.codecs.codecs[1].element_bytes, 4);
    assert_int_equal(document.codecs.codecs[1].delta_kind, PP_DELTA_INTEGER);
    assert_int_equal(document.codecs.codecs[2].element_bytes, 4);
    pp_array_document_clear(&document);
}

static void check_compressor(const char *dtype, const char *compressor, const pp_codec_spec *expected)
{
    const field changes[] = {{"dtype", dtype}, {"compressor", compressor}};
    const pp_codec_spec *codec;
    pp_array_document document;
    assert_ok(parse_with(&document, changes, 2));
    assert_int_equal(document.codecs.count, 2);
    codec = &document.codecs.codecs[1];
    assert_int_equal(codec->id, expected->id);
    assert_int_equal(codec->blosc_shuffle, expected->blosc_shuffle);
    assert_int_equal(codec->blosc_type_bytes, expected->blosc_type_bytes);
    assert_string_equal(codec->blosc_compressor, expected->blosc_compressor);
    pp_array_document_clear(&document);
}

static void test_v2__compressors_are_known(void **state)
{
    (void)state;
    check_compressor("\"<i4\"", "{\"id\":\"zlib\",\"level\":-1}", &(pp_codec_spec){.id = PP_CODEC_ZLIB});
    check_compressor("\"<i4\"", "{\"id\":\"gzip\",\"level\":1}", &(pp_codec_spec){.id = PP_CODEC_GZIP});
    check_compressor("\"<i4\"", "{\"id\":\"zstd\",\"level\":1}", &(pp_codec_spec){.id = PP_CODEC_ZSTD});
    check_compressor("\"<i4\"", "{\"id\":\"lz4\",\"acceleration\":1}", &(pp_codec_spec){.id = PP_CODEC_LZ4});
    check_compressor(
        "\"<i4\"", "{\"id\":\"blosc\",\"cname\":\"zstd\",\"clevel\":5,\"shuffle\":2,\"blocksize\":0}",
        &(pp_codec_spec){
            .id = PP_CODEC_BLOSC, .blosc_shuffle = 2, .blosc_type_bytes = 4, .blosc_compressor = "zstd"});
    check_compressor(
        "\"<i4\"", "{\"id\":\"blosc\",\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":-1,\"blocksize\":0}",
        &(pp_codec_spec){.id = PP_CODEC_BLOSC, .blosc_shuffle = 1, .blosc_type_bytes = 4, .blosc_compressor = "lz4"});
    check_compressor(
        "\"|u1\"", "{\"id\":\"blosc\",\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":-1,\"blocksize\":0}",
        &(pp_codec_spec){.id = PP_CODEC_BLOSC, .blosc_shuffle = 2, .blosc_type_bytes = 1, .blosc_compressor = "lz4"});
}

static void test_v2__what_cannot_be_decoded_is_refused_by_name(void **state)
{
    static const char *const filters[][2] = {
        {"[{\"id\":\"squeeze\"}]", "squeeze"},
        {"[{\"id\":\"delta\",\"dtype\":\"<i4\",\"astype\":\"<i2\"}]", "delta"},
        {"[{\"id\":\"delta\",\"dtype\":\">i4\"}]", "delta"},
        {"[{\"id\":\"delta\",\"dtype\":\"<c8\"}]", "delta"},
        {"[{\"id\":\"quantize\",\"dtype\":\"<f8\",\"astype\":\"<f4\"}]", "quantize"},
        {"[{\"id\":\"crc32\",\"location\":\"end\"}]", "location"},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof filters / sizeof filters[0]; i++)
        refuse_with("filters", filters[i][0], PARAPET_ERR_UNSUPPORTED, filters[i][1]);
    refuse_with("compressor", "{\"id\":\"squeeze\",\"level\":1}", PARAPET_ERR_UNSUPPORTED, "squeeze");
    refuse_with("compressor", "{\"id\":\"blosc\",\"cname\":\"x\"}", PARAPET_ERR_UNSUPPORTED, "cname");
}

static void test_v2__wrong_fields_are_refused(void **state)
{
    (void)state;
    refuse_with("zarr_format", "3", PARAPET_ERR_FORMAT, "zarr_format");
    refuse_with("zarr_format", "", PARAPET_ERR_FORMAT, "zarr_format");
    refuse_with("shape", "", PARAPET_ERR_FORMAT, "shape");
    refuse_with("shape", "[5,\"7\"]", PARAPET_ERR_FORMAT, "shape");
    refuse_with("chunks", "", PARAPET_ERR_FORMAT, "chunks");
    refuse_with("chunks", "[0,1]", PARAPET_ERR_FORMAT, "chunks");
    refuse_with("chunks", "[2]", PARAPET_ERR_FORMAT, "chunks");
    refuse_with("dtype", "", PARAPET_ERR_FORMAT, "dtype");
    refuse_with("dtype", "\"<q9\"", PARAPET_ERR_UNSUPPORTED, "dtype");
    refuse_with("order", "\"A\"", PARAPET_ERR_FORMAT, "order");
    refuse_with("dimension_separator", "\"-\"", PARAPET_ERR_FORMAT, "dimension_separator");
    refuse_with("filters", "{}", PARAPET_ERR_FORMAT, "filters");
    refuse_with("filters", "[1]", PARAPET_ERR_FORMAT, "filters");
    refuse_with("filters", "[{\"id\":\"shuffle\",\"elementsize\":0}]", PARAPET_ERR_FORMAT, "elementsize");
    refuse_with("compressor", "\"zlib\"", PARAPET_ERR_FORMAT, "compressor");
    refuse_with("compressor", "{\"id\":\"blosc\",\"cname\":\"lz4\",\"shuffle\":3}", PARAPET_ERR_FORMAT, "shuffle");
    refuse_with("fill_value", "\"x\"", PARAPET_ERR_FORMAT, "fill_value");
    refuse_with("filters",
                "[{\"id\":\"crc32\"},{\"id\":\"crc32\"},{\"id\":\"crc32\"},{\"id\":\"crc32\"},{\"id\":\"crc32\"},"
                "{\"id\":\"crc32\"},{\"id\":\"crc32\"},{\"id\":\"crc32\"},{\"id\":\"crc32\"},{\"id\":\"crc32\"},"
                "{\"id\":\"crc32\"},{\"id\":\"crc32\"},{\"id\":\"crc32\"},{\"id\":\"crc32\"},{\"id\":\"crc32\"},"
                "{\"id\":\"crc32\"}]",
                PARAPET_ERR_UNSUPPORTED, "16 codecs");
}

static void test_v2__lenient_spellings_are_accepted(void **state)
{
    const field changes[] = {{"filters", "[]"}, {"order", ""}, {"compressor", ""}, {"unknown", "1"}};
    pp_array_document document;
    (void)state;
    assert_ok(parse_with(&document, changes, 4));
    assert_int_equal(document.codecs.count, 1);
    pp_array_document_clear(&document);
}

static void check_dimensions(const char *zattrs, bool has_names)
{
    pp_json *json = usual_with(NULL, 0), *attributes;
    pp_array_document document;
    assert_ok(pp_json_parse(&attributes, zattrs, strlen(zattrs)));
    assert_ok(pp_array_document_parse_v2(&document, json, attributes));
    assert_int_equal(document.has_dimension_names, has_names);
    if (has_names)
        assert_string_equal(document.dimension_names[1], "x");
    assert_true(pp_json_equals(document.attributes, attributes));
    pp_array_document_clear(&document);
    pp_json_free(attributes);
    pp_json_free(json);
}

static void test_v2__dimension_names_come_from_the_attribute_of_xarray(void **state)
{
    (void)state;
    check_dimensions("{\"_ARRAY_DIMENSIONS\":[\"y\",\"x\"],\"a\":1}", true);
    check_dimensions("{\"_ARRAY_DIMENSIONS\":[\"y\"]}", false);
    check_dimensions("{\"_ARRAY_DIMENSIONS\":[\"y\",1]}", false);
    check_dimensions("{\"_ARRAY_DIMENSIONS\":\"yx\"}", false);
    check_dimensions("{}", false);
}

static void test_v2__scalars_and_objects(void **state)
{
    const field scalar[] = {{"shape", "[]"}, {"chunks", "[]"}, {"order", "\"F\""}};
    const field object[] = {{"dtype", "\"|O\""}, {"filters", "[{\"id\":\"vlen-utf8\"}]"}, {"fill_value", "\"\""}};
    pp_array_document document;
    (void)state;
    assert_ok(parse_with(&document, scalar, 3));
    assert_int_equal(document.ndim, 0);
    assert_int_equal(document.codecs.count, 1);
    pp_array_document_clear(&document);
    assert_ok(parse_with(&document, object, 3));
    assert_int_equal(document.type.id, PARAPET_VARIABLE);
    assert_int_equal(document.codecs.count, 0);
    pp_array_document_clear(&document);
}

static void test_v2__groups_are_read(void **state)
{
    pp_json *zgroup, *zattrs, *wrong;
    pp_group_document document;
    (void)state;
    assert_ok(pp_json_parse(&zgroup, "{\"zarr_format\":2}", 17));
    assert_ok(pp_json_parse(&zattrs, "{\"a\":1}", 7));
    assert_ok(pp_json_parse(&wrong, "[1]", 3));
    assert_ok(pp_group_document_parse_v2(&document, zgroup, NULL));
    assert_int_equal(document.zarr_format, 2);
    pp_group_document_clear(&document);
    assert_ok(pp_group_document_parse_v2(&document, zgroup, zattrs));
    assert_true(pp_json_has(document.attributes, "a"));
    pp_group_document_clear(&document);
    assert_fails(pp_group_document_parse_v2(&document, zgroup, wrong), PARAPET_ERR_FORMAT, ".zattrs");
    assert_fails(pp_group_document_parse_v2(&document, wrong, NULL), PARAPET_ERR_FORMAT, ".zgroup");
    pp_json_free(zgroup);
    pp_json_free(zattrs);
    pp_json_free(wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v2__a_usual_array_is_read),
        cmocka_unit_test(test_v2__cannot_be_written),
        cmocka_unit_test(test_v2__byte_order_order_and_separator_become_v3),
        cmocka_unit_test(test_v2__filters_come_in_order_and_the_compressor_last),
        cmocka_unit_test(test_v2__compressors_are_known),
        cmocka_unit_test(test_v2__what_cannot_be_decoded_is_refused_by_name),
        cmocka_unit_test(test_v2__wrong_fields_are_refused),
        cmocka_unit_test(test_v2__lenient_spellings_are_accepted),
        cmocka_unit_test(test_v2__dimension_names_come_from_the_attribute_of_xarray),
        cmocka_unit_test(test_v2__scalars_and_objects),
        cmocka_unit_test(test_v2__groups_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
