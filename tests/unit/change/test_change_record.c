/* Records of changes: only what a change has written counts, and what it says of arrays. */
#include "support.h"

#include "base/memory.h"
#include "change/change_record.h"
#include "codec/crc32c.h"

#define HEAD "extend: time\nbefore: 3\nafter: 5\nid: 0123456789abcdef\n"
#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DOCUMENT "document: " DIGEST "\n"
#define TIME "array: time\n" DOCUMENT

enum { TEXT_BYTES = 1000 };

/* With the sum that belongs to the lines. */
static size_t sign(char text[TEXT_BYTES], const char *lines, size_t bytes)
{
    assert_true(bytes + 20 < TEXT_BYTES);
    memcpy(text, lines, bytes);
    return bytes +
           (size_t)snprintf(text + bytes, TEXT_BYTES - bytes, "crc32c: %08x\n", (unsigned)pp_crc32c(0, lines, bytes));
}

static parapet_status parse(const char *lines, size_t bytes)
{
    pp_change change = {0};
    char text[TEXT_BYTES];
    size_t signed_bytes = sign(text, lines, bytes);
    parapet_status status = pp_change_parse(&change, text, signed_bytes);
    pp_change_clear(&change);
    return status;
}

static void test_change__is_what_was_written_or_refused(void **state)
{
    static const char *const right[] = {
        HEAD TIME,
        HEAD "array: deep/t\n" DOCUMENT TIME "group: /\ngroup: deep\n",
    };
    static const char *const wrong[] = {
        "",
        TIME,
        HEAD,
        HEAD "array: deep/t\n" DOCUMENT,
        HEAD TIME TIME,
        HEAD "array: ../time\n" DOCUMENT TIME,
        HEAD "array: __parapet\n" DOCUMENT TIME,
        HEAD TIME "group: ..\n",
        HEAD TIME "something: else\n",
        HEAD "array: t\n" TIME,
        HEAD "array: time\n",
        HEAD DOCUMENT TIME,
        HEAD TIME DOCUMENT,
        HEAD "array: time\ndocument: 0123\n",
        HEAD "array: time\ndocument: X123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
        "extend: time\nbefore: \nafter: 5\nid: 0123456789abcdef\n" TIME,
        "extend: time\nbefore: 3x\nafter: 5\nid: 0123456789abcdef\n" TIME,
        "extend: time\nbefore: -3\nafter: 5\nid: 0123456789abcdef\n" TIME,
        "extend: time\nbefore: 03\nafter: 5\nid: 0123456789abcdef\n" TIME,
        "extend: time\nbefore: 5\nafter: 5\nid: 0123456789abcdef\n" TIME,
        "extend: time\nbefore: 3\nafter: 5\nid: 0123\n" TIME,
        "extend: time\nbefore: 3\nafter: 99999999999999999999\nid: 0123456789abcdef\n" TIME,
        "extend: time\nextend: time\nbefore: 3\nafter: 5\nid: 0123456789abcdef\n" TIME,
        "before: 3\nextend: time\nafter: 5\nid: 0123456789abcdef\n" TIME,
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_ok(parse(right[i], strlen(right[i])));
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (parse(wrong[i], strlen(wrong[i])) != PARAPET_ERR_FORMAT)
            fail_msg("taken for a record: %s", wrong[i]);
    assert_int_equal(parse(HEAD TIME "\0", sizeof HEAD TIME), PARAPET_ERR_FORMAT);
}

static void test_change__is_whole_and_has_its_sum(void **state)
{
    char text[TEXT_BYTES];
    size_t bytes = sign(text, HEAD TIME, strlen(HEAD TIME)), i;
    (void)state;
    for (i = 0; i < bytes; i++) {
        pp_change change = {0};
        char cut[TEXT_BYTES] = {0}, flipped[TEXT_BYTES] = {0};
        memcpy(cut, text, i);
        memcpy(flipped, text, bytes);
        flipped[i] ^= 1;
        assert_int_equal(pp_change_parse(&change, cut, i), PARAPET_ERR_FORMAT);
        pp_change_clear(&change);
        assert_int_equal(pp_change_parse(&change, flipped, bytes), PARAPET_ERR_FORMAT);
        pp_change_clear(&change);
    }
}

static void begin(pp_change *change, int64_t before, int64_t after, const unsigned char *digest)
{
    *change = (pp_change){0};
    assert_ok(pp_change_begin(change, "time", before, after));
    assert_ok(pp_change_add_array(change, "t", digest));
    assert_ok(pp_change_add_array(change, "time", digest));
    assert_ok(pp_change_add_group(change, ""));
}

static void test_change__prints_and_parses_and_is_known_by_its_id(void **state)
{
    static const unsigned char digest[PP_SHA256_BYTES] = {1, 2, 3};
    pp_change change, other, parsed = {0};
    pp_text text = {0};
    (void)state;
    begin(&change, 3, 5, digest);
    begin(&other, 3, 5, digest);
    assert_ok(pp_change_print(&change, &text));
    assert_ok(pp_change_parse(&parsed, text.data, text.bytes));
    assert_int_equal(parsed.before, 3);
    assert_int_equal(parsed.after, 5);
    assert_int_equal(parsed.count, 2);
    assert_int_equal(parsed.group_count, 1);
    assert_string_equal(parsed.arrays[1], "time");
    assert_string_equal(parsed.groups[0], "");
    assert_true(pp_change_is(&change, text.data));
    assert_false(pp_change_is(&other, text.data));
    assert_false(pp_change_is(&change, "something"));
    pp_text_free(&text);
    pp_change_clear(&change);
    pp_change_clear(&other);
    pp_change_clear(&parsed);
}

static void test_change__explains_only_what_it_has_made_longer(void **state)
{
    static const unsigned char digest[PP_SHA256_BYTES] = {1}, another[PP_SHA256_BYTES] = {2};
    pp_change change;
    (void)state;
    begin(&change, 3, 5, digest);
    assert_true(pp_change_explains(&change, 0, 3, 5, digest));
    assert_false(pp_change_explains(&change, 0, 3, 5, another));
    assert_false(pp_change_explains(&change, 0, 3, 6, digest));
    assert_false(pp_change_explains(&change, 0, 5, 3, digest));
    assert_false(pp_change_explains(&change, 2, 3, 5, digest));
    pp_change_clear(&change);
}

/* Before, between and behind whole records may be anything: torn by a crash, or damaged. */
static void test_change_log__counts_whole_records_only(void **state)
{
    static const unsigned char digest[PP_SHA256_BYTES] = {1};
    static const char *const damage[] = {"", "something\n", "crc32c: 00000000\n",
                                         "extend: time\nbefore: 1\ncrc32c: 12", "\ncrc32c: 0\n\n"};
    size_t i, count = sizeof damage / sizeof damage[0];
    pp_change_log log = {0};
    pp_text text = {0};
    (void)state;
    for (i = 0; i < count; i++) {
        pp_change change;
        begin(&change, (int64_t)i, (int64_t)i + 1, digest);
        pp_text_add(&text, "%s%s", damage[i], i == 3 ? "\n" : "");
        if (i != 3) {
            pp_text record = {0};
            assert_ok(pp_change_print(&change, &record));
            pp_text_add_bytes(&text, record.data, record.bytes);
            pp_text_free(&record);
        }
        pp_change_clear(&change);
    }
    pp_text_add(&text, HEAD); /* torn */
    assert_ok(pp_change_log_parse(&log, text.data));
    assert_int_equal(log.count, 2);
    assert_int_equal(log.records[0].before, 0);
    assert_int_equal(log.records[1].before, 2);
    pp_change_log_clear(&log);
    pp_text_free(&text);
    assert_ok(pp_change_log_parse(&log, (char[]){""}));
    assert_int_equal(log.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change__is_what_was_written_or_refused),
        cmocka_unit_test(test_change__is_whole_and_has_its_sum),
        cmocka_unit_test(test_change__prints_and_parses_and_is_known_by_its_id),
        cmocka_unit_test(test_change__explains_only_what_it_has_made_longer),
        cmocka_unit_test(test_change_log__counts_whole_records_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
