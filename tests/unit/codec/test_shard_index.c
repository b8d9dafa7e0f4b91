#include "bed.h"

#include "codec/shard_index.h"

static pp_sharding_spec sharding_of(int ndim, const int64_t *chunk_shape)
{
    pp_sharding_spec sharding = {.ndim = ndim};
    memcpy(sharding.chunk_shape, chunk_shape, (size_t)ndim * sizeof *chunk_shape);
    sharding.index_codecs = spec_of(1, PP_CODEC_CRC32C, 0);
    return sharding;
}

static pp_index_format format_of(int64_t chunk_count)
{
    return (pp_index_format){.chunk_count = chunk_count, .has_crc32c = true};
}

static void test_index_format__counts_chunks_and_bytes(void **state)
{
    static const int64_t shard[] = {8, 6, 5}, chunk[] = {2, 6, 1};
    pp_sharding_spec sharding = sharding_of(3, chunk);
    pp_index_format format;
    (void)state;
    assert_ok(pp_index_format_init(&format, &sharding, shard));
    assert_int_equal(format.chunk_count, 20);
    assert_true(format.has_crc32c);
    assert_false(format.is_big_endian);
    assert_false(format.is_at_start);
    assert_false(format.ignore_checksums);
    assert_int_equal(pp_index_stored_bytes(&format), 324);
    sharding.index_codecs.count = 1;
    sharding.index_codecs.codecs[0].is_big_endian = true;
    sharding.is_index_at_start = true;
    assert_ok(pp_index_format_init(&format, &sharding, shard));
    assert_true(format.is_big_endian);
    assert_true(format.is_at_start);
    assert_int_equal(pp_index_stored_bytes(&format), 320);
    sharding.ndim = 0;
    assert_ok(pp_index_format_init(&format, &sharding, shard));
    assert_int_equal(format.chunk_count, 1);
}

static void test_index_format__refuses_shapes_that_do_not_divide(void **state)
{
    static const int64_t shard[] = {8, 6}, zero_shard[] = {8, 0};
    static const int64_t bad[][2] = {{3, 6}, {8, 4}, {0, 6}, {-1, 6}, {16, 6}};
    static const int64_t ones[] = {1, 1}, huge[] = {1 << 16, 1 << 15}, beyond[] = {INT64_MAX, INT64_MAX};
    pp_sharding_spec sharding;
    pp_index_format format;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sharding = sharding_of(2, bad[i]);
        assert_fails(pp_index_format_init(&format, &sharding, shard), PARAPET_ERR_FORMAT, "does not divide");
    }
    sharding = sharding_of(2, ones);
    assert_fails(pp_index_format_init(&format, &sharding, zero_shard), PARAPET_ERR_FORMAT, "does not divide");
    assert_fails(pp_index_format_init(&format, &sharding, huge), PARAPET_ERR_UNSUPPORTED, "chunks in a shard");
    assert_fails(pp_index_format_init(&format, &sharding, beyond), PARAPET_ERR_UNSUPPORTED, "chunks in a shard");
}

static void test_index_format__refuses_other_index_codecs(void **state)
{
    static const int64_t shape[] = {4};
    pp_sharding_spec sharding = sharding_of(1, shape);
    pp_index_format format;
    (void)state;
    sharding.index_codecs = spec_of(1, PP_CODEC_GZIP, 0);
    assert_fails(pp_index_format_init(&format, &sharding, shape), PARAPET_ERR_UNSUPPORTED, "gzip");
    sharding.index_codecs = spec_of(2, PP_CODEC_CRC32C, PP_CODEC_CRC32C);
    assert_fails(pp_index_format_init(&format, &sharding, shape), PARAPET_ERR_UNSUPPORTED, "3 codecs");
    sharding.index_codecs.count = 0;
    assert_fails(pp_index_format_init(&format, &sharding, shape), PARAPET_ERR_UNSUPPORTED, "missing");
    sharding.index_codecs = spec_of(0, 0, 0);
    sharding.index_codecs.codecs[0].id = PP_CODEC_TRANSPOSE;
    assert_fails(pp_index_format_init(&format, &sharding, shape), PARAPET_ERR_UNSUPPORTED, "transpose");
}

/* The shard of ZARR's example: two chunks of 21 bytes and two that are absent, 110 bytes in all. */
static void test_index__has_the_bytes_that_others_write(void **state)
{
    const pp_chunk_entry entries[4] = {
        {0, 21}, {21, 21}, {PP_CHUNK_ABSENT, PP_CHUNK_ABSENT}, {PP_CHUNK_ABSENT, PP_CHUNK_ABSENT}};
    pp_index_format format = format_of(4);
    unsigned char stored[68];
    pp_bytes expected = bytes_from_hex("000000000000000015000000000000001500000000000000150000000000000"
                                       "0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
                                       "b1725127");
    (void)state;
    pp_index_encode(&format, entries, stored);
    assert_int_equal(expected.bytes, sizeof stored);
    assert_memory_equal(stored, expected.data, sizeof stored);
    bytes_free(expected);
}

static void test_index__of_one_absent_chunk_has_the_published_checksum(void **state)
{
    const pp_chunk_entry entry = {PP_CHUNK_ABSENT, PP_CHUNK_ABSENT};
    pp_index_format format = format_of(1);
    unsigned char stored[20];
    (void)state;
    pp_index_encode(&format, &entry, stored);
    assert_memory_equal(stored + 16, "\x10\x4c\x2f\xef", 4);
}

static void random_entries(test_random *random, pp_chunk_entry *entries, int64_t count, uint64_t start, uint64_t end)
{
    int64_t i;
    for (i = 0; i < count; i++) {
        entries[i] = (pp_chunk_entry){PP_CHUNK_ABSENT, PP_CHUNK_ABSENT};
        if (test_random_between(random, 0, 3) == 0)
            continue;
        if (start == end)
            continue;
        entries[i].offset = start + (uint64_t)test_random_between(random, 0, (int64_t)((end - start - 1) / 2));
        entries[i].bytes = (uint64_t)test_random_between(random, 1, (int64_t)(end - entries[i].offset));
        start = entries[i].offset + entries[i].bytes;
    }
}

static void test_index__decodes_what_it_encoded_in_every_form(void **state)
{
    test_random random = test_random_start();
    pp_chunk_entry entries[40], decoded[40];
    unsigned char stored[40 * 16 + 4];
    int round;
    (void)state;
    for (round = 0; round < 800; round++) {
        pp_index_format format = format_of(test_random_between(&random, 1, 40));
        uint64_t index_bytes, object_bytes;
        format.is_big_endian = round & 1;
        format.has_crc32c = round & 2;
        format.is_at_start = round & 4;
        index_bytes = pp_index_stored_bytes(&format);
        object_bytes = index_bytes + (uint64_t)test_random_between(&random, 1, INT64_C(1) << 50);
        random_entries(&random, entries, format.chunk_count, format.is_at_start ? index_bytes : 0,
                       format.is_at_start ? object_bytes : object_bytes - index_bytes);
        pp_index_encode(&format, entries, stored);
        memset(decoded, 0, sizeof decoded);
        assert_ok(pp_index_decode(&format, stored, object_bytes, decoded));
        assert_memory_equal(decoded, entries, (size_t)format.chunk_count * sizeof *entries);
    }
}

static void refuse_entry(bool is_at_start, uint64_t offset, uint64_t bytes, const char *word)
{
    const pp_chunk_entry entries[2] = {{60, 40}, {offset, bytes}};
    pp_index_format format = format_of(2);
    pp_chunk_entry decoded[2];
    unsigned char stored[36];
    format.is_at_start = is_at_start;
    pp_index_encode(&format, entries, stored);
    if (word == NULL)
        assert_ok(pp_index_decode(&format, stored, 136, decoded));
    else
        assert_fails(pp_index_decode(&format, stored, 136, decoded), PARAPET_ERR_CORRUPT, word);
}

static void test_index__refuses_chunks_outside_the_data(void **state)
{
    (void)state;
    refuse_entry(false, 0, 60, NULL);
    refuse_entry(false, 0, 61, "overlap");
    refuse_entry(false, 40, 60, NULL); /* shares bytes, but stands for no more than the shard has */
    refuse_entry(false, 99, 1, NULL);
    refuse_entry(false, 0, 101, "chunk 1, 101 bytes at 0, is not within bytes 0 to 100");
    refuse_entry(false, 100, 1, "is not within");
    refuse_entry(false, 99, 2, "is not within");
    refuse_entry(false, UINT64_MAX - 1, 1, "is not within");
    refuse_entry(false, UINT64_MAX - 1, 2, "is not within");
    refuse_entry(false, 2, UINT64_MAX - 1, "is not within");
    refuse_entry(true, 36, 60, NULL);
    refuse_entry(true, 35, 1, "is not within bytes 36 to 136");
    refuse_entry(true, 36, 101, "is not within");
}

static void test_index__refuses_half_absent_and_empty_chunks(void **state)
{
    (void)state;
    refuse_entry(false, PP_CHUNK_ABSENT, PP_CHUNK_ABSENT, NULL);
    refuse_entry(false, PP_CHUNK_ABSENT, 0, "an offset or a length, but not both");
    refuse_entry(false, PP_CHUNK_ABSENT, 5, "an offset or a length, but not both");
    refuse_entry(false, 0, PP_CHUNK_ABSENT, "an offset or a length, but not both");
    refuse_entry(false, 0, 0, "chunk 1 has no bytes");
    refuse_entry(false, 50, 0, "chunk 1 has no bytes");
}

static void test_index__refuses_an_object_shorter_than_itself(void **state)
{
    const pp_chunk_entry absent = {PP_CHUNK_ABSENT, PP_CHUNK_ABSENT};
    pp_index_format format = format_of(1);
    unsigned char stored[20];
    pp_chunk_entry decoded;
    (void)state;
    pp_index_encode(&format, &absent, stored);
    assert_ok(pp_index_decode(&format, stored, 20, &decoded));
    assert_true(pp_chunk_is_absent(&decoded));
    assert_fails(pp_index_decode(&format, stored, 19, &decoded), PARAPET_ERR_CORRUPT, "needs 20 bytes");
}

static void test_index__detects_every_flipped_bit(void **state)
{
    const pp_chunk_entry entries[2] = {{0, 50}, {50, 50}};
    pp_index_format format = format_of(2);
    unsigned char stored[36];
    pp_chunk_entry decoded[2];
    size_t bit;
    (void)state;
    pp_index_encode(&format, entries, stored);
    for (bit = 0; bit < 8 * sizeof stored; bit++) {
        stored[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_fails(pp_index_decode(&format, stored, 136, decoded), PARAPET_ERR_CORRUPT, "checksum is");
        stored[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    format.ignore_checksums = true;
    stored[35] ^= 1;
    assert_ok(pp_index_decode(&format, stored, 136, decoded));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index_format__counts_chunks_and_bytes),
        cmocka_unit_test(test_index_format__refuses_shapes_that_do_not_divide),
        cmocka_unit_test(test_index_format__refuses_other_index_codecs),
        cmocka_unit_test(test_index__has_the_bytes_that_others_write),
        cmocka_unit_test(test_index__of_one_absent_chunk_has_the_published_checksum),
        cmocka_unit_test(test_index__decodes_what_it_encoded_in_every_form),
        cmocka_unit_test(test_index__refuses_chunks_outside_the_data),
        cmocka_unit_test(test_index__refuses_half_absent_and_empty_chunks),
        cmocka_unit_test(test_index__refuses_an_object_shorter_than_itself),
        cmocka_unit_test(test_index__detects_every_flipped_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
