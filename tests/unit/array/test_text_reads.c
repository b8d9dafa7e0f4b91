/* Arrays of texts: what is read of them costs no more than what was asked for, whatever the metadata say. */
#include "support.h"

#include <parapet.h>

#include "array/open.h"
#include "base/bytes.h"
#include "base/text.h"
#include "codec/crc32c.h"

enum { LOCAL_BYTES = 1 << 20 };

typedef struct bed {
    pp_store *inner;
    parapet_store *store;
    parapet_array *array;
    char *text;
} bed;

static void put(pp_store *inner, const char *key, const char *data, size_t bytes)
{
    pp_budget budget;
    pp_write_request request = {.key = key, .staging = "tmp", .budget = &budget, .is_small = true};
    pp_budget_init(&budget, 1 << 20);
    assert_ok(pp_store_write_all(inner, &request, data, bytes, PP_PUBLISH_REPLACE));
    pp_budget_clear(&budget);
}

typedef struct text_array {
    const char *shape, *chunks, *fill;
    const char *codecs; /* behind the one that makes bytes of texts */
} text_array;

/* One chunk has the given bytes; NULL: none is stored. */
static void set_up_as(bed *b, const text_array *of, const char *chunk, size_t bytes)
{
    const parapet_store_options options = {.local_bytes = LOCAL_BYTES};
    pp_text document = {0};
    pp_text_add(&document,
                "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[%s],\"data_type\":\"string\",\"fill_value\":"
                "\"%s\",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[%s]}},"
                "\"chunk_key_encoding\":{\"name\":\"default\"},\"codecs\":[{\"name\":\"vlen-utf8\"}%s],"
                "\"attributes\":{}}",
                of->shape, of->fill, of->chunks, of->codecs);
    assert_ok(document.status);
    *b = (bed){0};
    assert_ok(pp_store_memory_build(&b->inner, NULL));
    put(b->inner, "zarr.json", document.data, document.bytes);
    if (chunk != NULL)
        put(b->inner, of->shape[0] != '\0' ? "c/0" : "c", chunk, bytes);
    assert_ok(pp_store_open_over(&b->store, MPI_COMM_NULL, b->inner, PARAPET_READ, &options));
    assert_ok(parapet_array_open(&b->array, b->store, ""));
    pp_text_free(&document);
}

static void set_up(bed *b, const char *shape, const char *chunks, const char *chunk, size_t bytes)
{
    set_up_as(b, &(text_array){shape, chunks, "f", ""}, chunk, bytes);
}

static void tear_down(bed *b)
{
    parapet_free(b->text);
    assert_ok(parapet_array_close(&b->array));
    assert_ok(parapet_store_close(&b->store));
    pp_store_free(b->inner);
}

static void test_texts__of_a_vast_chunk_that_is_not_stored_are_found_at_once(void **state)
{
    const int64_t start[] = {5, 7}, count[] = {2, 2};
    int64_t ends[4];
    bed b;
    (void)state;
    set_up(&b, "4611686018427387904", "4611686018427387904", NULL, 0);
    assert_ok(parapet_array_read_texts_local(b.array, start, count, &b.text, ends));
    assert_string_equal(b.text, "ff");
    assert_int_equal(ends[1], 2);
    tear_down(&b);
    set_up(&b, "2147483648,2147483648", "2147483648,2147483648", NULL, 0);
    assert_ok(parapet_array_read_texts_local(b.array, start, count, &b.text, ends));
    assert_string_equal(b.text, "ffff");
    tear_down(&b);
}

static void test_texts__behind_the_last_wanted_are_not_looked_at(void **state)
{
    static const char damaged[] = "\3\0\0\0\1\0\0\0a\1\0\0\0b\1\0\0\0\xff";
    const int64_t start = 0;
    int64_t ends[3], count = 2;
    bed b;
    (void)state;
    set_up(&b, "3", "3", damaged, sizeof damaged - 1);
    assert_ok(parapet_array_read_texts_local(b.array, &start, &count, &b.text, ends));
    assert_string_equal(b.text, "ab");
    parapet_free(b.text);
    count = 3;
    assert_fails(parapet_array_read_texts_local(b.array, &start, &count, &b.text, ends), PARAPET_ERR_CORRUPT,
                 "text 2 of the chunk is not UTF-8");
    tear_down(&b);
}

static void test_texts__of_an_empty_object_are_not_fill_values(void **state)
{
    const int64_t start = 0, count = 2;
    int64_t ends[2];
    bed b;
    (void)state;
    set_up(&b, "2", "2", "", 0);
    assert_fails(parapet_array_read_texts_local(b.array, &start, &count, &b.text, ends), PARAPET_ERR_CORRUPT,
                 "do not say how many");
    tear_down(&b);
}

static void test_texts__of_more_than_the_limit_are_refused(void **state)
{
    const int64_t start = 0, count = 1;
    const uint32_t bytes = 600000;
    unsigned char *chunk = calloc(1, 8 + bytes);
    int64_t ends[1];
    bed b;
    (void)state;
    chunk[0] = 1;
    pp_store_u32le(chunk + 4, bytes);
    set_up(&b, "1", "1", (const char *)chunk, 8 + bytes);
    assert_fails(parapet_array_read_texts_local(b.array, &start, &count, &b.text, ends), PARAPET_ERR_MEMORY,
                 "texts need");
    assert_null(b.text);
    tear_down(&b);
    free(chunk);
}

static void test_texts__need_room_for_their_ends(void **state)
{
    const int64_t start = 0, count = 2;
    int64_t ends[2];
    bed b;
    (void)state;
    set_up(&b, "", "", "\1\0\0\0\1\0\0\0a", 9);
    assert_fails(parapet_array_read_texts_local(b.array, NULL, NULL, &b.text, NULL), PARAPET_ERR_ARGUMENT, "room");
    assert_ok(parapet_array_read_texts_local(b.array, NULL, NULL, &b.text, ends));
    assert_string_equal(b.text, "a");
    assert_int_equal(ends[0], 1);
    tear_down(&b);
    set_up(&b, "2", "2", NULL, 0);
    assert_fails(parapet_array_read_texts_local(b.array, &start, &count, &b.text, NULL), PARAPET_ERR_ARGUMENT,
                 "room");
    assert_fails(parapet_array_read_texts_local(b.array, NULL, &count, &b.text, ends), PARAPET_ERR_ARGUMENT, "a box");
    assert_fails(parapet_array_read_texts_local(b.array, &start, &count, NULL, ends), PARAPET_ERR_ARGUMENT, "room");
    tear_down(&b);
}

static void test_texts__of_a_box_that_is_none_or_outside_are_refused(void **state)
{
    const int64_t start[] = {1, 0}, outside[] = {2, 0}, count[] = {3, 4};
    int64_t ends[12];
    bed b;
    (void)state;
    set_up(&b, "4,4", "2,2", NULL, 0);
    assert_fails(parapet_array_read_texts_local(NULL, start, count, &b.text, ends), PARAPET_ERR_ARGUMENT, "");
    assert_fails(parapet_array_read_texts_local(b.array, NULL, count, &b.text, ends), PARAPET_ERR_ARGUMENT, "");
    assert_fails(parapet_array_read_texts_local(b.array, start, NULL, &b.text, ends), PARAPET_ERR_ARGUMENT, "");
    assert_fails(parapet_array_read_texts_local(b.array, start, count, NULL, ends), PARAPET_ERR_ARGUMENT, "");
    assert_fails(parapet_array_read_texts_local(b.array, outside, count, &b.text, ends), PARAPET_ERR_ARGUMENT,
                 "not inside the array");
    assert_ok(parapet_array_read_texts_local(b.array, start, count, &b.text, ends));
    assert_string_equal(b.text, "ffffffffffff");
    assert_int_equal(ends[11], 12);
    tear_down(&b);
}

/* Of a chunk only those that were asked for; the others are passed over. */
static void test_texts__in_the_middle_of_chunks_are_found(void **state)
{
    static const char chunk[] = "\6\0\0\0"
                                "\1\0\0\0a\1\0\0\0b\2\0\0\0cc\0\0\0\0\1\0\0\0e\3\0\0\0fff";
    const int64_t start = 1, count = 4;
    int64_t ends[4];
    bed b;
    (void)state;
    set_up(&b, "7", "6", chunk, sizeof chunk - 1);
    assert_ok(parapet_array_read_texts_local(b.array, &start, &count, &b.text, ends));
    assert_string_equal(b.text, "bcce");
    assert_int_equal(ends[2], 3);
    parapet_free(b.text);
    assert_ok(parapet_array_read_texts_local(b.array, (int64_t[]){5}, (int64_t[]){2}, &b.text, ends));
    assert_string_equal(b.text, "ffff"); /* the last of them from the next chunk, which is not stored */
    tear_down(&b);
}

static void test_texts__are_not_numbers(void **state)
{
    const int64_t shape = 2, start = 0;
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = &shape};
    int64_t ends[2];
    char *text = NULL;
    parapet_store *store;
    parapet_array *array;
    (void)state;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:texts", PARAPET_CREATE, NULL));
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_fails(parapet_array_read_texts_local(array, &start, &shape, &text, ends), PARAPET_ERR_UNSUPPORTED,
                 "int32");
    assert_null(text);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
    pp_store_memory_drop("texts");
}

/* A column of a chunk, and a box that has less than no elements. */
static void test_texts__of_a_column_are_found(void **state)
{
    static const char chunk[] = "\4\0\0\0\1\0\0\0a\1\0\0\0b\1\0\0\0c\1\0\0\0d";
    const int64_t start[] = {0, 0}, column[] = {2, 1}, negative[] = {2, -1};
    int64_t ends[2];
    bed b;
    (void)state;
    set_up(&b, "2,2", "2,2", NULL, 0);
    put(b.inner, "c/0/0", chunk, sizeof chunk - 1);
    assert_ok(parapet_array_read_texts_local(b.array, start, column, &b.text, ends));
    assert_string_equal(b.text, "ac");
    parapet_free(b.text);
    assert_int_equal(parapet_array_read_texts_local(b.array, start, negative, &b.text, ends), PARAPET_ERR_ARGUMENT);
    assert_null(b.text);
    tear_down(&b);
}

static void test_texts__are_decoded_by_all_codecs(void **state)
{
    char chunk[] = "\2\0\0\0\1\0\0\0a\1\0\0\0b\0\0\0\0";
    const size_t bytes = sizeof chunk - 1, plain = bytes - sizeof(uint32_t);
    const int64_t start = 0, count = 2;
    parapet_array_info info;
    int64_t ends[2];
    bed b;
    (void)state;
    pp_store_u32le((unsigned char *)chunk + plain, pp_crc32c(0, chunk, plain));
    set_up_as(&b, &(text_array){"2", "2", "f", ",{\"name\":\"crc32c\"}"}, chunk, bytes);
    assert_ok(parapet_array_get_info(b.array, &info));
    assert_string_equal(info.codecs, "vlen-utf8 crc32c");
    assert_ok(parapet_array_read_texts_local(b.array, &start, &count, &b.text, ends));
    assert_string_equal(b.text, "ab");
    parapet_free(b.text);
    chunk[8] = 'c';
    put(b.inner, "c/0", chunk, bytes);
    assert_fails(parapet_array_read_texts_local(b.array, &start, &count, &b.text, ends), PARAPET_ERR_CORRUPT, "");
    assert_null(b.text);
    tear_down(&b);
}

/* Of 20,000 elements the places take a third of the memory, and the fill value does not fit as often. */
static void test_texts__of_fill_values_are_within_the_limit(void **state)
{
    static int64_t ends[20000];
    const int64_t start = 0, count = 20000, few = 10;
    const char *fill = "a fill value of more letters than the others have";
    bed b;
    (void)state;
    set_up_as(&b, &(text_array){"20000", "1000", fill, ""}, NULL, 0);
    assert_fails(parapet_array_read_texts_local(b.array, &start, &count, &b.text, ends), PARAPET_ERR_MEMORY, "texts");
    assert_null(b.text);
    assert_ok(parapet_array_read_texts_local(b.array, &start, &few, &b.text, ends));
    assert_int_equal(ends[9], 10 * strlen(fill));
    tear_down(&b);
}

static void test_texts__that_cannot_be_counted_are_refused(void **state)
{
    const int64_t start[2] = {0, 0}, one[2] = {1, 1}, all = INT64_C(1) << 62;
    int64_t ends[1];
    bed b;
    (void)state;
    set_up(&b, "4611686018427387904", "4611686018427387904", NULL, 0);
    assert_fails(parapet_array_read_texts_local(b.array, start, &all, &b.text, ends), PARAPET_ERR_MEMORY,
                 "more texts than any memory");
    tear_down(&b);
    set_up(&b, "4611686018427387904,4611686018427387904", "1,1", NULL, 0);
    assert_fails(parapet_array_read_texts_local(b.array, start, one, &b.text, ends), PARAPET_ERR_FORMAT,
                 "than 63 bits can count");
    assert_null(b.text);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts__of_a_vast_chunk_that_is_not_stored_are_found_at_once),
        cmocka_unit_test(test_texts__behind_the_last_wanted_are_not_looked_at),
        cmocka_unit_test(test_texts__of_an_empty_object_are_not_fill_values),
        cmocka_unit_test(test_texts__of_more_than_the_limit_are_refused),
        cmocka_unit_test(test_texts__need_room_for_their_ends),
        cmocka_unit_test(test_texts__in_the_middle_of_chunks_are_found),
        cmocka_unit_test(test_texts__are_not_numbers),
        cmocka_unit_test(test_texts__of_a_column_are_found),
        cmocka_unit_test(test_texts__are_decoded_by_all_codecs),
        cmocka_unit_test(test_texts__of_fill_values_are_within_the_limit),
        cmocka_unit_test(test_texts__that_cannot_be_counted_are_refused),
        cmocka_unit_test(test_texts__of_a_box_that_is_none_or_outside_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
