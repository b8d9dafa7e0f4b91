#include "support.h"

#include "base/memory.h"
#include "base/status.h"
#include "zarr/types.h"

typedef struct known_type {
    const char *json;
    parapet_type id;
    size_t element_bytes;
    size_t swap_bytes;
    const char *name;
} known_type;

static parapet_status parse(pp_type *type, const char *text)
{
    pp_json *json;
    parapet_status status = pp_json_parse(&json, text, strlen(text));
    assert_int_equal(status, PARAPET_OK);
    status = pp_type_parse(type, json);
    pp_json_free(json);
    return status;
}

static parapet_status parse_v2(pp_type *type, const char *text, bool *is_big_endian)
{
    pp_json *json;
    parapet_status status = pp_json_parse(&json, text, strlen(text));
    assert_int_equal(status, PARAPET_OK);
    status = pp_type_parse_v2(type, json, is_big_endian);
    pp_json_free(json);
    return status;
}

static void assert_type(const pp_type *type, const known_type *known)
{
    assert_int_equal(type->id, known->id);
    assert_int_equal(type->element_bytes, known->element_bytes);
    assert_int_equal(type->swap_bytes, known->swap_bytes);
    assert_string_equal(type->name, known->name);
}

static const known_type plain_types[] = {
    {"\"bool\"", PARAPET_BOOL, 1, 1, "bool"},
    {"\"int8\"", PARAPET_INT8, 1, 1, "int8"},
    {"\"int16\"", PARAPET_INT16, 2, 2, "int16"},
    {"\"int32\"", PARAPET_INT32, 4, 4, "int32"},
    {"\"int64\"", PARAPET_INT64, 8, 8, "int64"},
    {"\"uint8\"", PARAPET_UINT8, 1, 1, "uint8"},
    {"\"uint16\"", PARAPET_UINT16, 2, 2, "uint16"},
    {"\"uint32\"", PARAPET_UINT32, 4, 4, "uint32"},
    {"\"uint64\"", PARAPET_UINT64, 8, 8, "uint64"},
    {"\"float16\"", PARAPET_FLOAT16, 2, 2, "float16"},
    {"\"float32\"", PARAPET_FLOAT32, 4, 4, "float32"},
    {"\"float64\"", PARAPET_FLOAT64, 8, 8, "float64"},
    {"\"complex64\"", PARAPET_COMPLEX64, 8, 4, "complex64"},
    {"\"complex128\"", PARAPET_COMPLEX128, 16, 8, "complex128"},
    {"\"bfloat16\"", PARAPET_BFLOAT16, 2, 2, "bfloat16"},
};

static void test_type__plain_names_give_sizes_and_come_back(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof plain_types / sizeof plain_types[0]; i++) {
        const known_type *known = &plain_types[i];
        pp_type type, made;
        assert_ok(parse(&type, known->json));
        assert_type(&type, known);
        assert_string_equal(type.json, known->json);
        assert_ok(pp_type_init(&made, known->id, 0, NULL));
        assert_type(&made, known);
        assert_string_equal(made.json, known->json);
        pp_type_clear(&type);
        pp_type_clear(&made);
        assert_string_equal(parapet_type_name(known->id), known->name);
        assert_int_equal(parapet_type_bytes(known->id), known->element_bytes);
        assert_int_equal(parapet_type_from_name(known->name), known->id);
    }
}

static void test_type__those_without_a_fixed_size_say_so(void **state)
{
    (void)state;
    assert_null(parapet_type_name(PARAPET_RAW));
    assert_null(parapet_type_name(PARAPET_VARIABLE));
    assert_null(parapet_type_name(PARAPET_TYPE_OF_ARRAY));
    assert_null(parapet_type_name((parapet_type)99));
    assert_int_equal(parapet_type_bytes(PARAPET_RAW), 0);
    assert_int_equal(parapet_type_bytes(PARAPET_DATETIME64), 8);
    assert_int_equal(parapet_type_from_name("double"), PARAPET_TYPE_OF_ARRAY);
    assert_int_equal(parapet_type_from_name(NULL), PARAPET_TYPE_OF_ARRAY);
    assert_int_equal(parapet_type_from_name("numpy.datetime64"), PARAPET_DATETIME64);
}

static const known_type configured_types[] = {
    {"{\"name\":\"int32\"}", PARAPET_INT32, 4, 4, "int32"},
    {"{\"name\":\"int32\",\"configuration\":{}}", PARAPET_INT32, 4, 4, "int32"},
    {"\"r8\"", PARAPET_RAW, 1, 1, "r8"},
    {"\"r24\"", PARAPET_RAW, 3, 1, "r24"},
    {"{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":5}}", PARAPET_RAW, 5, 1, "raw_bytes[5]"},
    {"{\"name\":\"null_terminated_bytes\",\"configuration\":{\"length_bytes\":4}}", PARAPET_RAW, 4, 1,
     "null_terminated_bytes[4]"},
    {"{\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":12}}", PARAPET_UTF32, 12, 4,
     "fixed_length_utf32[12]"},
    {"{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"ns\",\"scale_factor\":1}}", PARAPET_DATETIME64, 8,
     8, "numpy.datetime64[ns]"},
    {"{\"name\":\"numpy.timedelta64\",\"configuration\":{\"unit\":\"s\",\"scale_factor\":10}}", PARAPET_TIMEDELTA64,
     8, 8, "numpy.timedelta64[10s]"},
    {"{\"name\":\"struct\",\"configuration\":{\"fields\":[{\"name\":\"a\",\"data_type\":\"int32\"},"
     "{\"name\":\"b\",\"data_type\":\"float64\"}]}}",
     PARAPET_STRUCT, 12, 1, "struct[12]"},
    {"{\"name\":\"structured\",\"configuration\":{\"fields\":[[\"a\",\"int8\"],[\"b\",{\"name\":\"raw_bytes\","
     "\"configuration\":{\"length_bytes\":3}}]]}}",
     PARAPET_STRUCT, 4, 1, "structured[4]"},
    {"\"float8_e4m3fn\"", PARAPET_RAW, 1, 1, "float8_e4m3fn"},
    {"\"int4\"", PARAPET_RAW, 1, 1, "int4"},
    {"\"string\"", PARAPET_VARIABLE, 0, 1, "string"},
    {"\"bytes\"", PARAPET_VARIABLE, 0, 1, "bytes"},
};

static void test_type__configured_ones_are_read_and_their_json_reads_the_same(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof configured_types / sizeof configured_types[0]; i++) {
        pp_type type, again;
        assert_ok(parse(&type, configured_types[i].json));
        assert_type(&type, &configured_types[i]);
        assert_ok(parse(&again, type.json));
        assert_type(&again, &configured_types[i]);
        assert_string_equal(again.json, type.json);
        pp_type_clear(&type);
        pp_type_clear(&again);
    }
}

static void test_type__what_is_unknown_or_wrong_is_refused(void **state)
{
    static const char *const unsupported[] = {
        "\"float128\"",
        "\"r7\"",
        "\"r0\"",
        "\"r\"",
        "\"r99999999999999\"",
        "\"Int32\"",
        "{\"name\":\"int32\",\"configuration\":{\"x\":1}}",
        "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"parsec\"}}",
        "{\"name\":\"struct\",\"configuration\":{\"fields\":[{\"name\":\"a\",\"data_type\":\"string\"}]}}",
        ("{\"name\":\"struct\",\"configuration\":{\"fields\":[{\"name\":\"a\",\"data_type\":{\"name\":\"raw_bytes\","
         "\"configuration\":{\"length_bytes\":1048576}}},{\"name\":\"b\",\"data_type\":\"int8\"}]}}")};
    static const char *const wrong[] = {
        "1",
        "null",
        "[]",
        "{}",
        "\"\"",
        "{\"name\":1}",
        "\"a\\u0000\"",
        "{\"name\":\"raw_bytes\"}",
        "{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":0}}",
        "{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":null}}",
        "{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":1099511627776}}",
        "{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":4.0}}",
        "{\"name\":\"raw_bytes\",\"configuration\":[]}",
        "{\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":6}}",
        "{\"name\":\"numpy.datetime64\"}",
        "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"s\",\"scale_factor\":0}}",
        "{\"name\":\"struct\",\"configuration\":{\"fields\":[]}}",
        "{\"name\":\"struct\"}",
        "{\"name\":\"struct\",\"configuration\":{\"fields\":[[\"a\",\"int8\"],[\"a\",\"int8\"]]}}"};
    pp_type type;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++)
        assert_fails(parse(&type, unsupported[i]), PARAPET_ERR_UNSUPPORTED, "");
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_fails(parse(&type, wrong[i]), PARAPET_ERR_FORMAT, "");
    assert_fails(parse(&type, "\"float128\""), PARAPET_ERR_UNSUPPORTED, "data_type \"float128\"");
}

static void test_type__names_are_limited_to_255_bytes(void **state)
{
    char text[300];
    pp_type type;
    (void)state;
    memset(text, 'a', sizeof text);
    text[0] = text[256] = '"';
    text[257] = '\0';
    assert_fails(parse(&type, text), PARAPET_ERR_UNSUPPORTED, "aaa");
    text[256] = 'a';
    text[257] = '"';
    text[258] = '\0';
    assert_fails(parse(&type, text), PARAPET_ERR_FORMAT, "256 bytes");
}

static void test_type__raw_and_times_can_be_made(void **state)
{
    pp_type type;
    (void)state;
    assert_ok(pp_type_init(&type, PARAPET_RAW, 3, NULL));
    assert_string_equal(type.json, "{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":3}}");
    assert_int_equal(type.element_bytes, 3);
    pp_type_clear(&type);
    assert_ok(pp_type_init(&type, PARAPET_DATETIME64, 0, NULL));
    assert_string_equal(type.json,
                        "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"ns\",\"scale_factor\":1}}");
    pp_type_clear(&type);
    assert_ok(pp_type_init(&type, PARAPET_TIMEDELTA64, 0, "D"));
    assert_string_equal(type.name, "numpy.timedelta64[D]");
    pp_type_clear(&type);
    assert_fails(pp_type_init(&type, PARAPET_RAW, 0, NULL), PARAPET_ERR_ARGUMENT, "bytes");
    assert_fails(pp_type_init(&type, PARAPET_RAW, (size_t)1 << 40, NULL), PARAPET_ERR_UNSUPPORTED, "raw_bytes");
    assert_fails(pp_type_init(&type, PARAPET_DATETIME64, 0, "x\"y"), PARAPET_ERR_UNSUPPORTED, "unit");
    assert_fails(pp_type_init(&type, PARAPET_STRUCT, 0, NULL), PARAPET_ERR_ARGUMENT, "type number 20");
    assert_fails(pp_type_init(&type, PARAPET_TYPE_OF_ARRAY, 0, NULL), PARAPET_ERR_ARGUMENT, "type number 0");
}

static void check_v2(const char *dtype, const known_type *known, bool is_big)
{
    pp_type type;
    bool is_big_endian;
    assert_ok(parse_v2(&type, dtype, &is_big_endian));
    assert_type(&type, known);
    assert_int_equal(is_big_endian, is_big);
    assert_string_equal(type.json, known->json);
    pp_type_clear(&type);
}

static void test_type__dtypes_of_v2_are_read(void **state)
{
    static const char *const dtypes[] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2",
                                         "u4", "u8", "f2", "f4", "f8", "c8", "c16"};
    char text[16];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        (void)snprintf(text, sizeof text, "\"<%s\"", dtypes[i]);
        check_v2(text, &plain_types[i], false);
        (void)snprintf(text, sizeof text, "\">%s\"", dtypes[i]);
        check_v2(text, &plain_types[i], plain_types[i].swap_bytes > 1);
    }
    check_v2("\"|b1\"", &plain_types[0], false);
    check_v2("\"|V5\"", &configured_types[4], false);
    check_v2("\"|S4\"", &configured_types[5], false);
    check_v2("\"<U3\"", &configured_types[6], false);
    check_v2("\">U3\"", &configured_types[6], true);
    check_v2("\"<M8[ns]\"", &configured_types[7], false);
    check_v2("\">m8[10s]\"", &configured_types[8], true);
    check_v2("[[\"a\",\"<i4\"],[\"b\",\"<f8\"]]", &configured_types[9], false);
}

static void test_type__objects_of_v2_are_variable(void **state)
{
    pp_type type;
    bool is_big_endian;
    (void)state;
    assert_ok(parse_v2(&type, "\"|O\"", &is_big_endian));
    assert_int_equal(type.id, PARAPET_VARIABLE);
    assert_int_equal(type.element_bytes, 0);
    pp_type_clear(&type);
}

static void test_type__dtypes_of_v2_that_make_no_sense_are_refused(void **state)
{
    static const char *const wrong[] = {"\"\"",
                                        "\"<\"",
                                        "\"<i3\"",
                                        "\"<f16\"",
                                        "\"<c4\"",
                                        "\"<b2\"",
                                        "\"i4 \"",
                                        "\"<x4\"",
                                        "\"|S0\"",
                                        "\"<M8[ns\"",
                                        "\"<M8[]\"",
                                        "\"<M4[s]\"",
                                        "\"<M8[0s]\"",
                                        "\"|V9999999999999999999\"",
                                        "\"<M8[s]x\"",
                                        "\"<i\"",
                                        "1",
                                        "null",
                                        "{}",
                                        "[[\"a\",\"<i4\",[2]]]",
                                        "[[\"a\",\">i4\"]]",
                                        "[[\"a\",\"|O\"]]",
                                        "[1]",
                                        "\"<i4\\u0000\""};
    pp_type type;
    bool is_big_endian;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (parse_v2(&type, wrong[i], &is_big_endian) != PARAPET_ERR_UNSUPPORTED)
            fail_msg("%s: %s", wrong[i], pp_failure_message());
    assert_fails(parse_v2(&type, "[]", &is_big_endian), PARAPET_ERR_FORMAT, "fields");
    assert_fails(parse_v2(&type, "[[\"a\",\"<i4\"],[\"a\",\"<i4\"]]", &is_big_endian), PARAPET_ERR_FORMAT, "twice");
}

typedef struct countdown {
    int left;
} countdown;

static int refuse_at_zero(void *context, size_t bytes)
{
    countdown *count = context;
    (void)bytes;
    return count->left-- == 0;
}

static void test_type__every_failed_allocation_leaves_nothing_behind(void **state)
{
    size_t i;
    int fail_at;
    (void)state;
    for (i = 0; i < sizeof configured_types / sizeof configured_types[0]; i++) {
        pp_json *json;
        parapet_status status = PARAPET_ERR_MEMORY;
        assert_ok(pp_json_parse(&json, configured_types[i].json, strlen(configured_types[i].json)));
        for (fail_at = 0; status != PARAPET_OK; fail_at++) {
            long live = pp_memory_live_count();
            countdown count = {fail_at};
            pp_type type;
            pp_memory_hook_set(refuse_at_zero, &count);
            status = pp_type_parse(&type, json);
            pp_memory_hook_set(NULL, NULL);
            if (status == PARAPET_OK)
                pp_type_clear(&type);
            else
                assert_int_equal(status, PARAPET_ERR_MEMORY);
            assert_int_equal(live, pp_memory_live_count());
        }
        assert_true(fail_at > 1);
        pp_json_free(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_type__plain_names_give_sizes_and_come_back),
        cmocka_unit_test(test_type__those_without_a_fixed_size_say_so),
        cmocka_unit_test(test_type__configured_ones_are_read_and_their_json_reads_the_same),
        cmocka_unit_test(test_type__what_is_unknown_or_wrong_is_refused),
        cmocka_unit_test(test_type__names_are_limited_to_255_bytes),
        cmocka_unit_test(test_type__raw_and_times_can_be_made),
        cmocka_unit_test(test_type__dtypes_of_v2_are_read),
        cmocka_unit_test(test_type__objects_of_v2_are_variable),
        cmocka_unit_test(test_type__dtypes_of_v2_that_make_no_sense_are_refused),
        cmocka_unit_test(test_type__every_failed_allocation_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
