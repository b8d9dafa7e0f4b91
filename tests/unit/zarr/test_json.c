#include "support.h"

#include <locale.h>
#include <math.h>
#include <time.h>

#include "base/memory.h"
#include "zarr/json.h"

static pp_json *parsed(const char *text)
{
    pp_json *json = NULL;
    assert_ok(pp_json_parse(&json, text, strlen(text)));
    return json;
}

static void assert_prints(const char *text, bool is_indented, const char *expected)
{
    pp_json *json = parsed(text);
    pp_text printed = {0};
    char *result;
    pp_json_print(json, is_indented, &printed);
    assert_ok(pp_text_finish(&printed, &result));
    assert_string_equal(result, expected);
    pp_free(result);
    pp_json_free(json);
}

static void assert_refused_bytes(const char *text, size_t bytes, const char *word)
{
    pp_json *json = NULL;
    long live = pp_memory_live_count();
    assert_fails(pp_json_parse(&json, text, bytes), PARAPET_ERR_FORMAT, word);
    assert_null(json);
    assert_int_equal(live, pp_memory_live_count());
}

static void assert_refused(const char *text, const char *word)
{
    assert_refused_bytes(text, strlen(text), word);
}

static void test_json__values_are_told_by_kind(void **state)
{
    pp_json *json = parsed("[null, true, 1, 1.0, 1e3, \"a\", [], {}, NaN, -Infinity, 18446744073709551615]");
    const pp_json_kind kinds[] = {PP_JSON_NULL,   PP_JSON_BOOL,   PP_JSON_INTEGER, PP_JSON_NUMBER,
                                  PP_JSON_NUMBER, PP_JSON_STRING, PP_JSON_ARRAY,   PP_JSON_OBJECT,
                                  PP_JSON_NUMBER, PP_JSON_NUMBER, PP_JSON_INTEGER};
    size_t i;
    (void)state;
    assert_int_equal(pp_json_length(json), sizeof kinds / sizeof kinds[0]);
    for (i = 0; i < pp_json_length(json); i++)
        assert_int_equal(pp_json_kind_of(pp_json_element(json, i)), kinds[i]);
    assert_null(pp_json_element(json, 11));
    pp_json_free(json);
}

static void test_json__integers_are_exact_at_both_ends_of_64_bits(void **state)
{
    pp_json *json = parsed("[-9223372036854775808, 9223372036854775807, 9223372036854775808, 18446744073709551615]");
    int64_t low;
    uint64_t high;
    (void)state;
    assert_true(pp_json_get_i64(pp_json_element(json, 0), &low) && low == INT64_MIN);
    assert_false(pp_json_get_u64(pp_json_element(json, 0), &high));
    assert_true(pp_json_get_i64(pp_json_element(json, 1), &low) && low == INT64_MAX);
    assert_true(pp_json_get_u64(pp_json_element(json, 1), &high) && high == INT64_MAX);
    assert_false(pp_json_get_i64(pp_json_element(json, 2), &low));
    assert_true(pp_json_get_u64(pp_json_element(json, 2), &high) && high == UINT64_C(1) << 63);
    assert_true(pp_json_get_u64(pp_json_element(json, 3), &high) && high == UINT64_MAX);
    pp_json_free(json);
    assert_refused("18446744073709551616", "64 bits");
    assert_refused("-9223372036854775809", "64 bits");
    assert_refused("{\"a\":[100000000000000000000000000]}", "64 bits");
}

static void test_json__top_level_scalars_are_values_too(void **state)
{
    pp_json *json = parsed(" 12 ");
    int64_t value;
    (void)state;
    assert_true(pp_json_get_i64(json, &value) && value == 12);
    pp_json_free(json);
    assert_null(parsed("null"));
    assert_prints("12", false, "12");
    assert_prints("\"x\"", false, "\"x\"");
    assert_prints("true", false, "true");
    assert_prints("NaN", false, "\"NaN\"");
}

static void test_json__text_of_numbers_is_kept(void **state)
{
    (void)state;
    assert_prints("[0.10, 1e400, -0.0, 1E3, 123456789012345678.5, 1.0]", false,
                  "[0.10,1e400,-0.0,1E3,123456789012345678.5,1.0]");
    assert_prints("[18446744073709551615,-9223372036854775808]", false,
                  "[18446744073709551615,-9223372036854775808]");
}

static void test_json__bare_nan_and_infinity_are_written_as_strings(void **state)
{
    (void)state;
    assert_prints("{\"a\":NaN,\"b\":[Infinity,-Infinity]}", false,
                  "{\"a\":\"NaN\",\"b\":[\"Infinity\",\"-Infinity\"]}");
    assert_refused("nan", "value was expected");
    assert_refused("-NaN", "value was expected");
    assert_refused("infinity", "value was expected");
}

static void test_json__keys_keep_their_order_and_slashes_stay(void **state)
{
    (void)state;
    assert_prints("{\"z\":1,\"a\":2,\"m\":\"a/b\"}", false, "{\"z\":1,\"a\":2,\"m\":\"a/b\"}");
}

static void test_json__prints_indented_with_plain_lists_on_a_line(void **state)
{
    (void)state;
    assert_prints("{\"a\":[1,2],\"b\":{\"c\":[]},\"d\":{},\"e\":[[1],{}]}", true,
                  "{\n  \"a\": [1, 2],\n  \"b\": {\n    \"c\": []\n  },\n  \"d\": {},\n  \"e\": [\n    [1],\n    "
                  "{}\n  ]\n}");
}

static void test_json__strings_keep_nul_and_unicode(void **state)
{
    pp_json *json = parsed("\"a\\u0000b\\ud83d\\ude00\xc3\xa9\"");
    const char *text;
    size_t bytes;
    (void)state;
    assert_true(pp_json_get_text(json, &text, &bytes));
    assert_int_equal(bytes, 9);
    assert_memory_equal(text, "a\0b\xf0\x9f\x98\x80\xc3\xa9", 9);
    assert_false(pp_json_is_text(json, "a"));
    pp_json_free(json);
    assert_prints("\"a\\u0000b\\ud83d\\ude00\\n\\\"\\\\\\u001f\"", false,
                  "\"a\\u0000b\xf0\x9f\x98\x80\\n\\\"\\\\\\u001f\"");
}

static void test_json__what_is_not_json_is_refused(void **state)
{
    static const char *const texts[] = {"",        " ",      "{",           "[1,]",    "{\"a\":1,}", "{a:1}",
                                        "'a'",     "01",     "1.",          ".5",      "+1",         "1e",
                                        "-",       "[1 2]",  "{}x",         "[] []",   "tru",        "\"a",
                                        "\"\\x\"", "\"\t\"", "\"\\u12g4\"", "{\"a\"}", "{\"a\":}",   "/*c*/ 1",
                                        "[1,,2]",  "]",      "0x10",        "--1"};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_refused(texts[i], "not valid JSON at byte");
}

static void test_json__text_that_is_not_utf8_is_refused(void **state)
{
    static const char *const texts[] = {"\"\x80\"",         "\"\xc0\xaf\"",         "\"\xe0\x80\xaf\"",
                                        "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xf8\x88\x80\x80\"",
                                        "\"\xc3\"",         "\"\xe2\x82\""};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_refused(texts[i], "UTF-8");
    assert_refused("\"\\ud800\"", "surrogate");
    assert_refused("\"\\ud800\\u0041\"", "surrogate");
    assert_refused("\"\\udc00\\ud800\"", "surrogate");
    assert_refused_bytes("[1]\0", 4, "after the end");
}

static void test_json__duplicate_keys_are_refused_also_in_disguise(void **state)
{
    (void)state;
    assert_refused("{\"a\":1,\"b\":2,\"a\":3}", "\"a\" appears twice");
    assert_refused("{\"\":1,\"\":3}", "appears twice");
    assert_refused("{\"x\":{\"ab\":1,\"\\u0061b\":2}}", "appears twice");
    assert_refused("{\"/\":1,\"\\/\":2}", "appears twice");
    assert_refused("{\"\\n\":1,\"\\u000a\":2}", "appears twice");
    assert_refused("{\"\xf0\x9f\x98\x80\":1,\"\\uD83D\\uDE00\":2}", "appears twice");
    assert_refused("{\"\xc3\xa9\":1,\"\\u00e9\":2}", "appears twice");
    assert_refused("{\"\xe2\x82\xac\":1,\"\\u20ac\":2}", "appears twice");
    assert_refused("{\"a\\u0000\":1}", "NUL");
    assert_prints("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}]}", false,
                  "{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}]}");
}

static void test_json__depth_is_limited(void **state)
{
    char text[2 * PP_JSON_MAX_DEPTH + 8] = "";
    pp_json *json;
    size_t i;
    (void)state;
    for (i = 0; i < PP_JSON_MAX_DEPTH; i++) {
        text[i] = '[';
        text[PP_JSON_MAX_DEPTH + i] = ']';
    }
    json = parsed(text);
    pp_json_free(json);
    memset(text, '[', PP_JSON_MAX_DEPTH + 1);
    memset(text + PP_JSON_MAX_DEPTH + 1, ']', PP_JSON_MAX_DEPTH + 1);
    assert_refused(text, "deeper than 64");
}

/* Fills bytes with copies of unit between open and close. */
static char *repeated(size_t bytes, char open, const char *unit, char close)
{
    char *text = malloc(bytes + 1);
    size_t length = strlen(unit), at = 1;
    text[0] = open;
    for (; at + length + 1 < bytes; at += length)
        memcpy(text + at, unit, length);
    text[at - 1] = close; /* over the last comma */
    memset(text + at, ' ', bytes - at);
    text[bytes] = '\0';
    return text;
}

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void check_hostile(char *text, size_t bytes)
{
    double start = seconds();
    pp_json *json = NULL;
    (void)pp_json_parse(&json, text, bytes);
    pp_json_free(json);
    assert_true(seconds() - start < 10 * TEST_SLOWNESS); /* forty times what the longest takes */
    free(text);
}

static void test_json__documents_of_16_mib_of_anything_are_handled_quickly(void **state)
{
    size_t bytes = PP_JSON_MAX_BYTES, at = 1;
    unsigned number = 0;
    char *keys = malloc(bytes + 32);
    (void)state;
    check_hostile(repeated(bytes, '[', "0,", ']'), bytes);
    check_hostile(repeated(bytes, '[', "{},", ']'), bytes);
    check_hostile(repeated(bytes, '[', "[],", ']'), bytes);
    check_hostile(repeated(bytes, '[', "\"\",", ']'), bytes);
    check_hostile(repeated(bytes, '[', "[[[[[[[[[[[[[[[[", ']'), bytes);
    check_hostile(repeated(bytes, '"', "\\u0041\\n,", '"'), bytes);
    keys[0] = '{';
    while (at + 32 < bytes)
        at += (size_t)sprintf(keys + at, "\"%x\":0,", number++);
    keys[at - 1] = '}';
    check_hostile(keys, at);
}

static void test_json__more_than_16_mib_are_refused_unseen(void **state)
{
    char *text = repeated((size_t)PP_JSON_MAX_BYTES + 1, '[', "0,", ']');
    (void)state;
    assert_refused_bytes(text, (size_t)PP_JSON_MAX_BYTES + 1, "more than the limit");
    free(text);
}

static void test_json__an_object_of_100000_keys_is_read(void **state)
{
    size_t at = 1;
    int i;
    char *text = malloc(100000 * 24);
    pp_json *json;
    int64_t value;
    (void)state;
    text[0] = '{';
    for (i = 0; i < 100000; i++)
        at += (size_t)sprintf(text + at, "%s\"key%d\":%d", i > 0 ? "," : "", i, i);
    at += (size_t)sprintf(text + at, "}");
    assert_ok(pp_json_parse(&json, text, at));
    assert_true(pp_json_get_i64(pp_json_member(json, "key99999"), &value) && value == 99999);
    pp_json_free(json);
    free(text);
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_json__no_memory_for_the_scan_is_an_error(void **state)
{
    pp_json *json = NULL;
    parapet_status status;
    (void)state;
    pp_memory_hook_set(refuse_all, NULL);
    status = pp_json_parse(&json, "{\"a\":1}", 7);
    pp_memory_hook_set(NULL, NULL);
    assert_int_equal(status, PARAPET_ERR_MEMORY);
    assert_null(json);
}

static void test_json__members_tell_null_from_absent(void **state)
{
    pp_json *json = parsed("{\"a\":null,\"b\":1}");
    (void)state;
    assert_true(pp_json_has(json, "a"));
    assert_null(pp_json_member(json, "a"));
    assert_false(pp_json_has(json, "c"));
    assert_false(pp_json_has(NULL, "c"));
    assert_null(pp_json_member(NULL, "c"));
    assert_null(pp_json_member(pp_json_member(json, "b"), "c"));
    assert_int_equal(pp_json_length(json), 0);
    pp_json_free(json);
}

static parapet_status collect(void *context, const char *name, pp_json *value)
{
    (void)value;
    strcat(context, name);
    return strcmp(name, "b") == 0 ? PARAPET_ERR_CANCELLED : PARAPET_OK;
}

static void test_json__each_goes_in_order_and_stops_when_told(void **state)
{
    char names[8] = "";
    pp_json *json = parsed("{\"z\":1,\"b\":1,\"c\":1}");
    (void)state;
    assert_int_equal(pp_json_each(json, collect, names), PARAPET_ERR_CANCELLED);
    assert_string_equal(names, "zb");
    pp_json_free(json);
}

static void test_json__getters_refuse_other_kinds(void **state)
{
    pp_json *json = parsed("[1.5, \"1\", true]");
    int64_t integer;
    uint64_t large;
    double number;
    bool flag;
    const char *text;
    size_t bytes;
    (void)state;
    assert_false(pp_json_get_i64(pp_json_element(json, 0), &integer));
    assert_false(pp_json_get_u64(pp_json_element(json, 0), &large));
    assert_false(pp_json_get_i64(pp_json_element(json, 1), &integer));
    assert_false(pp_json_get_double(pp_json_element(json, 1), &number));
    assert_false(pp_json_get_i64(pp_json_element(json, 2), &integer));
    assert_false(pp_json_get_double(pp_json_element(json, 2), &number));
    assert_false(pp_json_get_bool(pp_json_element(json, 0), &flag));
    assert_false(pp_json_get_text(pp_json_element(json, 0), &text, &bytes));
    assert_false(pp_json_get_i64(NULL, &integer));
    assert_true(pp_json_get_double(pp_json_element(json, 0), &number) && number == 1.5);
    pp_json_free(json);
}

static void test_json__a_copy_can_be_changed_alone(void **state)
{
    pp_json *json = parsed("{\"a\":{\"b\":0.10},\"n\":NaN}"), *copy;
    pp_text text = {0};
    (void)state;
    assert_ok(pp_json_duplicate(json, &copy));
    assert_true(pp_json_equals(json, copy));
    assert_ok(pp_json_set(copy, "c", NULL));
    assert_false(pp_json_has(json, "c"));
    assert_false(pp_json_equals(json, copy));
    pp_json_remove(copy, "c");
    pp_json_remove(copy, "n");
    pp_json_print(copy, false, &text);
    assert_string_equal(text.data, "{\"a\":{\"b\":0.10}}");
    pp_text_free(&text);
    pp_json_free(copy);
    pp_json_free(json);
}

static void check_equal(const char *a, const char *b, bool expected)
{
    pp_json *left = parsed(a), *right = parsed(b);
    assert_int_equal(pp_json_equals(left, right), expected);
    assert_int_equal(pp_json_equals(right, left), expected);
    pp_json_free(left);
    pp_json_free(right);
}

static void test_json__equality_ignores_order_of_keys_only(void **state)
{
    (void)state;
    check_equal("{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}", true);
    check_equal("[1,2]", "[2,1]", false);
    check_equal("{\"a\":null}", "{\"b\":null}", false);
    check_equal("{\"a\":1}", "{\"a\":1,\"b\":2}", false);
    check_equal("1", "1.0", false);
    check_equal("[NaN]", "[NaN]", true);
    check_equal("0.0", "-0.0", false);
    check_equal("\"a\"", "\"b\"", false);
    check_equal("true", "false", false);
    check_equal("null", "null", true);
    check_equal("18446744073709551615", "9223372036854775807", false);
}

static void assert_double(double value, const char *expected)
{
    pp_text text = {0};
    pp_json_print_double(value, &text);
    assert_string_equal(text.data, expected);
    pp_text_free(&text);
}

static void test_json__doubles_print_as_short_as_they_can(void **state)
{
    (void)state;
    assert_double(0.1, "0.1");
    assert_double(1, "1.0");
    assert_double(-0.0, "-0.0");
    assert_double(1e22, "1e+22");
    assert_double(5e-324, "5e-324");
    assert_double(1.7976931348623157e308, "1.7976931348623157e+308");
    assert_double(1.0 / 3, "0.3333333333333333");
    assert_double(123456, "123456.0");
    assert_double(-1000, "-1000.0");
    assert_double(1e15, "1000000000000000.0");
    assert_double(1e16, "1e+16");
    assert_double(NAN, "\"NaN\"");
    assert_double(-INFINITY, "\"-Infinity\"");
}

static void test_json__random_doubles_read_back_as_they_were(void **state)
{
    test_random random = test_random_start();
    int i;
    (void)state;
    for (i = 0; i < 20000; i++) {
        uint64_t bits = test_random_next(&random);
        double value, back;
        pp_text text = {0};
        pp_json *json;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        pp_json_print_double(value, &text);
        assert_ok(pp_json_parse(&json, text.data, text.bytes));
        assert_int_equal(pp_json_kind_of(json), PP_JSON_NUMBER);
        assert_true(pp_json_get_double(json, &back));
        assert_memory_equal(&value, &back, sizeof value);
        pp_json_free(json);
        pp_text_free(&text);
    }
}

static void test_json__the_locale_does_not_matter(void **state)
{
    (void)state;
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL)
        skip();
    assert_double(0.1, "0.1");
    assert_double(1.5e300, "1.5e+300");
    assert_prints("[1.5]", false, "[1.5]");
    (void)setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json__values_are_told_by_kind),
        cmocka_unit_test(test_json__integers_are_exact_at_both_ends_of_64_bits),
        cmocka_unit_test(test_json__top_level_scalars_are_values_too),
        cmocka_unit_test(test_json__text_of_numbers_is_kept),
        cmocka_unit_test(test_json__bare_nan_and_infinity_are_written_as_strings),
        cmocka_unit_test(test_json__keys_keep_their_order_and_slashes_stay),
        cmocka_unit_test(test_json__prints_indented_with_plain_lists_on_a_line),
        cmocka_unit_test(test_json__strings_keep_nul_and_unicode),
        cmocka_unit_test(test_json__what_is_not_json_is_refused),
        cmocka_unit_test(test_json__text_that_is_not_utf8_is_refused),
        cmocka_unit_test(test_json__duplicate_keys_are_refused_also_in_disguise),
        cmocka_unit_test(test_json__depth_is_limited),
        cmocka_unit_test(test_json__documents_of_16_mib_of_anything_are_handled_quickly),
        cmocka_unit_test(test_json__more_than_16_mib_are_refused_unseen),
        cmocka_unit_test(test_json__an_object_of_100000_keys_is_read),
        cmocka_unit_test(test_json__no_memory_for_the_scan_is_an_error),
        cmocka_unit_test(test_json__members_tell_null_from_absent),
        cmocka_unit_test(test_json__each_goes_in_order_and_stops_when_told),
        cmocka_unit_test(test_json__getters_refuse_other_kinds),
        cmocka_unit_test(test_json__a_copy_can_be_changed_alone),
        cmocka_unit_test(test_json__equality_ignores_order_of_keys_only),
        cmocka_unit_test(test_json__doubles_print_as_short_as_they_can),
        cmocka_unit_test(test_json__random_doubles_read_back_as_they_were),
        cmocka_unit_test(test_json__the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
