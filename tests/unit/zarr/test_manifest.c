/* The bytes of a seal: what is written reads back, and nothing else does. */
#include "support.h"

#include "base/bytes.h"
#include "codec/crc32c.h"
#include "zarr/manifest.h"

static void fill_head(pp_manifest_head *head, uint64_t shards)
{
    test_random random = {shards + 1};
    size_t i;
    assert_ok(pp_manifest_head_init(head, shards));
    for (i = 0; i < sizeof head->document; i++)
        ((unsigned char *)head->document)[i] = (unsigned char)test_random_next(&random);
    for (i = 0; i < (size_t)head->page_count * PP_SHA256_BYTES; i++)
        head->page_digests[i] = (unsigned char)test_random_next(&random);
}

static unsigned char *encode_head(const pp_manifest_head *head, size_t *bytes)
{
    unsigned char *encoded;
    *bytes = PP_MANIFEST_HEAD_BYTES(head->page_count);
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
    assert_int_equal(bytes, 24 + 4 * 32 + 4);
    assert_memory_equal(encoded, "PARAPETH", 8);
    assert_int_equal(pp_load_u32le(encoded + 8), 1);
    assert_int_equal(pp_load_u32le(encoded + 12), 2);
    assert_int_equal(pp_load_u64le(encoded + 16), 5000);
    assert_memory_equal(encoded + 24, head.document[0], 32);
    assert_memory_equal(encoded + 56, head.document[1], 32);
    assert_memory_equal(encoded + 88, head.page_digests, 64);
    assert_int_equal(pp_load_u32le(encoded + 152), pp_crc32c(0, encoded, 152));
    free(encoded);
    pp_manifest_head_clear(&head);
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
    unsigned char *encoded, page[PP_MANIFEST_PAGE_BYTES(1)];
    size_t bytes;
    (void)state;
    fill_head(&head, 1);
    encoded = encode_head(&head, &bytes);
    pp_store_u32le(encoded + 8, 2);
    sign(encoded, bytes);
    assert_fails(pp_manifest_head_decode(&again, encoded, bytes), PARAPET_ERR_UNSUPPORTED, "version 2");
    pp_manifest_page_encode(&record, 1, 0, page);
    pp_store_u32le(page + 8, 77);
    sign(page, sizeof page);
    assert_fails(pp_manifest_page_decode(&record, 1, 0, page, sizeof page), PARAPET_ERR_UNSUPPORTED, "version 77");
    free(encoded);
    pp_manifest_head_clear(&head);
}

static void test_manifest__more_shards_than_a_seal_holds_are_refused(void **state)
{
    uint64_t most = (uint64_t)PP_MANIFEST_MAX_PAGES * PP_MANIFEST_PAGE_RECORDS;
    pp_manifest_head head;
    long live = pp_memory_live_count();
    (void)state;
    assert_fails(pp_manifest_head_init(&head, most + 1), PARAPET_ERR_UNSUPPORTED, "2147483649 shards");
    pp_manifest_head_clear(&head);
    assert_fails(pp_manifest_head_init(&head, UINT64_MAX), PARAPET_ERR_UNSUPPORTED, "too many");
    pp_manifest_head_clear(&head);
    assert_ok(pp_manifest_head_init(&head, most));
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

enum { PAGE_RECORDS = 5, PAGE_BYTES = 24 + 48 * PAGE_RECORDS + 4 };

static void fill_records(pp_shard_record *records, uint32_t count)
{
    test_random random = {7};
    uint32_t i;
    size_t k;
    for (i = 0; i < count; i++) {
        records[i] = (pp_shard_record){.bytes = i % 3 == 0 ? PP_SHARD_ABSENT : test_random_next(&random),
                                       .index_crc32c = (uint32_t)test_random_next(&random),
                                       .chunk_count = (uint32_t)test_random_next(&random)};
        for (k = 0; k < PP_SHA256_BYTES; k++)
            records[i].digest[k] = (unsigned char)test_random_next(&random);
    }
}

static void check_page_of(uint32_t count, uint64_t first)
{
    pp_shard_record *records = calloc(count + 1, sizeof *records), *again = calloc(count + 1, sizeof *again);
    unsigned char *bytes = malloc(PP_MANIFEST_PAGE_BYTES(count));
    uint32_t i;
    fill_records(records, count);
    pp_manifest_page_encode(records, count, first, bytes);
    assert_ok(pp_manifest_page_decode(again, count, first, bytes, PP_MANIFEST_PAGE_BYTES(count)));
    for (i = 0; i < count; i++)
        assert_true(pp_shard_record_equals(&records[i], &again[i]));
    free(bytes);
    free(again);
    free(records);
}

static void test_manifest__page_reads_back(void **state)
{
    (void)state;
    check_page_of(0, 0);
    check_page_of(1, 0);
    check_page_of(PAGE_RECORDS, 4096);
    check_page_of(PP_MANIFEST_PAGE_RECORDS, UINT64_C(1) << 40);
}

static void test_manifest__page_is_laid_out_as_documented(void **state)
{
    pp_shard_record record = {.bytes = 0x1122334455667788, .index_crc32c = 0xaabbccdd, .chunk_count = 77};
    unsigned char page[PP_MANIFEST_PAGE_BYTES(1)];
    (void)state;
    memset(record.digest, 0xee, sizeof record.digest);
    pp_manifest_page_encode(&record, 1, 8192, page);
    assert_int_equal(sizeof page, 76);
    assert_memory_equal(page, "PARAPETM", 8);
    assert_int_equal(pp_load_u32le(page + 8), 1);
    assert_int_equal(pp_load_u32le(page + 12), 1);
    assert_int_equal(pp_load_u64le(page + 16), 8192);
    assert_int_equal(pp_load_u64le(page + 24), 0x1122334455667788);
    assert_int_equal(pp_load_u32le(page + 32), 0xaabbccdd);
    assert_int_equal(pp_load_u32le(page + 36), 77);
    assert_memory_equal(page + 40, record.digest, 32);
    assert_int_equal(pp_load_u32le(page + 72), pp_crc32c(0, page, 72));
}

static void test_manifest__every_flipped_bit_of_a_page_is_found(void **state)
{
    pp_shard_record records[PAGE_RECORDS], again[PAGE_RECORDS];
    unsigned char page[PAGE_BYTES];
    size_t bit;
    (void)state;
    fill_records(records, PAGE_RECORDS);
    pp_manifest_page_encode(records, PAGE_RECORDS, 0, page);
    for (bit = 0; bit < 8 * sizeof page; bit++) {
        page[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(pp_manifest_page_decode(again, PAGE_RECORDS, 0, page, sizeof page), PARAPET_ERR_CORRUPT);
        page[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

static void test_manifest__every_other_length_of_a_page_is_refused(void **state)
{
    pp_shard_record records[PAGE_RECORDS];
    unsigned char page[PAGE_BYTES + 64] = {0};
    size_t bytes;
    (void)state;
    fill_records(records, PAGE_RECORDS);
    pp_manifest_page_encode(records, PAGE_RECORDS, 0, page);
    for (bytes = 0; bytes <= sizeof page; bytes++) {
        unsigned char *exact = malloc(bytes + 1);
        memcpy(exact, page, bytes);
        if (bytes != PAGE_BYTES)
            assert_fails(pp_manifest_page_decode(records, PAGE_RECORDS, 0, exact, bytes), PARAPET_ERR_CORRUPT,
                         "bytes instead of 268");
        free(exact);
    }
}

static void test_manifest__a_page_of_other_shards_is_refused(void **state)
{
    pp_shard_record records[PAGE_RECORDS];
    unsigned char page[PAGE_BYTES];
    (void)state;
    fill_records(records, PAGE_RECORDS);
    pp_manifest_page_encode(records, PAGE_RECORDS, 4096, page);
    assert_fails(pp_manifest_page_decode(records, PAGE_RECORDS, 0, page, sizeof page), PARAPET_ERR_CORRUPT,
                 "other shards than 0 to 4");
    assert_fails(pp_manifest_page_decode(records, PAGE_RECORDS, 8192, page, sizeof page), PARAPET_ERR_CORRUPT,
                 "other shards");
    pp_store_u32le(page + 12, PAGE_RECORDS + 1);
    sign(page, sizeof page);
    assert_fails(pp_manifest_page_decode(records, PAGE_RECORDS, 4096, page, sizeof page), PARAPET_ERR_CORRUPT,
                 "other shards than 4096 to 4100");
}

static void test_manifest__a_head_is_no_page_and_a_page_no_head(void **state)
{
    pp_manifest_head head;
    pp_shard_record records[2];
    unsigned char *encoded, page[PP_MANIFEST_PAGE_BYTES(2)]; /* as long as a head of one page */
    size_t bytes;
    (void)state;
    fill_head(&head, 1);
    fill_records(records, 2);
    encoded = encode_head(&head, &bytes);
    pp_manifest_page_encode(records, 2, 0, page);
    assert_int_equal(bytes, 124);
    assert_int_equal(sizeof page, 124);
    assert_fails(pp_manifest_page_decode(records, 2, 0, encoded, bytes), PARAPET_ERR_CORRUPT, "PARAPETM");
    pp_manifest_head_clear(&head);
    assert_fails(pp_manifest_head_decode(&head, page, sizeof page), PARAPET_ERR_CORRUPT, "PARAPETH");
    free(encoded);
}

static void test_manifest__records_are_equal_only_in_all_their_fields(void **state)
{
    pp_shard_record a = {.bytes = 1, .index_crc32c = 2, .chunk_count = 3}, b;
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
    b.digest[31] = 1;
    assert_false(pp_shard_record_equals(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manifest__head_reads_back),
        cmocka_unit_test(test_manifest__head_is_laid_out_as_documented),
        cmocka_unit_test(test_manifest__every_flipped_bit_of_a_head_is_found),
        cmocka_unit_test(test_manifest__every_other_length_of_a_head_is_refused),
        cmocka_unit_test(test_manifest__head_whose_counts_lie_is_refused_before_memory_is_taken),
        cmocka_unit_test(test_manifest__a_later_version_is_unsupported_and_not_corrupt),
        cmocka_unit_test(test_manifest__more_shards_than_a_seal_holds_are_refused),
        cmocka_unit_test(test_manifest__head_accepts_its_two_documents_and_no_other),
        cmocka_unit_test(test_manifest__digest_depends_on_every_page_and_on_nothing_else),
        cmocka_unit_test(test_manifest__page_reads_back),
        cmocka_unit_test(test_manifest__page_is_laid_out_as_documented),
        cmocka_unit_test(test_manifest__every_flipped_bit_of_a_page_is_found),
        cmocka_unit_test(test_manifest__every_other_length_of_a_page_is_refused),
        cmocka_unit_test(test_manifest__a_page_of_other_shards_is_refused),
        cmocka_unit_test(test_manifest__a_head_is_no_page_and_a_page_no_head),
        cmocka_unit_test(test_manifest__records_are_equal_only_in_all_their_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
