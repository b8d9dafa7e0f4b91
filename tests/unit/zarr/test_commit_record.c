/* The commit record: what is written reads back, and nothing else does. */
#include "support.h"

#include "base/memory.h"
#include "codec/crc32c.h"
#include "zarr/commit_record.h"

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void fill_digest(unsigned char digest[PP_SHA256_BYTES], unsigned char from)
{
    size_t i;
    for (i = 0; i < PP_SHA256_BYTES; i++)
        digest[i] = (unsigned char)(from + 7 * i);
}

/* A record with these arrays; clear it. */
static void fill_commit(pp_commit *commit, int64_t generation, const char *const *names, size_t count)
{
    unsigned char digest[PP_SHA256_BYTES];
    size_t i;
    *commit = (pp_commit){.generation = generation, .is_durable = true};
    assert_ok(pp_text_duplicate(&commit->group, "g00000007-1"));
    fill_digest(commit->document, 3);
    for (i = 0; i < count; i++) {
        fill_digest(digest, (unsigned char)(100 + i));
        assert_ok(pp_commit_add(commit, names[i], digest));
    }
}

static void print_three(pp_text *text)
{
    static const char *const names[] = {"velocity", "density", "temp\xc3\xa9rature 2"};
    pp_commit commit;
    fill_commit(&commit, 7, names, 3);
    pp_commit_print(&commit, text);
    assert_int_equal(text->status, PARAPET_OK);
    pp_commit_clear(&commit);
}

static void assert_same(const pp_commit *one, const pp_commit *other)
{
    size_t i;
    assert_int_equal(one->generation, other->generation);
    assert_string_equal(one->group, other->group);
    assert_int_equal(one->is_durable, other->is_durable);
    assert_memory_equal(one->document, other->document, PP_SHA256_BYTES);
    assert_int_equal(one->array_count, other->array_count);
    for (i = 0; i < one->array_count; i++) {
        assert_string_equal(one->arrays[i].name, other->arrays[i].name);
        assert_memory_equal(one->arrays[i].document, other->arrays[i].document, PP_SHA256_BYTES);
    }
}

static void check_reads_back(int64_t generation, const char *const *names, size_t count, bool is_durable)
{
    pp_commit commit, again;
    pp_text text = {0};
    fill_commit(&commit, generation, names, count);
    commit.is_durable = is_durable;
    pp_commit_print(&commit, &text);
    assert_ok(pp_commit_parse(&again, text.data, text.bytes));
    assert_same(&commit, &again);
    pp_commit_clear(&commit);
    pp_commit_clear(&again);
    pp_text_free(&text);
}

static void test_commit__reads_back(void **state)
{
    static const char *const names[] = {"c", "a", "b", "aa", "A", "-", "x y", "\xc3\xa9"};
    long live = pp_memory_live_count();
    size_t count;
    (void)state;
    for (count = 0; count <= sizeof names / sizeof names[0]; count++)
        check_reads_back(1 + (int64_t)count, names, count, count % 2 == 0);
    check_reads_back(99999999, names, 1, true);
    check_reads_back(100000000, names, 1, true);
    check_reads_back(PP_COMMIT_LAST_GENERATION, names, 1, true);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_commit__many_arrays_read_back_in_the_order_of_their_names(void **state)
{
    enum { MANY = 1000 };
    unsigned char digest[PP_SHA256_BYTES] = {0};
    pp_commit commit, again;
    pp_text text = {0};
    char name[16];
    int i;
    (void)state;
    fill_commit(&commit, 1, NULL, 0);
    for (i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "a%03d", (i * 7 + 3) % MANY);
        assert_ok(pp_commit_add(&commit, name, digest));
    }
    pp_commit_print(&commit, &text);
    assert_ok(pp_commit_parse(&again, text.data, text.bytes));
    assert_int_equal(again.array_count, MANY);
    for (i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "a%03d", i);
        assert_string_equal(again.arrays[i].name, name);
    }
    pp_commit_clear(&commit);
    pp_commit_clear(&again);
    pp_text_free(&text);
}

static void test_commit__is_the_text_that_is_documented(void **state)
{
    static const char expected[] = "parapet commit 1\n"
                                   "generation 7\n"
                                   "group g00000007-1\n"
                                   "durable yes\n"
                                   "document 030a11181f262d343b424950575e656c737a81888f969da4abb2b9c0c7ced5dc\n"
                                   "array 656c737a81888f969da4abb2b9c0c7ced5dce3eaf1f8ff060d141b222930373e density\n";
    pp_text text = {0};
    (void)state;
    print_three(&text);
    assert_true(text.bytes > sizeof expected);
    assert_memory_equal(text.data, expected, sizeof expected - 1);
    pp_text_free(&text);
}

/* Parsing must fail, and leave nothing behind. In memory of its own, so that a sanitizer sees reading beyond it. */
static void assert_refused(const char *text, size_t bytes)
{
    pp_commit commit;
    long live = pp_memory_live_count();
    char *own = malloc(bytes > 0 ? bytes : 1);
    parapet_status status;
    assert_non_null(own);
    memcpy(own, text, bytes);
    status = pp_commit_parse(&commit, own, bytes);
    if (status != PARAPET_ERR_CORRUPT && status != PARAPET_ERR_UNSUPPORTED)
        fail_msg("%s for a record of %zu bytes:\n%.*s", parapet_status_name(status), bytes, (int)bytes, text);
    pp_commit_clear(&commit);
    free(own);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_commit__every_flipped_bit_is_found(void **state)
{
    pp_text text = {0};
    size_t bit;
    (void)state;
    print_three(&text);
    for (bit = 0; bit < 8 * text.bytes; bit++) {
        text.data[bit / 8] = (char)(text.data[bit / 8] ^ (1 << bit % 8));
        assert_refused(text.data, text.bytes);
        text.data[bit / 8] = (char)(text.data[bit / 8] ^ (1 << bit % 8));
    }
    pp_text_free(&text);
}

static void test_commit__every_other_length_is_refused(void **state)
{
    pp_text text = {0};
    char *longer;
    size_t bytes;
    (void)state;
    print_three(&text);
    for (bytes = 0; bytes < text.bytes; bytes++)
        assert_refused(text.data, bytes);
    longer = malloc(text.bytes + 64);
    assert_non_null(longer);
    memset(longer, '\n', text.bytes + 64);
    memcpy(longer, text.data, text.bytes);
    for (bytes = text.bytes + 1; bytes <= text.bytes + 64; bytes++)
        assert_refused(longer, bytes);
    free(longer);
    pp_text_free(&text);
}

/* The lines with the checksum that belongs to them. */
static void sign(pp_text *text, const char *lines, size_t bytes)
{
    *text = (pp_text){0};
    pp_text_add_bytes(text, lines, bytes);
    pp_text_add(text, "crc32c %08x\n", (unsigned)pp_crc32c(0, lines, bytes));
    assert_int_equal(text->status, PARAPET_OK);
}

static void assert_lines_refused(const char *lines, size_t bytes)
{
    pp_text text;
    sign(&text, lines, bytes);
    assert_refused(text.data, text.bytes);
    pp_text_free(&text);
}

#define FIRST "parapet commit 1\n"
#define NUMBER "generation 7\n"
#define GROUP "group g00000007\n"
#define DURABLE "durable yes\n"
#define DOCUMENT "document " DIGEST "\n"
#define HEAD FIRST NUMBER GROUP DURABLE DOCUMENT
#define ARRAY(name) "array " DIGEST " " name "\n"

static void test_commit__lines_as_they_should_be_are_accepted(void **state)
{
    static const char *const sound[] = {HEAD, HEAD ARRAY("a"), HEAD ARRAY("a") ARRAY("b")};
    pp_commit commit;
    pp_text text;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof sound / sizeof sound[0]; i++) {
        sign(&text, sound[i], strlen(sound[i]));
        assert_ok(pp_commit_parse(&commit, text.data, text.bytes));
        assert_int_equal(commit.array_count, i);
        pp_commit_clear(&commit);
        pp_text_free(&text);
    }
}

static void test_commit__hostile_lines_with_the_right_checksum_are_refused(void **state)
{
    static const char *const hostile[] = {
        "",
        "\n",
        "parapet commit 2\n" NUMBER GROUP DURABLE DOCUMENT,
        "parapet commit 1 \n" NUMBER GROUP DURABLE DOCUMENT,
        FIRST GROUP DURABLE DOCUMENT,
        FIRST NUMBER DURABLE DOCUMENT,
        FIRST NUMBER GROUP DOCUMENT,
        FIRST NUMBER GROUP DURABLE,
        FIRST NUMBER GROUP DURABLE ARRAY("a"),
        FIRST GROUP NUMBER DURABLE DOCUMENT,
        FIRST NUMBER NUMBER GROUP DURABLE DOCUMENT,
        FIRST "generation 0\n" GROUP DURABLE DOCUMENT,
        FIRST "generation 007\n" GROUP DURABLE DOCUMENT,
        FIRST "generation -7\n" GROUP DURABLE DOCUMENT,
        FIRST "generation +7\n" GROUP DURABLE DOCUMENT,
        FIRST "generation 7 \n" GROUP DURABLE DOCUMENT,
        FIRST "generation  7\n" GROUP DURABLE DOCUMENT,
        FIRST "generation\n" GROUP DURABLE DOCUMENT,
        FIRST "generation \n" GROUP DURABLE DOCUMENT,
        FIRST "generation 7e3\n" GROUP DURABLE DOCUMENT,
        FIRST "generation 1000000000000000000\n" GROUP DURABLE DOCUMENT,
        FIRST "generation 9223372036854775808\n" GROUP DURABLE DOCUMENT,
        FIRST "generation 1000000000000000000000000000000\n" GROUP DURABLE DOCUMENT,
        FIRST NUMBER "group \n" DURABLE DOCUMENT,
        FIRST NUMBER "group ..\n" DURABLE DOCUMENT,
        FIRST NUMBER "group .\n" DURABLE DOCUMENT,
        FIRST NUMBER "group a/b\n" DURABLE DOCUMENT,
        FIRST NUMBER "group /\n" DURABLE DOCUMENT,
        FIRST NUMBER "group ../../etc\n" DURABLE DOCUMENT,
        FIRST NUMBER "group __parapet\n" DURABLE DOCUMENT,
        FIRST NUMBER "group zarr.json\n" DURABLE DOCUMENT,
        FIRST NUMBER GROUP "durable maybe\n" DOCUMENT,
        FIRST NUMBER GROUP "durable yes \n" DOCUMENT,
        FIRST NUMBER GROUP "durable \n" DOCUMENT,
        FIRST NUMBER GROUP DURABLE "document " DIGEST "0\n",
        FIRST NUMBER GROUP DURABLE "document 0123\n",
        FIRST NUMBER GROUP DURABLE "document X123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
        FIRST NUMBER GROUP DURABLE "document 0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef\n",
        HEAD "array " DIGEST "\n",
        HEAD "array " DIGEST " \n",
        HEAD "array " DIGEST "-a\n",
        HEAD "array a\n",
        HEAD ARRAY(".."),
        HEAD ARRAY("a/b"),
        HEAD ARRAY("/a"),
        HEAD ARRAY("a\tb"),
        HEAD ARRAY("__parapet"),
        HEAD ARRAY("zarr.json"),
        HEAD ARRAY("\xff\xfe"),
        HEAD ARRAY("b") ARRAY("a"),
        HEAD ARRAY("a") ARRAY("a"),
        HEAD "more of it\n",
        HEAD "\n",
        HEAD ARRAY("a") DOCUMENT,
        HEAD "array " DIGEST " a",
        HEAD ARRAY("a") "crc32c 00000000\n",
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof hostile / sizeof hostile[0]; i++)
        assert_lines_refused(hostile[i], strlen(hostile[i]));
}

static void test_commit__names_that_are_too_long_or_have_a_zero_are_refused(void **state)
{
    static const char zero[] = HEAD "array " DIGEST " a\0b\n";
    pp_text lines = {0};
    char name[257];
    (void)state;
    assert_lines_refused(zero, sizeof zero - 1);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    pp_text_add(&lines, HEAD "array " DIGEST " %s\n", name);
    assert_int_equal(lines.status, PARAPET_OK);
    assert_lines_refused(lines.data, lines.bytes);
    pp_text_free(&lines);
}

/* Bytes at random in the place of some, under the right checksum: whatever is accepted prints as it came. */
static void test_commit__what_is_accepted_prints_as_it_came(void **state)
{
    test_random random = test_random_start();
    int accepted = 0, i;
    (void)state;
    for (i = 0; i < 20000; i++) {
        char lines[] = HEAD ARRAY("a") ARRAY("b");
        int64_t changes = test_random_between(&random, 1, 3);
        pp_text text, again = {0};
        pp_commit commit;
        while (changes-- > 0)
            lines[test_random_between(&random, 0, (int64_t)sizeof lines - 2)] =
                (char)test_random_between(&random, 32, 127);
        sign(&text, lines, sizeof lines - 1);
        if (pp_commit_parse(&commit, text.data, text.bytes) == PARAPET_OK) {
            accepted++;
            pp_commit_print(&commit, &again);
            assert_int_equal(again.bytes, text.bytes);
            assert_memory_equal(again.data, text.data, text.bytes);
        }
        pp_commit_clear(&commit);
        pp_text_free(&again);
        pp_text_free(&text);
    }
    assert_true(accepted > 100);
}

static int refuse_at(void *context, size_t bytes)
{
    int *left = context;
    (void)bytes;
    return (*left)-- == 0;
}

static void test_commit__no_memory_is_an_error_that_leaves_nothing(void **state)
{
    pp_text text = {0};
    pp_commit commit;
    parapet_status status;
    int at = 0, left;
    long live;
    (void)state;
    print_three(&text);
    live = pp_memory_live_count();
    do {
        left = at++;
        pp_memory_hook_set(refuse_at, &left);
        status = pp_commit_parse(&commit, text.data, text.bytes);
        pp_memory_hook_set(NULL, NULL);
        pp_commit_clear(&commit);
        assert_int_equal(pp_memory_live_count(), live);
        assert_true(status == PARAPET_OK || status == PARAPET_ERR_MEMORY);
    } while (status != PARAPET_OK);
    assert_true(at > 4);
    pp_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commit__reads_back),
        cmocka_unit_test(test_commit__many_arrays_read_back_in_the_order_of_their_names),
        cmocka_unit_test(test_commit__is_the_text_that_is_documented),
        cmocka_unit_test(test_commit__every_flipped_bit_is_found),
        cmocka_unit_test(test_commit__every_other_length_is_refused),
        cmocka_unit_test(test_commit__lines_as_they_should_be_are_accepted),
        cmocka_unit_test(test_commit__hostile_lines_with_the_right_checksum_are_refused),
        cmocka_unit_test(test_commit__names_that_are_too_long_or_have_a_zero_are_refused),
        cmocka_unit_test(test_commit__what_is_accepted_prints_as_it_came),
        cmocka_unit_test(test_commit__no_memory_is_an_error_that_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
