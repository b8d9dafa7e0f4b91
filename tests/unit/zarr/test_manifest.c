/* The bytes of a seal: what is written reads back, and nothing else does. */
#include "support.h"

#include "base/bytes.h"
#include "codec/crc32c.h"
#include "zarr/manifest.h"

static void fill_head(pp_manifest_head *head, uint64_t shards)
{
    test_random random = {shards + 1};
    size_t i;
    assert_ok(pp_manifest_head_init(head, shards, 1));
    for (i = 0; i < sizeof head->document; i++)
        ((unsigned char *)head->document)[i] = (unsigned char)test_random_next(&random);
    for (i = 0; i < (size_t)head->page_count * PP_SHA256_BYTES; i++)
        head->page_digests[i] = (unsigned char)test_random_next(&random);
}

static unsigned char *encode_head(const pp_manifest_head *head, size_t *bytes)
{
    unsigned char *encoded;
    *bytes = pp_manifest_head_bytes(head);
    encoded = malloc(*bytes);
    assert_non_null(encoded);
    pp_manifest_head_encode(head, encoded);
    return encoded;
}

static void sign(unsigned char *bytes, size_t count)
{
    pp_store_u32le(bytes + count - 4, pp_crc32c(0, bytes, count - 4));
}

static void check_head_of(uint64_t shards, uint32_t pages)
{
    pp_manifest_head head, again;
    unsigned char *encoded;
    size_t bytes;
    fill_head(&head, shards);
    assert_int_equal(head.page_count, pages);
    encoded = encode_head(&head, &bytes);
    assert_ok(pp_manifest_head_decode(&again, encoded, bytes));
    assert_int_equal(again.page_count, head.page_count);
    assert_int_equal(again.shard_count, shards);
    assert_memory_equal(again.document, head.document, sizeof head.document);
    assert_memory_equal(again.page_digests, head.page_digests, (size_t)pages * PP_SHA256_BYTES);
    free(encoded);
    pp_manifest_head_clear(&head);
    pp_manifest_head_clear(&again);
}

static void test_manifest__head_reads_back(void **state)
{
    long live = pp_memory_live_count();
    (void)state;
    check_head_of(0, 0);
    check_head_of(1, 1);
    check_head_of(4095, 1);
    check_head_of(4096, 1);
    check_head_of(4097, 2);
    check_head_of(1000000, 245);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_manifest__head_is_laid_out_as_documented(void **state)
{
    pp_manifest_head head;
    unsigned char *encoded;
    size_t bytes;
    (void)state;
    fill_head(&head, 5000);
    encoded = encode_head(&head, &bytes);
    assert_int_equal(bytes, 32 + 4 * 32 + 4);
    assert_memory_equal(encoded, "PARAPETH", 8);
    assert_int_equal(pp_load_u32le(encoded + 8), 2);
    assert_int_equal(pp_load_u32le(encoded + 12), 2);
    assert_int_equal(pp_load_u64le(encoded + 16), 5000);
    assert_int_equal(pp_load_u64le(encoded + 24), 1);
    assert_memory_equal(encoded + 32, head.document[0], 32);
    assert_memory_equal(encoded + 64, head.document[1], 32);
    assert_memory_equal(encoded + 96, head.page_digests, 64);
    assert_int_equal(pp_load_u32le(encoded + 160), pp_crc32c(0, encoded, 160));
    free(encoded);
    pp_manifest_head_clear(&head);
}

static unsigned char *some_bytes(size_t count)
{
    unsigned char *bytes = NULL;
    size_t i;
    assert_ok(pp_allocate(&bytes, count));
    for (i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i * 7);
    return bytes;
}

static void check_inline_page(size_t count)
{
    unsigned char *page = some_bytes(count), *encoded;
    pp_manifest_head head, again;
    size_t bytes;
    fill_head(&head, 9);
    assert_true(pp_manifest_head_take_page(&head, page, count));
    encoded = encode_head(&head, &bytes);
    assert_int_equal(bytes, 32 + 3 * 32 + count + 4);
    assert_memory_equal(encoded + 32 + 3 * 32, page, count);
    assert_ok(pp_manifest_head_decode(&again, encoded, bytes));
    assert_int_equal(again.page_bytes, count);
    assert_memory_equal(again.page, page, count);
    free(encoded);
    pp_manifest_head_clear(&head);
    pp_manifest_head_clear(&again);
}

static void test_manifest__a_small_page_comes_with_the_head(void **state)
{
    long live = pp_memory_live_count();
    (void)state;
    check_inline_page(1);
    check_inline_page(PP_MANIFEST_INLINE_BYTES);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_manifest__a_page_that_is_long_or_one_of_several_does_not(void **state)
{
    unsigned char *page = some_bytes(PP_MANIFEST_INLINE_BYTES + 1);
    pp_manifest_head head;
    (void)state;
    fill_head(&head, 9);
    assert_false(pp_manifest_head_take_page(&head, page, PP_MANIFEST_INLINE_BYTES + 1));
    pp_manifest_head_clear(&head);
    fill_head(&head, 5000);
    assert_false(pp_manifest_head_take_page(&head, page, 10));
    pp_manifest_head_clear(&head);
    pp_free(page);
}

static void test_manifest__pages_have_fewer_shards_the_more_chunks_these_have(void **state)
{
    (void)state;
    assert_int_equal(pp_manifest_page_records(1), PP_MANIFEST_PAGE_RECORDS);
    assert_int_equal(pp_manifest_page_records(12), PP_MANIFEST_PAGE_RECORDS);
    assert_int_equal(pp_manifest_page_records(4096), 15);
    assert_int_equal(pp_manifest_page_records(65536), 1);
    assert_int_equal(pp_manifest_page_records(UINT64_MAX), 1);
}

/* Decodes must fail, and leave nothing behind. */
static void assert_head_refused(const unsigned char *encoded, size_t bytes)
{
    pp_manifest_head head;
    long live = pp_memory_live_count();
    parapet_status status = pp_manifest_head_decode(&head, encoded, bytes);
    assert_true(status == PARAPET_ERR_CORRUPT || status == PARAPET_ERR_UNSUPPORTED);
    assert_null(head.page_digests);
    pp_manifest_head_clear(&head);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_manifest__every_flipped_bit_of_a_head_is_found(void **state)
{
    pp_manifest_head head;
    unsigned char *encoded;
    size_t bytes, bit;
    (void)state;
    fill_head(&head, 9000);
    encoded = encode_head(&head, &bytes);
    for (bit = 0; bit < 8 * bytes; bit++) {
        encoded[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_head_refused(encoded, bytes);
        encoded[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(encoded);
    pp_manifest_head_clear(&head);
}

static void test_manifest__every_other_length_of_a_head_is_refused(void **state)
{
    pp_manifest_head head;
    unsigned char *encoded, *longer;
    size_t bytes, cut;
    (void)state;
    fill_head(&head, 9000);
    encoded = encode_head(&head, &bytes);
    for (cut = 0; cut < bytes; cut++) {
        unsigned char *shorter = malloc(cut + 1); /* its own memory, so that a sanitizer sees reading beyond */
        memcpy(shorter, encoded, cut);
        assert_head_refused(shorter, cut);
        free(shorter);
    }
    longer = calloc(1, bytes + 64);
    memcpy(longer, encoded, bytes);
    for (cut = bytes + 1; cut <= bytes + 64; cut++)
        assert_head_refused(longer, cut);
    free(longer);
    free(encoded);
    pp_manifest_head_clear(&head);
}

static void test_manifest__head_whose_counts_lie_is_refused_before_memory_is_taken(void **state)
{
    static const uint64_t shard_counts[] = {0, 4096, 12289, UINT64_MAX, (UINT64_C(1) << 32) * 4096 + 9000};
    static const uint32_t page_counts[] = {0, 2, 4, UINT32_MAX};
    pp_manifest_head head;
    unsigned char *encoded;
    size_t bytes, i;
    (void)state;
    fill_head(&head, 9000); /* 3 pages */
    encoded = encode_head(&head, &bytes);
    for (i = 0; i < sizeof shard_counts / sizeof shard_counts[0]; i++) {
        pp_store_u64le(encoded + 16, shard_counts[i]);
        sign(encoded, bytes);
        assert_head_refused(encoded, bytes);
    }
    pp_store_u64le(encoded + 16, 9000);
    for (i = 0; i < sizeof page_counts / sizeof page_counts[0]; i++) {
        pp_store_u32le(encoded + 12, page_counts[i]);
        sign(encoded, bytes);
        assert_head_refused(encoded, bytes);
    }
    free(encoded);
    pp_manifest_head_clear(&head);
}

static void test_manifest__a_later_version_is_unsupported_and_not_corrupt(void **state)
{
    pp_manifest_head head, again;
    pp_shard_record record = {.bytes = 1};
    const pp_page_place place = {.record_count = 1, .chunk_count = 1};
    pp_manifest_page decoded;
    unsigned char *encoded, *page = NULL;
    size_t bytes, page_bytes;
    (void)state;
    fill_head(&head, 1);
    encoded = encode_head(&head, &bytes);
    pp_store_u32le(encoded + 8, 3);
    sign(encoded, bytes);
    assert_fails(pp_manifest_head_decode(&again, encoded, bytes), PARAPET_ERR_UNSUPPORTED, "version 3");
    assert_ok(pp_manifest_page_encode(&record, 1, 0, &page, &page_bytes));
    pp_store_u32le(page + 8, 77);
    sign(page, page_bytes);
    assert_fails(pp_manifest_page_decode(&decoded, &place, page, page_bytes), PARAPET_ERR_UNSUPPORTED, "version 77");
    pp_free(page);
    free(encoded);
    pp_manifest_head_clear(&head);
}

/* As version 1 wrote them, which had no checksums of chunks: head and page of one shard. */
static void test_manifest__version_1_is_refused_by_name(void **state)
{
    static unsigned char head_bytes[24 + 3 * 32 + 4] = "PARAPETH", page_bytes[24 + 48 + 4] = "PARAPETM";
    const pp_page_place place = {.record_count = 1, .chunk_count = 1};
    pp_manifest_head head;
    pp_manifest_page page;
    (void)state;
    pp_store_u32le(head_bytes + 8, 1);
    pp_store_u32le(head_bytes + 12, 1);
    pp_store_u64le(head_bytes + 16, 1);
    sign(head_bytes, sizeof head_bytes);
    assert_fails(pp_manifest_head_decode(&head, head_bytes, sizeof head_bytes), PARAPET_ERR_UNSUPPORTED,
                 "has version 1, but only 2 is known");
    pp_store_u32le(page_bytes + 8, 1);
    pp_store_u32le(page_bytes + 12, 1);
    sign(page_bytes, sizeof page_bytes);
    assert_fails(pp_manifest_page_decode(&page, &place, page_bytes, sizeof page_bytes), PARAPET_ERR_UNSUPPORTED,
                 "has version 1, but only 2 is known");
}

static void test_manifest__more_shards_than_a_seal_holds_are_refused(void **state)
{
    uint64_t most = (uint64_t)PP_MANIFEST_MAX_PAGES * PP_MANIFEST_PAGE_RECORDS;
    pp_manifest_head head;
    long live = pp_memory_live_count();
    (void)state;
    assert_fails(pp_manifest_head_init(&head, most + 1, 1), PARAPET_ERR_UNSUPPORTED, "2147483649 shards");
    pp_manifest_head_clear(&head);
    assert_fails(pp_manifest_head_init(&head, UINT64_MAX, 1), PARAPET_ERR_UNSUPPORTED, "too many");
    pp_manifest_head_clear(&head);
    assert_fails(pp_manifest_head_init(&head, 1, PP_MANIFEST_MAX_CHUNKS), PARAPET_ERR_UNSUPPORTED, "chunks");
    pp_manifest_head_clear(&head);
    assert_ok(pp_manifest_head_init(&head, most, 1));
    assert_int_equal(head.page_count, PP_MANIFEST_MAX_PAGES);
    pp_manifest_head_clear(&head);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_manifest__head_accepts_its_two_documents_and_no_other(void **state)
{
    pp_manifest_head head;
    unsigned char other[PP_SHA256_BYTES];
    (void)state;
    fill_head(&head, 1);
    memcpy(other, head.document[1], sizeof other);
    assert_true(pp_manifest_head_accepts(&head, head.document[0]));
    assert_true(pp_manifest_head_accepts(&head, other));
    other[31] ^= 1;
    assert_false(pp_manifest_head_accepts(&head, other));
    pp_manifest_head_clear(&head);
}

static void test_manifest__digest_depends_on_every_page_and_on_nothing_else(void **state)
{
    pp_manifest_head head;
    unsigned char before[PP_SHA256_BYTES], after[PP_SHA256_BYTES];
    uint32_t page;
    (void)state;
    fill_head(&head, 20000);
    pp_manifest_head_digest(&head, before);
    head.document[0][0] ^= 1;
    pp_manifest_head_digest(&head, after);
    assert_memory_equal(before, after, sizeof before);
    for (page = 0; page < head.page_count; page++) {
        head.page_digests[page * PP_SHA256_BYTES + page] ^= 1;
        pp_manifest_head_digest(&head, after);
        assert_memory_not_equal(before, after, sizeof before);
        head.page_digests[page * PP_SHA256_BYTES + page] ^= 1;
    }
    pp_manifest_head_clear(&head);
}

/* ---- Pages ---- */

enum { PAGE_RECORDS = 5, CHUNKS = 6, CHECKSUMS = 3 };

/* Every third shard is absent; the others have three of six chunks. */
static void fill_records(pp_shard_record *records, uint32_t count)
{
    static uint32_t checksums[PP_MANIFEST_PAGE_RECORDS * CHECKSUMS];
    test_random random = {7};
    uint32_t i;
    for (i = 0; i < PP_MANIFEST_PAGE_RECORDS * CHECKSUMS; i++)
        checksums[i] = (uint32_t)test_random_next(&random);
    for (i = 0; i < count; i++)
        records[i] = i % 3 == 0 ? (pp_shard_record){.bytes = PP_SHARD_ABSENT}
                                : (pp_shard_record){.bytes = test_random_next(&random) / 2,
                                                    .index_crc32c = (uint32_t)test_random_next(&random),
                                                    .chunk_count = CHECKSUMS,
                                                    .checksums = checksums + (size_t)i * CHECKSUMS};
}

static pp_page_place place_of(uint32_t count, uint64_t first)
{
    return (pp_page_place){.first_shard = first, .record_count = count, .chunk_count = CHUNKS};
}

static unsigned char *encode_page(uint32_t count, uint64_t first, size_t *bytes)
{
    pp_shard_record *records = calloc(count + 1, sizeof *records);
    unsigned char *page = NULL;
    fill_records(records, count);
    assert_ok(pp_manifest_page_encode(records, count, first, &page, bytes));
    free(records);
    return page;
}

static void check_page_of(uint32_t count, uint64_t first)
{
    pp_shard_record *records = calloc(count + 1, sizeof *records);
    pp_page_place place = place_of(count, first);
    pp_manifest_page again;
    size_t bytes;
    unsigned char *page = encode_page(count, first, &bytes);
    uint32_t i;
    fill_records(records, count);
    assert_true(bytes <= pp_manifest_page_most_bytes(count, CHUNKS));
    assert_ok(pp_manifest_page_decode(&again, &place, page, bytes));
    assert_int_equal(again.record_count, count);
    for (i = 0; i < count; i++)
        assert_true(pp_shard_record_equals(&records[i], &again.records[i]));
    pp_manifest_page_clear(&again);
    pp_free(page);
    free(records);
}

static void test_manifest__page_reads_back(void **state)
{
    long live = pp_memory_live_count();
    (void)state;
    check_page_of(0, 0);
    check_page_of(1, 0);
    check_page_of(PAGE_RECORDS, 4096);
    check_page_of(PP_MANIFEST_PAGE_RECORDS, UINT64_C(1) << 40);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_manifest__page_is_laid_out_as_documented(void **state)
{
    uint32_t checksums[] = {0x01020304, 0x05060708};
    pp_shard_record records[] = {
        {.bytes = 0x1122334455667788, .index_crc32c = 0xaabbccdd, .chunk_count = 2, .checksums = checksums},
        {.bytes = PP_SHARD_ABSENT}};
    unsigned char *page = NULL;
    size_t bytes;
    (void)state;
    assert_ok(pp_manifest_page_encode(records, 2, 8192, &page, &bytes));
    assert_int_equal(bytes, 24 + 2 * 16 + 2 * 4 + 4);
    assert_memory_equal(page, "PARAPETM", 8);
    assert_int_equal(pp_load_u32le(page + 8), 2);
    assert_int_equal(pp_load_u32le(page + 12), 2);
    assert_int_equal(pp_load_u64le(page + 16), 8192);
    assert_int_equal(pp_load_u64le(page + 24), 0x1122334455667788);
    assert_int_equal(pp_load_u32le(page + 32), 0xaabbccdd);
    assert_int_equal(pp_load_u32le(page + 36), 2);
    assert_true(pp_load_u64le(page + 40) == PP_SHARD_ABSENT);
    assert_int_equal(pp_load_u32le(page + 52), 0);
    assert_int_equal(pp_load_u32le(page + 56), 0x01020304);
    assert_int_equal(pp_load_u32le(page + 60), 0x05060708);
    assert_int_equal(pp_load_u32le(page + 64), pp_crc32c(0, page, 64));
    pp_free(page);
}

static void assert_page_refused(const unsigned char *page, size_t bytes, const char *words)
{
    pp_page_place place = place_of(PAGE_RECORDS, 4096);
    pp_manifest_page decoded;
    long live = pp_memory_live_count();
    assert_fails(pp_manifest_page_decode(&decoded, &place, page, bytes), PARAPET_ERR_CORRUPT, words);
    assert_null(decoded.records);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_manifest__every_flipped_bit_of_a_page_is_found(void **state)
{
    size_t bit, bytes;
    unsigned char *page = encode_page(PAGE_RECORDS, 4096, &bytes);
    (void)state;
    for (bit = 0; bit < 8 * bytes; bit++) {
        page[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_page_refused(page, bytes, "");
        page[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    pp_free(page);
}

/* With the right checksum, so that the length itself is looked at. */
static void test_manifest__every_other_length_of_a_page_is_refused(void **state)
{
    size_t bytes, whole;
    unsigned char *page = encode_page(PAGE_RECORDS, 4096, &whole);
    (void)state;
    for (bytes = 0; bytes <= whole + 64; bytes++) {
        unsigned char *exact = calloc(1, bytes + 1);
        memcpy(exact, page, bytes < whole ? bytes : whole);
        if (bytes >= 4)
            sign(exact, bytes);
        if (bytes != whole)
            assert_page_refused(exact, bytes, "has ");
        free(exact);
    }
    pp_free(page);
}

static void test_manifest__a_page_of_other_shards_is_refused(void **state)
{
    size_t bytes;
    unsigned char *page = encode_page(PAGE_RECORDS, 8192, &bytes);
    (void)state;
    assert_page_refused(page, bytes, "other shards than 4096 to 4100");
    pp_store_u64le(page + 16, 4096);
    pp_store_u32le(page + 12, PAGE_RECORDS + 1);
    sign(page, bytes);
    assert_page_refused(page, bytes, "other shards than 4096 to 4100");
    pp_free(page);
}

static void test_manifest__more_chunks_than_a_shard_can_have_are_refused_before_memory_is_taken(void **state)
{
    static const uint32_t lies[] = {CHUNKS + 1, UINT32_MAX};
    size_t bytes, i;
    unsigned char *page = encode_page(PAGE_RECORDS, 4096, &bytes);
    (void)state;
    for (i = 0; i < 2; i++) {
        pp_store_u32le(page + 24 + 16 + 12, lies[i]);
        sign(page, bytes);
        assert_page_refused(page, bytes, "shard 4097 has ");
    }
    pp_store_u32le(page + 24 + 16 + 12, CHECKSUMS);
    pp_store_u32le(page + 24 + 12, 1); /* of an absent shard */
    sign(page, bytes);
    assert_page_refused(page, bytes, "shard 4096 has 1 chunks");
    pp_free(page);
}

static void test_manifest__a_head_is_no_page_and_a_page_no_head(void **state)
{
    pp_manifest_head head;
    unsigned char *encoded, *page;
    size_t bytes, page_bytes;
    (void)state;
    fill_head(&head, 1);
    encoded = encode_head(&head, &bytes);
    page = encode_page(PAGE_RECORDS, 4096, &page_bytes);
    assert_page_refused(encoded, bytes, "PARAPETM");
    pp_manifest_head_clear(&head);
    assert_fails(pp_manifest_head_decode(&head, page, page_bytes), PARAPET_ERR_CORRUPT, "PARAPETH");
    pp_free(page);
    free(encoded);
}

static void test_manifest__records_are_equal_only_in_all_their_fields(void **state)
{
    uint32_t checksums[] = {1, 2, 3}, others[] = {1, 2, 4};
    pp_shard_record a = {.bytes = 1, .index_crc32c = 2, .chunk_count = 3, .checksums = checksums}, b;
    (void)state;
    b = a;
    assert_true(pp_shard_record_equals(&a, &b));
    b.bytes = 0;
    assert_false(pp_shard_record_equals(&a, &b));
    b = a;
    b.index_crc32c = 0;
    assert_false(pp_shard_record_equals(&a, &b));
    b = a;
    b.chunk_count = 0;
    assert_false(pp_shard_record_equals(&a, &b));
    b = a;
    b.checksums = others;
    assert_false(pp_shard_record_equals(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manifest__head_reads_back),
        cmocka_unit_test(test_manifest__head_is_laid_out_as_documented),
        cmocka_unit_test(test_manifest__a_small_page_comes_with_the_head),
        cmocka_unit_test(test_manifest__a_page_that_is_long_or_one_of_several_does_not),
        cmocka_unit_test(test_manifest__pages_have_fewer_shards_the_more_chunks_these_have),
        cmocka_unit_test(test_manifest__every_flipped_bit_of_a_head_is_found),
        cmocka_unit_test(test_manifest__every_other_length_of_a_head_is_refused),
        cmocka_unit_test(test_manifest__head_whose_counts_lie_is_refused_before_memory_is_taken),
        cmocka_unit_test(test_manifest__a_later_version_is_unsupported_and_not_corrupt),
        cmocka_unit_test(test_manifest__version_1_is_refused_by_name),
        cmocka_unit_test(test_manifest__more_shards_than_a_seal_holds_are_refused),
        cmocka_unit_test(test_manifest__head_accepts_its_two_documents_and_no_other),
        cmocka_unit_test(test_manifest__digest_depends_on_every_page_and_on_nothing_else),
        cmocka_unit_test(test_manifest__page_reads_back),
        cmocka_unit_test(test_manifest__page_is_laid_out_as_documented),
        cmocka_unit_test(test_manifest__every_flipped_bit_of_a_page_is_found),
        cmocka_unit_test(test_manifest__every_other_length_of_a_page_is_refused),
        cmocka_unit_test(test_manifest__a_page_of_other_shards_is_refused),
        cmocka_unit_test(test_manifest__more_chunks_than_a_shard_can_have_are_refused_before_memory_is_taken),
        cmocka_unit_test(test_manifest__a_head_is_no_page_and_a_page_no_head),
        cmocka_unit_test(test_manifest__records_are_equal_only_in_all_their_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
