/* Tables of places: what they say is found in the store, and nothing that is wrong with them is believed. */
#include "file.h"

#include "base/text.h"
#include "codec/crc32c.h"

#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define SHUFFLE ",{\"name\":\"numcodecs.shuffle\",\"configuration\":{\"elementsize\":2}}"
#define FLETCHER32 ",{\"name\":\"numcodecs.fletcher32\"}"
#define GROUP "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"title\":\"made\"}}\n"
#define ARRAY(shape, chunks, codecs)                                                                                 \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[" shape "],\"data_type\":\"uint16\",\"chunk_grid\":{"     \
    "\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[" chunks "]}},\"chunk_key_encoding\":{\"name\":"       \
    "\"default\"},\"fill_value\":7,\"codecs\":[" BYTES codecs "],\"attributes\":{}}\n"
#define BIG_ARRAY(shape, chunks)                                                                                     \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[" shape "],\"data_type\":\"uint16\",\"chunk_grid\":{"     \
    "\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[" chunks "]}},\"chunk_key_encoding\":{\"name\":"       \
    "\"default\"},\"fill_value\":7,\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}],"        \
    "\"attributes\":{}}\n"
#define TEXTS(shape, chunks, codec)                                                                                  \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[" shape "],\"data_type\":\"string\",\"chunk_grid\":{"     \
    "\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[" chunks "]}},\"chunk_key_encoding\":{\"name\":"       \
    "\"default\"},\"fill_value\":\"\",\"codecs\":[{\"name\":\"" codec "\"}],\"attributes\":{}}\n"
#define ROOT "parapet places 1\nfile 40\ngroup /\n" GROUP

static const unsigned char file_data[40] = "0123456789abcdefghijklmnopqrstuvwxyzABCD";

static opened_file open_table(const char *body)
{
    opened_file opened = {0};
    pp_budget budget;
    pp_write_request request = {.key = "file", .staging = "tmp", .budget = &budget, .is_small = true};
    pp_text text = {0};
    pp_text_add(&text, "%s", body);
    pp_text_add(&text, "end %08x\n", pp_crc32c(0, text.data, text.bytes));
    pp_budget_init(&budget, 1 << 20);
    assert_ok(pp_store_memory_build(&opened.files, NULL));
    assert_ok(pp_store_write_all(opened.files, &request, file_data, sizeof file_data, PP_PUBLISH_REPLACE));
    assert_ok(pp_foreign_build_over(
        &opened.store, &(pp_foreign_source){.files = opened.files, .key = "file", .table = "somewhere"}));
    assert_true(pp_foreign_needs_table(opened.store));
    opened.status = pp_foreign_take_table(opened.store, text.data, text.bytes);
    pp_budget_clear(&budget);
    pp_text_free(&text);
    return opened;
}

static void refuse(const char *body, parapet_status code, const char *word)
{
    opened_file opened = open_table(body);
    assert_fails(opened.status, code, word);
    close_file(&opened);
}

static void assert_absent(const opened_file *opened, const char *key)
{
    pp_reader *reader;
    assert_int_equal(pp_store_open_object(opened->store, key, &reader), PARAPET_ERR_NOT_FOUND);
}

typedef struct seen {
    char names[256];
} seen;

static parapet_status see(void *context, const pp_listed *listed)
{
    seen *all = context;
    size_t used = strlen(all->names);
    (void)snprintf(all->names + used, sizeof all->names - used, "%s%s ", listed->name, listed->is_prefix ? "/" : "");
    return PARAPET_OK;
}

static void assert_lists(const opened_file *opened, const char *prefix, const char *expected)
{
    seen all = {0};
    assert_ok(pp_store_list(opened->store, prefix, see, &all));
    assert_string_equal(all.names, expected);
}

static void test_table__says_where_chunks_are(void **state)
{
    opened_file opened = open_table(
        ROOT "group /a\n" GROUP "array /a/b\n" ARRAY("3,4", "2,2", FLETCHER32) "chunks 2\n1 10 8 0\n2 20 12 0\n");
    (void)state;
    assert_ok(opened.status);
    assert_says(&opened, "a/b/zarr.json", "fletcher32");
    assert_says(&opened, "a/zarr.json", "made");
    assert_chunk(&opened, "a/b/c/0/1", "abcdefgh", 8);
    assert_chunk(&opened, "a/b/c/1/0", "klmnopqrstuv", 12);
    assert_absent(&opened, "a/b/c/0/0");
    assert_absent(&opened, "a/b/c/2/0");
    assert_absent(&opened, "a/c");
    assert_absent(&opened, "a");
    assert_lists(&opened, "", "a/ zarr.json ");
    assert_lists(&opened, "a", "b/ zarr.json ");
    assert_lists(&opened, "a/b", "c/ zarr.json ");
    assert_lists(&opened, "a/b/c", "0/ 1/ ");
    assert_lists(&opened, "a/b/c/0", "1 ");
    assert_lists(&opened, "a/b/c/1", "0 ");
    close_file(&opened);
}

static void test_table__has_flat_arrays_and_data_of_its_own(void **state)
{
    opened_file opened = open_table(ROOT "array /flat\n" ARRAY("5", "5", "") "flat 30\narray /own\n" ARRAY(
        "3", "3", "") "data YWJjZGVm\narray /none\n" ARRAY("3", "3", "") "chunks 0\n");
    (void)state;
    assert_ok(opened.status);
    assert_chunk(&opened, "flat/c/0", "uvwxyzABCD", 10);
    assert_chunk(&opened, "own/c/0", "abcdef", 6);
    assert_absent(&opened, "none/c/0");
    assert_lists(&opened, "none", "zarr.json ");
    close_file(&opened);
}

/* "abcd" shuffled is "acbd"; a chunk that was stored without its filter is as it is. */
static void test_table__decodes_arrays_of_which_chunks_lack_filters(void **state)
{
    opened_file opened = open_table(ROOT "array /a\n" ARRAY("4", "2", SHUFFLE) "chunks 2\n0 10 4 0\n1 14 4 1\n");
    (void)state;
    assert_ok(opened.status);
    assert_chunk(&opened, "a/c/0", "acbd", 4);
    assert_chunk(&opened, "a/c/1", "efgh", 4);
    close_file(&opened);
}

/* Of "abcd" and so on, what is beyond the extents is the fill value: 7, in the byte order of the file. */
static void test_table__shows_the_fill_value_beyond_what_there_is(void **state)
{
    opened_file opened = open_table(ROOT "array /a\n" ARRAY(
        "7", "3", "") "within 4\nchunks 2\n0 10 6 0\n1 16 6 0\n"
                      "array /b\n" ARRAY("4,3", "2,2", SHUFFLE) "within 3 1\nchunks 1\n2 10 8 0\n");
    (void)state;
    assert_ok(opened.status);
    assert_chunk(&opened, "a/c/0", "abcdef", 6);
    assert_chunk(&opened, "a/c/1", "gh\7\0\7\0", 6);
    assert_absent(&opened, "a/c/2");
    assert_chunk(&opened, "b/c/1/0", "ae\7\0\7\0\7\0", 8);
    close_file(&opened);
    opened = open_table(ROOT "array /a\n" BIG_ARRAY("5", "3") "within 1\nchunks 1\n0 10 6 0\n");
    assert_ok(opened.status);
    assert_chunk(&opened, "a/c/0", "ab\0\7\0\7", 6);
    close_file(&opened);
}

static void test_table__extents_are_untrusted(void **state)
{
    (void)state;
    refuse(ROOT "array /a\n" ARRAY("7", "3", "") "within 8\nchunks 0\n", PARAPET_ERR_FORMAT, "but chunks of 8");
    refuse(ROOT "array /a\n" ARRAY("7", "3", "") "within \nchunks 0\n", PARAPET_ERR_FORMAT, "lacks an extent");
    refuse(ROOT "array /a\n" ARRAY("7,2", "3,1", "") "within 5\nchunks 0\n", PARAPET_ERR_FORMAT, "lacks an extent");
    refuse(ROOT "array /a\n" ARRAY("7", "3", "") "within 5 1\nchunks 0\n", PARAPET_ERR_FORMAT, "too many extents");
    refuse(ROOT "array /a\n" ARRAY("7", "3", "") "within 9223372036854775808\nchunks 0\n", PARAPET_ERR_FORMAT,
           "lacks an extent");
    refuse(ROOT "array /a\n" ARRAY("7", "3", "") "within 5\ndata YWJj\n", PARAPET_ERR_FORMAT, "what it should");
    refuse(ROOT "array /a\n" ARRAY("7", "7", "") "within 5\nflat 0\n", PARAPET_ERR_FORMAT, "what it should");
    refuse(ROOT "array /a\n" ARRAY("7", "134217729", "") "within 5\nchunks 1\n0 0 4 0\n", PARAPET_ERR_UNSUPPORTED,
           "less in them than they show");
    refuse(ROOT "array /t\n" TEXTS("2", "2", "vlen-utf8") "within 1\ndata AgAAAAEAAABhAgAAAGJj\n", PARAPET_ERR_FORMAT,
           "what it should");
}

/* "a" and "bc", as vlen-utf8 has them. */
static void test_table__has_texts(void **state)
{
    opened_file opened =
        open_table(ROOT "array /t\n" TEXTS("2", "2", "vlen-utf8") "data AgAAAAEAAABhAgAAAGJj\narray /s\n" TEXTS(
            "", "", "vlen-utf8") "data AQAAAAAAAAA=\narray /none\n" TEXTS("0,3", "1,3", "vlen-utf8") "chunks 0\n");
    (void)state;
    assert_ok(opened.status);
    assert_says(&opened, "t/zarr.json", "vlen-utf8");
    assert_chunk(&opened, "t/c/0", "\2\0\0\0\1\0\0\0a\2\0\0\0bc", 15);
    assert_chunk(&opened, "s/c", "\1\0\0\0\0\0\0\0", 8);
    assert_lists(&opened, "none", "zarr.json ");
    close_file(&opened);
}

static void test_table__texts_are_untrusted(void **state)
{
    (void)state;
    refuse(ROOT "array /t\n" TEXTS("3", "3", "vlen-utf8") "data AgAAAAEAAABhAgAAAGJj\n", PARAPET_ERR_CORRUPT,
           "instead of 3");
    refuse(ROOT "array /t\n" TEXTS("2", "1", "vlen-utf8") "data AgAAAAEAAABhAgAAAGJj\n", PARAPET_ERR_FORMAT,
           "one chunk");
    refuse(ROOT "array /t\n" TEXTS("2", "2", "bytes") "data AgAAAAEAAABhAgAAAGJj\n", PARAPET_ERR_FORMAT, "vlen-utf8");
    refuse(ROOT "array /t\n" TEXTS("2", "2", "vlen-utf8") "data AgAAAAEAAABhAgAAAGL/\n", PARAPET_ERR_CORRUPT,
           "UTF-8");
    refuse(ROOT "array /t\n" TEXTS("2", "2", "vlen-utf8") "data AgAAAAEAAABhAwAAAGJj\n", PARAPET_ERR_CORRUPT,
           "ends after");
    refuse(ROOT "array /t\n" TEXTS("1", "1", "vlen-utf8") "data AQAAAAEAAABhAgAAAGJj\n", PARAPET_ERR_CORRUPT,
           "follow the last");
    refuse(ROOT "array /t\n" TEXTS("2", "2", "vlen-utf8") "flat 0\n", PARAPET_ERR_FORMAT, "what it should");
    refuse(ROOT "array /t\n" TEXTS("2", "2", "vlen-utf8") "chunks 1\n0 0 4 0\n", PARAPET_ERR_FORMAT,
           "not in the table");
    refuse(ROOT "array /t\n" TEXTS("9223372036854775807,3", "9223372036854775807,3", "vlen-utf8") "chunks 0\n",
           PARAPET_ERR_FORMAT, "one chunk");
}

static void test_table__has_no_chunk_of_no_texts(void **state)
{
    opened_file opened = open_table(ROOT "array /t\n" TEXTS("3,0", "3,1", "vlen-utf8") "chunks 0\n");
    (void)state;
    assert_ok(opened.status);
    assert_lists(&opened, "t", "zarr.json ");
    close_file(&opened);
    refuse(ROOT "array /t\n" TEXTS("3,0", "3,1", "vlen-utf8") "data AAAAAA==\n", PARAPET_ERR_FORMAT, "a grid of 0");
    refuse(ROOT "array /t\n" TEXTS("2,0,4", "2,1,4", "vlen-utf8") "data AAAAAA==\n", PARAPET_ERR_FORMAT,
           "a grid of 0");
    refuse(ROOT "array /t\n" TEXTS("0", "1", "vlen-utf8") "data AAAAAA==\n", PARAPET_ERR_FORMAT, "a grid of 0");
}

static void test_table__says_why_an_array_cannot_be_read(void **state)
{
    opened_file opened = open_table(ROOT "refused /a\nits elements are dreams\n");
    pp_reader *reader;
    (void)state;
    assert_ok(opened.status);
    assert_fails(pp_store_open_object(opened.store, "a/zarr.json", &reader), PARAPET_ERR_UNSUPPORTED, "dreams");
    assert_absent(&opened, "a/c/0");
    close_file(&opened);
}

static void test_table__is_refused_where_it_cannot_be_true(void **state)
{
    static const char *const lines[] = {
        "0 33 8 0\n",         "4 0 8 0\n",  "0 1 2\n",    "0 1 2 3 4\n",
        "0 1 4294967296 0\n", "00 1 8 0\n", "-1 1 8 0\n", "0 18446744073709551616 8 0\n",
        "0 1 8 2\n",          "0  1 8 0\n", "\n"};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        pp_text body = {0};
        opened_file opened;
        pp_text_add(&body, "%schunks 1\n%s", ROOT "array /a\n" ARRAY("3,4", "2,2", SHUFFLE), lines[i]);
        opened = open_table(body.data);
        if (opened.status == PARAPET_OK)
            fail_msg("a chunk with the line %s was taken", lines[i]);
        close_file(&opened);
        pp_text_free(&body);
    }
    refuse(ROOT "array /a\n" ARRAY("4", "2", "") "chunks 2\n1 0 4 0\n1 4 4 0\n", PARAPET_ERR_FORMAT, "listed after");
    refuse(ROOT "array /a\n" ARRAY("4", "2", "") "chunks 2\n0 0 30 0\n1 4 30 0\n", PARAPET_ERR_FORMAT, "larger than");
    refuse(ROOT "array /a/b\n" ARRAY("4", "2", "") "chunks 0\n", PARAPET_ERR_FORMAT, "in no group");
    refuse(ROOT "array /a\n" ARRAY("4", "2", FLETCHER32) "flat 0\n", PARAPET_ERR_FORMAT, "encoded");
    refuse(ROOT "array /a\n" ARRAY("40", "2", "") "flat 0\n", PARAPET_ERR_CORRUPT, "cut off");
    refuse(ROOT "array /a\n" ARRAY("4", "4", "") "data YWJj*\n", PARAPET_ERR_FORMAT, "base64");
    refuse(ROOT "group /\n" GROUP, PARAPET_ERR_FORMAT, "second root");
    refuse(ROOT "array a\n", PARAPET_ERR_FORMAT, "no path");
    refuse(ROOT "thing /a\n", PARAPET_ERR_FORMAT, "neither");
    refuse("parapet places 1\nfile 40\n", PARAPET_ERR_FORMAT, "no root");
    refuse("parapet places 2\nfile 40\n", PARAPET_ERR_FORMAT, "version");
    refuse("parapet places 1\nfile 41\n", PARAPET_ERR_STALE, "41 bytes");
}

/* Without a sound checksum nothing is taken, wherever it was cut or changed. */
static void test_table__is_whole_or_refused(void **state)
{
    pp_text text = {0};
    size_t i;
    (void)state;
    pp_text_add(&text, "%s", ROOT "array /a\n" ARRAY("4", "2", "") "chunks 1\n1 0 4 0\n");
    pp_text_add(&text, "end %08x\n", pp_crc32c(0, text.data, text.bytes));
    for (i = 0; i <= 2 * text.bytes; i++) {
        opened_file opened = open_bytes("x", 1, "type=uint8,shape=1");
        pp_store *store;
        assert_ok(
            pp_foreign_build_over(&store, &(pp_foreign_source){.files = opened.files, .key = "file", .table = "t"}));
        if (i < text.bytes)
            assert_int_not_equal(pp_foreign_take_table(store, text.data, i), PARAPET_OK);
        else if (i < 2 * text.bytes) {
            text.data[i - text.bytes] ^= 4;
            assert_int_not_equal(pp_foreign_take_table(store, text.data, text.bytes), PARAPET_OK);
            text.data[i - text.bytes] ^= 4;
        }
        pp_store_free(store);
        close_file(&opened);
    }
    pp_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table__says_where_chunks_are),
        cmocka_unit_test(test_table__has_flat_arrays_and_data_of_its_own),
        cmocka_unit_test(test_table__decodes_arrays_of_which_chunks_lack_filters),
        cmocka_unit_test(test_table__shows_the_fill_value_beyond_what_there_is),
        cmocka_unit_test(test_table__extents_are_untrusted),
        cmocka_unit_test(test_table__has_texts),
        cmocka_unit_test(test_table__texts_are_untrusted),
        cmocka_unit_test(test_table__has_no_chunk_of_no_texts),
        cmocka_unit_test(test_table__says_why_an_array_cannot_be_read),
        cmocka_unit_test(test_table__is_refused_where_it_cannot_be_true),
        cmocka_unit_test(test_table__is_whole_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
