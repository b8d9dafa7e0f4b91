#include "support.h"

#include <math.h>

#include "base/memory.h"
#include "zarr/types.h"

/* A type from its v3 JSON, and a fill value from JSON text. */
static parapet_status fill_of(const char *type_json, const char *fill, int format, unsigned char *element)
{
    pp_json *json, *value;
    pp_type type;
    bool is_defined;
    parapet_status status;
    assert_ok(pp_json_parse(&json, type_json, strlen(type_json)));
    assert_ok(pp_type_parse(&type, json));
    assert_ok(pp_json_parse(&value, fill, strlen(fill)));
    status = pp_fill_parse(&type, value, format, element, &is_defined);
    if (status == PARAPET_OK)
        assert_int_equal(is_defined, value != NULL);
    pp_type_clear(&type);
    pp_json_free(json);
    pp_json_free(value);
    return status;
}

static void check_print(const char *type_json, const void *element, const char *expected)
{
    pp_json *json;
    pp_type type;
    pp_text text = {0};
    assert_ok(pp_json_parse(&json, type_json, strlen(type_json)));
    assert_ok(pp_type_parse(&type, json));
    assert_ok(pp_fill_print(&type, element, &text));
    assert_string_equal(text.data, expected);
    pp_text_free(&text);
    pp_type_clear(&type);
    pp_json_free(json);
}

/* fill reads as the bytes, little-endian, and the bytes print as printed. */
static void check_fill(const char *type_json, const char *fill, uint64_t bits, const char *printed)
{
    unsigned char element[16] = {0};
    uint64_t got;
    assert_ok(fill_of(type_json, fill, 3, element));
    memcpy(&got, element, sizeof got);
    if (got != bits)
        fail_msg("%s of %s is %llx", fill, type_json, (unsigned long long)got);
    check_print(type_json, element, printed);
}

static void refuse_fill(const char *type_json, const char *fill)
{
    unsigned char element[64];
    assert_fails(fill_of(type_json, fill, 3, element), PARAPET_ERR_FORMAT, "fill_value");
}

static void test_fill__integers_reach_both_ends_of_their_type(void **state)
{
    (void)state;
    check_fill("\"int8\"", "-128", 0x80, "-128");
    check_fill("\"int8\"", "127", 0x7f, "127");
    check_fill("\"uint8\"", "255", 0xff, "255");
    check_fill("\"int16\"", "-32768", 0x8000, "-32768");
    check_fill("\"uint16\"", "65535", 0xffff, "65535");
    check_fill("\"int32\"", "-2147483648", 0x80000000, "-2147483648");
    check_fill("\"uint32\"", "4294967295", 0xffffffff, "4294967295");
    check_fill("\"int64\"", "-9223372036854775808", UINT64_C(1) << 63, "-9223372036854775808");
    check_fill("\"int64\"", "9223372036854775807", INT64_MAX, "9223372036854775807");
    check_fill("\"uint64\"", "18446744073709551615", UINT64_MAX, "18446744073709551615");
    check_fill("\"uint64\"", "9223372036854775809", (UINT64_C(1) << 63) + 1, "9223372036854775809");
}

static void test_fill__integers_out_of_range_are_refused(void **state)
{
    static const char *const wrong[][2] = {
        {"\"int8\"", "128"},         {"\"int8\"", "-129"},         {"\"uint8\"", "256"},
        {"\"uint8\"", "-1"},         {"\"int16\"", "32768"},       {"\"uint16\"", "65536"},
        {"\"int32\"", "2147483648"}, {"\"uint32\"", "4294967296"}, {"\"int64\"", "9223372036854775808"},
        {"\"uint64\"", "-1"},        {"\"uint64\"", "1e20"},       {"\"int64\"", "1e19"},
        {"\"int32\"", "1.5"},        {"\"int32\"", "NaN"},         {"\"int32\"", "\"NaN\""},
        {"\"int32\"", "\"1\""},      {"\"int32\"", "true"},        {"\"int32\"", "[1]"},
        {"\"int32\"", "Infinity"},   {"\"int32\"", "1e400"},       {"\"bool\"", "1"},
        {"\"bool\"", "\"true\""},    {"\"uint8\"", "-1.0"},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refuse_fill(wrong[i][0], wrong[i][1]);
}

static void test_fill__integers_may_be_written_as_whole_numbers(void **state)
{
    (void)state;
    check_fill("\"int32\"", "0.0", 0, "0");
    check_fill("\"int32\"", "1e3", 1000, "1000");
    check_fill("\"int32\"", "-2.0", 0xfffffffe, "-2");
    check_fill("\"uint8\"", "-0.0", 0, "0");
}

static void test_fill__floats_and_their_special_values(void **state)
{
    (void)state;
    check_fill("\"float32\"", "1.5", 0x3fc00000, "1.5");
    check_fill("\"float32\"", "0", 0, "0.0");
    check_fill("\"float32\"", "-0.0", 0x80000000, "-0.0");
    check_fill("\"float32\"", "0.1", 0x3dcccccd, "0.1");
    check_fill("\"float32\"", "\"NaN\"", 0x7fc00000, "\"NaN\"");
    check_fill("\"float32\"", "NaN", 0x7fc00000, "\"NaN\"");
    check_fill("\"float32\"", "\"Infinity\"", 0x7f800000, "\"Infinity\"");
    check_fill("\"float32\"", "\"-Infinity\"", 0xff800000, "\"-Infinity\"");
    check_fill("\"float32\"", "\"0x7fc00001\"", 0x7fc00001, "\"0x7fc00001\"");
    check_fill("\"float32\"", "\"0x3FC00000\"", 0x3fc00000, "1.5");
    check_fill("\"float32\"", "\"0xffc00000\"", 0xffc00000, "\"0xffc00000\"");
    check_fill("\"float32\"", "\"0x0\"", 0, "0.0");
    check_fill("\"float64\"", "\"NaN\"", UINT64_C(0x7ff8000000000000), "\"NaN\"");
    check_fill("\"float64\"", "\"0x7ff8000000000001\"", UINT64_C(0x7ff8000000000001), "\"0x7ff8000000000001\"");
    check_fill("\"float64\"", "0.1", UINT64_C(0x3fb999999999999a), "0.1");
    check_fill("\"float64\"", "18446744073709551615", UINT64_C(0x43f0000000000000), "1.8446744073709552e+19");
    check_fill("\"float16\"", "1.5", 0x3e00, "1.5");
    check_fill("\"float16\"", "65504", 0x7bff, "65504.0");
    check_fill("\"float16\"", "\"NaN\"", 0x7e00, "\"NaN\"");
    check_fill("\"float16\"", "\"0x7e01\"", 0x7e01, "\"0x7e01\"");
    check_fill("\"float16\"", "\"-Infinity\"", 0xfc00, "\"-Infinity\"");
    check_fill("\"bfloat16\"", "1.5", 0x3fc0, "1.5");
    check_fill("\"bfloat16\"", "\"NaN\"", 0x7fc0, "\"NaN\"");
}

static void test_fill__floats_refuse_other_text(void **state)
{
    static const char *const wrong[] = {
        "\"nan\"", "\"0x\"", "\"0x7fc000010\"", "\"0xg\"",       "\"7fc00000\"", "\"\"", "true",
        "[1]",     "{}",     "\"Inf\"",         "\"0x1\\u0000\""};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refuse_fill("\"float32\"", wrong[i]);
}

/* Rounding to float16 against a search over all of them. */
static double half_value(unsigned bits)
{
    unsigned exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value = exponent == 0 ? ldexp(mantissa, -24) : ldexp(mantissa + 1024.0, (int)exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

static void check_half(double value, unsigned expected)
{
    char text[64];
    unsigned char element[2];
    uint16_t got;
    (void)snprintf(text, sizeof text, "%.17g", value);
    assert_ok(fill_of("\"float16\"", text, 3, element));
    memcpy(&got, element, sizeof got);
    if (got != expected)
        fail_msg("%s gives %04x instead of %04x", text, got, expected);
}

static void test_fill__float16_rounds_half_to_even(void **state)
{
    unsigned bits;
    (void)state;
    for (bits = 0; bits < 0x7bff; bits += bits < 2100 ? 1 : 7) {
        double low = half_value(bits), high = half_value(bits + 1), middle = (low + high) / 2;
        check_half(low, bits);
        check_half(middle, bits + (bits & 1));
        check_half(nextafter(middle, 0), bits);
        check_half(nextafter(middle, 1e9), bits + 1);
    }
    check_half(65519.999, 0x7bff);
    check_half(65520, 0x7c00);
    check_half(1e30, 0x7c00);
}

static void test_fill__every_float16_and_bfloat16_reads_back_as_printed(void **state)
{
    static const char *const types[] = {"\"float16\"", "\"bfloat16\""};
    unsigned bits, i;
    (void)state;
    for (i = 0; i < 2; i++) {
        pp_json *json;
        pp_type type;
        assert_ok(pp_json_parse(&json, types[i], strlen(types[i])));
        assert_ok(pp_type_parse(&type, json));
        pp_json_free(json);
        for (bits = 0; bits < 0x10000; bits++) {
            uint16_t element = (uint16_t)bits, back = 0;
            pp_text text = {0};
            bool is_defined;
            assert_ok(pp_fill_print(&type, &element, &text));
            assert_ok(pp_json_parse(&json, text.data, text.bytes));
            assert_ok(pp_fill_parse(&type, json, 3, &back, &is_defined));
            assert_int_equal(back, bits);
            pp_json_free(json);
            pp_text_free(&text);
        }
        pp_type_clear(&type);
    }
}

static void test_fill__random_float32_read_back_as_printed(void **state)
{
    test_random random = test_random_start();
    int i;
    (void)state;
    for (i = 0; i < 20000; i++) {
        uint32_t bits = (uint32_t)test_random_next(&random), back = 0;
        pp_type type;
        pp_text text = {0};
        pp_json *json;
        bool is_defined;
        assert_ok(pp_type_init(&type, PARAPET_FLOAT32, 0, NULL));
        assert_ok(pp_fill_print(&type, &bits, &text));
        assert_true(text.bytes <= 20);
        assert_ok(pp_json_parse(&json, text.data, text.bytes));
        assert_ok(pp_fill_parse(&type, json, 3, &back, &is_defined));
        assert_int_equal(back, bits);
        pp_json_free(json);
        pp_text_free(&text);
        pp_type_clear(&type);
    }
}

static void test_fill__complex_numbers_are_pairs(void **state)
{
    double pair[2];
    float single[2];
    (void)state;
    assert_ok(fill_of("\"complex128\"", "[\"-Infinity\", 0.5]", 3, (unsigned char *)pair));
    assert_true(isinf(pair[0]) && pair[0] < 0 && pair[1] == 0.5);
    check_print("\"complex128\"", pair, "[\"-Infinity\",0.5]");
    assert_ok(fill_of("\"complex64\"", "[\"NaN\", 1]", 3, (unsigned char *)single));
    assert_true(isnan(single[0]) && single[1] == 1.0f);
    check_print("\"complex64\"", single, "[\"NaN\",1.0]");
    refuse_fill("\"complex64\"", "1");
    refuse_fill("\"complex64\"", "[1]");
    refuse_fill("\"complex64\"", "[1,2,3]");
    refuse_fill("\"complex64\"", "[1,\"x\"]");
    refuse_fill("\"complex64\"", "[1,null]");
}

static void test_fill__booleans_and_times(void **state)
{
    const char *time = "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"ns\",\"scale_factor\":1}}";
    (void)state;
    check_fill("\"bool\"", "true", 1, "true");
    check_fill("\"bool\"", "false", 0, "false");
    check_fill(time, "\"NaT\"", UINT64_C(1) << 63, "\"NaT\"");
    check_fill(time, "-9223372036854775808", UINT64_C(1) << 63, "\"NaT\"");
    check_fill(time, "-5", UINT64_MAX - 4, "-5");
    refuse_fill(time, "1.0");
    refuse_fill(time, "\"2020\"");
}

static void test_fill__null_and_absent_are_zero_and_undefined(void **state)
{
    pp_type type;
    uint32_t element = 7;
    bool is_defined = true;
    (void)state;
    assert_ok(pp_type_init(&type, PARAPET_UINT32, 0, NULL));
    assert_ok(pp_fill_parse(&type, NULL, 3, &element, &is_defined));
    assert_int_equal(element, 0);
    assert_false(is_defined);
    pp_type_clear(&type);
}

static void test_fill__opaque_bytes(void **state)
{
    const char *raw = "{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":3}}";
    const char *text = "{\"name\":\"null_terminated_bytes\",\"configuration\":{\"length_bytes\":4}}";
    (void)state;
    check_fill("\"r16\"", "[1,2]", 0x0201, "[1,2]");
    check_fill(raw, "\"AQID\"", 0x030201, "\"AQID\"");
    check_fill(raw, "\"AAAA\"", 0, "\"AAAA\"");
    check_fill(text, "\"YWI=\"", 0x6261, "\"YWI=\"");
    check_fill(text, "\"\"", 0, "\"\"");
    check_fill("\"float8_e4m3fn\"", "0", 0, "0");
    check_fill("\"float8_e4m3fn\"", "0.0", 0, "0");
    check_fill("\"float8_e4m3fn\"", "\"0x7f\"", 0x7f, "\"0x7f\"");
    refuse_fill("\"r16\"", "[1]");
    refuse_fill("\"r16\"", "[1,256]");
    refuse_fill("\"r16\"", "[1,-1]");
    refuse_fill("\"r16\"", "[1,2.0]");
    refuse_fill(raw, "\"AQI=\"");
    refuse_fill(raw, "\"AQIDBA==\"");
    refuse_fill(raw, "\"AQI\"");
    refuse_fill(raw, "\"A=ID\"");
    refuse_fill(raw, "\"====\"");
    refuse_fill(raw, "0");
    refuse_fill(text, "\"AAAAAAA=\"");
}

static void test_fill__small_numbers_other_than_zero_are_not_supported(void **state)
{
    unsigned char element[1];
    (void)state;
    assert_fails(fill_of("\"float8_e5m2\"", "1.5", 3, element), PARAPET_ERR_UNSUPPORTED, "fill_value");
    assert_fails(fill_of("\"int4\"", "3", 3, element), PARAPET_ERR_UNSUPPORTED, "fill_value");
    assert_fails(fill_of("\"int4\"", "\"0x123\"", 3, element), PARAPET_ERR_UNSUPPORTED, "fill_value");
}

static void test_fill__fixed_text_is_utf32(void **state)
{
    const char *type = "{\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":12}}";
    uint32_t points[3];
    const uint32_t lone[3] = {0xD800, 0, 0}, inner[3] = {'a', 0, 'b'};
    pp_json *json;
    pp_type parsed;
    pp_text text = {0};
    (void)state;
    assert_ok(fill_of(type, "\"a\xc3\xa9\xf0\x9f\x98\x80\"", 3, (unsigned char *)points));
    assert_true(points[0] == 'a' && points[1] == 0xe9 && points[2] == 0x1f600);
    check_print(type, points, "\"a\xc3\xa9\xf0\x9f\x98\x80\"");
    assert_ok(fill_of(type, "\"\xe2\x82\xac\"", 3, (unsigned char *)points));
    assert_true(points[0] == 0x20ac && points[1] == 0);
    check_print(type, points, "\"\xe2\x82\xac\"");
    check_print(type, inner, "\"a\\u0000b\"");
    refuse_fill(type, "\"abcd\"");
    refuse_fill(type, "1");
    assert_ok(pp_json_parse(&json, type, strlen(type)));
    assert_ok(pp_type_parse(&parsed, json));
    assert_fails(pp_fill_print(&parsed, lone, &text), PARAPET_ERR_ARGUMENT, "not a character");
    pp_text_free(&text);
    pp_type_clear(&parsed);
    pp_json_free(json);
}

static void test_fill__records_by_field_or_base64(void **state)
{
    const char *type = "{\"name\":\"struct\",\"configuration\":{\"fields\":[{\"name\":\"a\",\"data_type\":\"int16\"},"
                       "{\"name\":\"b\",\"data_type\":\"uint8\"}]}}";
    const char *old =
        "{\"name\":\"structured\",\"configuration\":{\"fields\":[[\"a\",\"int16\"],[\"b\",\"uint8\"]]}}";
    (void)state;
    check_fill(type, "{\"a\":-2,\"b\":7}", 0x07fffe, "{\"a\":-2,\"b\":7}");
    check_fill(type, "\"/v8H\"", 0x07fffe, "{\"a\":-2,\"b\":7}");
    check_fill(old, "\"/v8H\"", 0x07fffe, "\"/v8H\"");
    check_fill(old, "{\"b\":7,\"a\":-2}", 0x07fffe, "\"/v8H\"");
    refuse_fill(type, "{\"a\":1}");
    refuse_fill(type, "{\"a\":1,\"b\":300}");
    refuse_fill(type, "[1,2]");
}

static void test_fill__of_v2_is_more_lenient(void **state)
{
    unsigned char element[16];
    (void)state;
    assert_ok(fill_of("\"bool\"", "1", 2, element));
    assert_int_equal(element[0], 1);
    assert_ok(fill_of("{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":3}}", "\"AQI=\"", 2, element));
    assert_memory_equal(element, "\1\2\0", 3);
    assert_ok(fill_of("{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":3}}", "0", 2, element));
    assert_memory_equal(element, "\0\0\0", 3);
    assert_ok(fill_of("{\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":4}}", "0", 2, element));
    assert_memory_equal(element, "\0\0\0\0", 4);
    assert_fails(fill_of("\"bool\"", "2", 2, element), PARAPET_ERR_FORMAT, "fill_value");
}

static void test_fill__of_variable_length_may_be_anything_but_is_not_written(void **state)
{
    pp_json *json;
    pp_type type;
    pp_text text = {0};
    unsigned char none[1];
    (void)state;
    assert_ok(fill_of("\"string\"", "\"x\"", 3, none));
    assert_ok(fill_of("\"bytes\"", "[1,2]", 3, none));
    assert_ok(pp_json_parse(&json, "\"string\"", 8));
    assert_ok(pp_type_parse(&type, json));
    assert_fails(pp_fill_print(&type, none, &text), PARAPET_ERR_UNSUPPORTED, "fill_value");
    pp_type_clear(&type);
    pp_json_free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill__integers_reach_both_ends_of_their_type),
        cmocka_unit_test(test_fill__integers_out_of_range_are_refused),
        cmocka_unit_test(test_fill__integers_may_be_written_as_whole_numbers),
        cmocka_unit_test(test_fill__floats_and_their_special_values),
        cmocka_unit_test(test_fill__floats_refuse_other_text),
        cmocka_unit_test(test_fill__float16_rounds_half_to_even),
        cmocka_unit_test(test_fill__every_float16_and_bfloat16_reads_back_as_printed),
        cmocka_unit_test(test_fill__random_float32_read_back_as_printed),
        cmocka_unit_test(test_fill__complex_numbers_are_pairs),
        cmocka_unit_test(test_fill__booleans_and_times),
        cmocka_unit_test(test_fill__null_and_absent_are_zero_and_undefined),
        cmocka_unit_test(test_fill__opaque_bytes),
        cmocka_unit_test(test_fill__small_numbers_other_than_zero_are_not_supported),
        cmocka_unit_test(test_fill__fixed_text_is_utf32),
        cmocka_unit_test(test_fill__records_by_field_or_base64),
        cmocka_unit_test(test_fill__of_v2_is_more_lenient),
        cmocka_unit_test(test_fill__of_variable_length_may_be_anything_but_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
