/* sharding_indexed as one codec among others: shards built here by hand, and shards of other writers. */
#include "bed.h"

#include "codec/shard_index.h"

static const int32_t fill = -9;

/* Specs own their sharding specs; pp_chain_spec_clear frees them. */
static pp_codec_spec sharding_codec(int ndim, const int64_t *chunk_shape, pp_chain_spec codecs)
{
    pp_sharding_spec *sharding;
    assert_ok(pp_allocate(&sharding, sizeof *sharding));
    sharding->ndim = ndim;
    memcpy(sharding->chunk_shape, chunk_shape, (size_t)ndim * sizeof *chunk_shape);
    sharding->codecs = codecs;
    sharding->index_codecs = spec_of(1, PP_CODEC_CRC32C, 0);
    return (pp_codec_spec){.id = PP_CODEC_SHARDING, .sharding = sharding};
}

static pp_chain_spec sharding_chain(int ndim, const int64_t *chunk_shape, pp_chain_spec codecs)
{
    pp_chain_spec spec = {.count = 1};
    spec.codecs[0] = sharding_codec(ndim, chunk_shape, codecs);
    return spec;
}

static pp_chunk_format format_box(int ndim, const int64_t *shape)
{
    pp_chunk_format format = {.ndim = ndim, .element_bytes = 4, .swap_bytes = 4, .fill_value = &fill};
    memcpy(format.shape, shape, (size_t)ndim * sizeof *shape);
    return format;
}

/* What a shard is made of: encoded chunks, by number; no data: absent. */
typedef struct shard_parts {
    int64_t count;
    pp_bytes chunks[8];
    bool is_index_at_start;
} shard_parts;

/* Lays the chunks out last one first, with a gap before each. */
static pp_bytes shard_join(const shard_parts *parts)
{
    pp_index_format format = {
        .chunk_count = parts->count, .has_crc32c = true, .is_at_start = parts->is_index_at_start};
    size_t index_bytes = pp_index_stored_bytes(&format), at = parts->is_index_at_start ? index_bytes : 0;
    unsigned char *shard = calloc(1, 1 << 16);
    pp_chunk_entry entries[8];
    int64_t i;
    assert_non_null(shard);
    for (i = parts->count - 1; i >= 0; i--) {
        const pp_bytes *chunk = &parts->chunks[i];
        entries[i] = (pp_chunk_entry){PP_CHUNK_ABSENT, PP_CHUNK_ABSENT};
        if (chunk->data == NULL)
            continue;
        at += 3;
        entries[i] = (pp_chunk_entry){at, chunk->bytes};
        memcpy(shard + at, chunk->data, chunk->bytes);
        at += chunk->bytes;
    }
    pp_index_encode(&format, entries, parts->is_index_at_start ? shard : shard + at);
    return (pp_bytes){shard, parts->is_index_at_start ? at : at + index_bytes};
}

/* A row of 4 numbers, encoded as [bytes, zstd]. */
static pp_bytes row_of(int32_t first)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_ZSTD, 0);
    pp_chunk_format format = format_row(4, 4);
    int32_t numbers[4] = {first, first + 1, first + 2, first + 3};
    pp_bytes encoded;
    test_bed bed;
    bed_open(&bed, &spec, &format);
    encoded = bed_encode(&bed, numbers);
    bed_close(&bed);
    return encoded;
}

/* Rows of 4 numbers under each other; the second is absent. */
static pp_bytes shard_of_three_rows(bool is_index_at_start)
{
    shard_parts parts = {.count = 3, .is_index_at_start = is_index_at_start};
    pp_bytes shard;
    parts.chunks[0] = row_of(1);
    parts.chunks[2] = row_of(21);
    shard = shard_join(&parts);
    bytes_free(parts.chunks[0]);
    bytes_free(parts.chunks[2]);
    return shard;
}

static const int64_t row_shape[] = {1, 4}, three_rows[] = {3, 4}, six_rows[] = {6, 4};
static const int32_t three_rows_expected[] = {1, 2, 3, 4, -9, -9, -9, -9, 21, 22, 23, 24};

static void test_sharding__puts_chunks_in_place_and_fills_absent_ones(void **state)
{
    pp_chunk_format format = format_box(2, three_rows);
    int is_at_start;
    (void)state;
    for (is_at_start = 0; is_at_start < 2; is_at_start++) {
        pp_chain_spec spec = sharding_chain(2, row_shape, spec_of(1, PP_CODEC_ZSTD, 0));
        pp_bytes shard = shard_of_three_rows(is_at_start != 0);
        test_bed bed;
        spec.codecs[0].sharding->is_index_at_start = is_at_start != 0;
        bed_open(&bed, &spec, &format);
        pp_chain_spec_clear(&spec); /* the chain must not need it any more */
        assert_false(pp_chain_can_encode(bed.chain));
        assert_false(pp_chain_is_fixed_size(bed.chain));
        bed_check(&bed, shard, three_rows_expected);
        bytes_free(shard);
        bed_close(&bed);
    }
}

static void test_sharding__reads_a_shard_in_a_shard(void **state)
{
    pp_chain_spec inner = sharding_chain(2, row_shape, spec_of(1, PP_CODEC_ZSTD, 0));
    pp_chain_spec spec = sharding_chain(2, three_rows, inner);
    pp_chunk_format format = format_box(2, six_rows);
    shard_parts parts = {.count = 2};
    int32_t expected[24];
    pp_bytes shard;
    test_bed bed;
    int i;
    (void)state;
    for (i = 0; i < 12; i++)
        expected[i] = fill;
    memcpy(expected + 12, three_rows_expected, sizeof three_rows_expected);
    parts.chunks[1] = shard_of_three_rows(false);
    shard = shard_join(&parts);
    bed_open(&bed, &spec, &format);
    assert_int_equal(pp_budget_available(&bed.budget), ((size_t)1 << 30) - pp_chain_scratch_bytes(bed.chain));
    bed_check(&bed, shard, expected);
    bytes_free(shard);
    bytes_free(parts.chunks[1]);
    bed_close(&bed);
    pp_chain_spec_clear(&spec);
}

static void test_sharding__names_the_chunk_that_is_damaged(void **state)
{
    pp_chain_spec spec = sharding_chain(2, row_shape, spec_of(2, PP_CODEC_ZSTD, PP_CODEC_CRC32C));
    pp_chunk_format format = format_box(2, three_rows);
    pp_bytes shard = shard_of_three_rows(false), decoded;
    test_bed bed;
    (void)state;
    bed_open(&bed, &spec, &format);
    assert_fails(bed_decode(&bed, shard, &decoded), PARAPET_ERR_CORRUPT, "chunk 0 of a shard: crc32c: checksum");
    bytes_free(shard);
    bed_close(&bed);
    pp_chain_spec_clear(&spec);
}

static void test_sharding__refuses_every_cut_and_survives_every_flipped_bit(void **state)
{
    pp_chain_spec spec = sharding_chain(2, row_shape, spec_of(1, PP_CODEC_ZSTD, 0));
    pp_chunk_format format = format_box(2, three_rows);
    pp_bytes shard = shard_of_three_rows(false), decoded;
    test_bed bed;
    size_t i;
    (void)state;
    bed_open(&bed, &spec, &format);
    for (i = 0; i < shard.bytes; i++) {
        pp_bytes cut = bytes_copy((pp_bytes){shard.data, i});
        assert_int_equal(bed_decode(&bed, cut, &decoded), PARAPET_ERR_CORRUPT);
        bytes_free(cut);
    }
    bed_close(&bed);
    format.ignore_checksums = true;
    bed_open(&bed, &spec, &format);
    for (i = 0; i < 8 * shard.bytes; i++) {
        pp_bytes flipped = bytes_copy(shard);
        ((unsigned char *)(uintptr_t)flipped.data)[i / 8] ^= (unsigned char)(1u << i % 8);
        if (bed_decode(&bed, flipped, &decoded) == PARAPET_OK)
            assert_int_equal(decoded.bytes, sizeof three_rows_expected);
        bytes_free(flipped);
    }
    bytes_free(shard);
    bed_close(&bed);
    pp_chain_spec_clear(&spec);
}

static void refuse(const pp_chain_spec *spec, const pp_chunk_format *format, parapet_status status, const char *word)
{
    pp_chain *chain;
    long before = pp_memory_live_count();
    assert_fails(pp_chain_build(&chain, spec, format), status, word);
    assert_int_equal(pp_memory_live_count(), before);
}

static void test_sharding__refuses_what_cannot_be(void **state)
{
    static const int64_t odd[] = {2, 4};
    pp_chain_spec spec = sharding_chain(2, odd, spec_of(0, 0, 0)), alone = spec;
    pp_chunk_format format = format_box(2, three_rows);
    (void)state;
    refuse(&spec, &format, PARAPET_ERR_FORMAT, "chunk_shape 2 does not divide the shard's 3 in dimension 0");
    spec.codecs[0].sharding->ndim = 1;
    refuse(&spec, &format, PARAPET_ERR_FORMAT, "chunk_shape has 1 dimensions, but the array has 2");
    spec.codecs[0].sharding->ndim = 2;
    spec.codecs[0].sharding->chunk_shape[0] = 1;
    spec.codecs[0].sharding->codecs = spec_of(1, PP_CODEC_BYTES, 0);
    refuse(&spec, &format, PARAPET_ERR_FORMAT, "sharding_indexed: codecs: bytes cannot follow bytes");
    spec.codecs[0].sharding->index_codecs = spec_of(1, PP_CODEC_ZSTD, 0);
    refuse(&spec, &format, PARAPET_ERR_UNSUPPORTED, "zstd");
    alone.codecs[0].sharding = NULL;
    refuse(&alone, &format, PARAPET_ERR_ARGUMENT, "no configuration");
    format.fill_value = NULL;
    refuse(&spec, &format, PARAPET_ERR_ARGUMENT, "fill value");
    pp_chain_spec_clear(&spec);
}

static void test_sharding__is_at_most_three_deep(void **state)
{
    pp_chain_spec spec = spec_of(0, 0, 0);
    pp_chunk_format format = format_box(2, three_rows);
    pp_chain *chain;
    int depth;
    (void)state;
    for (depth = 1; depth <= PP_MAX_SHARDING_DEPTH; depth++)
        spec = sharding_chain(2, three_rows, spec);
    assert_ok(pp_chain_build(&chain, &spec, &format));
    pp_chain_free(chain);
    spec = sharding_chain(2, three_rows, spec);
    refuse(&spec, &format, PARAPET_ERR_UNSUPPORTED, "3 deep");
    pp_chain_spec_clear(&spec);
}

static int refuse_one(void *context, size_t bytes)
{
    int *left = context;
    (void)bytes;
    return (*left)-- == 0;
}

static parapet_status build_both(const pp_chain_spec *spec, const pp_chunk_format *format, size_t budget_bytes)
{
    pp_chain *chain = NULL;
    pp_chain_scratch *scratch = NULL;
    pp_budget budget;
    parapet_status status;
    pp_budget_init(&budget, budget_bytes);
    if ((status = pp_chain_build(&chain, spec, format)) == PARAPET_OK)
        status = pp_chain_scratch_build(&scratch, chain, &budget);
    pp_chain_scratch_free(scratch);
    pp_chain_free(chain);
    assert_int_equal(pp_budget_available(&budget), budget_bytes);
    return status;
}

static void test_sharding__survives_the_failure_of_every_allocation(void **state)
{
    pp_chain_spec inner = sharding_chain(2, row_shape, spec_of(1, PP_CODEC_GZIP, 0));
    pp_chain_spec spec = sharding_chain(2, three_rows, inner);
    pp_chunk_format format = format_box(2, six_rows);
    long before = pp_memory_live_count();
    parapet_status status = PARAPET_ERR_MEMORY;
    int turn, left;
    (void)state;
    for (turn = 0; turn < 100 && status != PARAPET_OK; turn++) {
        left = turn;
        pp_memory_hook_set(refuse_one, &left);
        status = build_both(&spec, &format, 1 << 24);
        pp_memory_hook_set(NULL, NULL);
        assert_int_equal(pp_memory_live_count(), before);
        assert_true(status == PARAPET_OK || status == PARAPET_ERR_MEMORY);
    }
    assert_in_range(turn, 10, 60);
    for (left = 0; left < 5; left++)
        assert_fails(build_both(&spec, &format, (size_t)left * 4096), PARAPET_ERR_MEMORY, "codec buffers");
    pp_chain_spec_clear(&spec);
}

/* Below: the first shard of int32 arrays that count from 1 in C order, as zarr-python and others wrote them. */

static void check_counting(const pp_chain_spec *spec, const pp_chunk_format *format, const int64_t *array_shape,
                           const char *hex)
{
    pp_bytes shard = bytes_from_hex(hex), decoded;
    int64_t cell[3] = {0}, at = 0, number, i;
    test_bed bed;
    bed_open(&bed, spec, format);
    assert_ok(bed_decode(&bed, shard, &decoded));
    for (; at < (int64_t)decoded.bytes / 4; at++) {
        int32_t value;
        bool is_inside = true;
        memcpy(&value, decoded.data + 4 * at, sizeof value);
        for (number = at, i = format->ndim - 1; i >= 0; number /= format->shape[i], i--)
            cell[i] = number % format->shape[i];
        for (number = 0, i = 0; i < format->ndim; i++) {
            is_inside = is_inside && cell[i] < array_shape[i];
            number = number * array_shape[i] + cell[i];
        }
        assert_int_equal(value, is_inside ? number + 1 : 0);
    }
    bytes_free(shard);
    bed_close(&bed);
}

static const int32_t zero = 0;

static pp_codec_spec transpose_codec(int ndim, const int8_t *order)
{
    pp_codec_spec codec = {.id = PP_CODEC_TRANSPOSE};
    memcpy(codec.order, order, (size_t)ndim * sizeof *order);
    return codec;
}

static void test_sharding__reads_nested_shards_of_others(void **state)
{
    static const int64_t array[] = {9, 9}, shape[] = {8, 8}, middle[] = {4, 4}, small[] = {2, 2};
    static const char shard[] =
        "28b52ffd201081000001000000020000000a0000000b00000028b52ffd201081000003000000040000000c0000000d000000"
        "28b52ffd201081000013000000140000001c0000001d00000028b52ffd201081000015000000160000001e0000001f000000"
        "0000000000000000190000000000000019000000000000001900000000000000320000000000000019000000000000004b00"
        "0000000000001900000000000000fc00b5f228b52ffd201081000005000000060000000e0000000f00000028b52ffd201081"
        "00000700000008000000100000001100000028b52ffd20108100001700000018000000200000002100000028b52ffd201081"
        "0000190000001a00000022000000230000000000000000000000190000000000000019000000000000001900000000000000"
        "320000000000000019000000000000004b000000000000001900000000000000fc00b5f228b52ffd20108100002500000026"
        "0000002e0000002f00000028b52ffd20108100002700000028000000300000003100000028b52ffd20108100003700000038"
        "000000400000004100000028b52ffd2010810000390000003a00000042000000430000000000000000000000190000000000"
        "000019000000000000001900000000000000320000000000000019000000000000004b000000000000001900000000000000"
        "fc00b5f228b52ffd2010810000290000002a000000320000003300000028b52ffd20108100002b0000002c00000034000000"
        "3500000028b52ffd20108100003b0000003c000000440000004500000028b52ffd20108100003d0000003e00000046000000"
        "4700000000000000000000001900000000000000190000000000000019000000000000003200000000000000190000000000"
        "00004b000000000000001900000000000000fc00b5f20000000000000000a800000000000000a800000000000000a8000000"
        "000000005001000000000000a800000000000000f801000000000000a800000000000000924aef3b";
    pp_chain_spec spec = sharding_chain(2, middle, sharding_chain(2, small, spec_of(1, PP_CODEC_ZSTD, 0)));
    pp_chunk_format format = format_box(2, shape);
    (void)state;
    format.fill_value = &zero;
    check_counting(&spec, &format, array, shard);
    pp_chain_spec_clear(&spec);
}

static void test_sharding__reads_a_shard_of_others_inside_gzip(void **state)
{
    static const int64_t shape[] = {4, 4}, small[] = {2, 2};
    static const char hex[] =
        "1f8b0800000000000003d3d8aaff5741a0918181998181810588b980981b88356012fc408e00108b01b138b28420902304c4"
        "12402c09c4ffd100031448e2a08dd0f827b5373a000070b4934b8f000000";
    static const int32_t expected[] = {0, 0, 3, 4, 0, 0, 10, 11, 15, 16, 17, 18, 22, 23, 24, 25};
    pp_chain_spec spec = sharding_chain(2, small, spec_of(1, PP_CODEC_ZSTD, 0));
    pp_chunk_format format = format_box(2, shape);
    pp_bytes shard = bytes_from_hex(hex);
    test_bed bed;
    (void)state;
    format.fill_value = &zero;
    spec.codecs[spec.count++] = (pp_codec_spec){.id = PP_CODEC_GZIP, .level = 5};
    bed_open(&bed, &spec, &format);
    bed_check(&bed, shard, expected);
    bed_close(&bed);
    bytes_free(shard);
    pp_chain_spec_clear(&spec);
}

static void test_sharding__reads_a_transposed_shard_of_others(void **state)
{
    static const int64_t array[] = {9, 7}, shape[] = {8, 6}, small[] = {3, 4};
    static const int8_t order[] = {1, 0};
    static const char shard[] =
        "28b52ffd203081010001000000080000000f0000001600000002000000090000001000000017000000030000000a00000011"
        "0000001800000028b52ffd20308101001d000000240000002b000000320000001e000000250000002c000000330000001f00"
        "0000260000002d0000003400000028b52ffd2030810100040000000b0000001200000019000000050000000c000000130000"
        "001a000000060000000d000000140000001b00000028b52ffd203081010020000000270000002e0000003500000021000000"
        "280000002f000000360000002200000029000000300000003700000000000000000000003900000000000000390000000000"
        "0000390000000000000072000000000000003900000000000000ab000000000000003900000000000000fcfe95be";
    pp_chain_spec spec = {.count = 2};
    pp_chunk_format format = format_box(2, shape);
    (void)state;
    format.fill_value = &zero;
    spec.codecs[0] = transpose_codec(2, order);
    spec.codecs[1] = sharding_codec(2, small, spec_of(1, PP_CODEC_ZSTD, 0));
    check_counting(&spec, &format, array, shard);
    pp_chain_spec_clear(&spec);
}

static void test_sharding__reads_transposed_chunks_of_others(void **state)
{
    static const int64_t array[] = {4, 5, 6}, shape[] = {4, 6, 8}, small[] = {2, 3, 4};
    static const int8_t order[] = {1, 2, 0};
    static const char shard[] =
        "28b52ffd206075010002860a0e10d7395bb03b0048ede456c84e017f3edcb9f0e6c199035ffeaedc3d793b72f6e3ebc6d58b"
        "a71347010028b52ffd2060950100a40205000000230000000600000024000b000000290000000c0000002a00110000002f00"
        "000012000000300003540e000f0128b52ffd20602d0200e40313000000310000001400000032000000150000003300000016"
        "0000003400000019000000370000001a000000380000001b000000390000001c0000003a000100ee002828b52ffd20602501"
        "00e017000000350000001800000036001d0000003b0000001e0000003c0002008348f1801228b52ffd206095010002860b12"
        "906d39844008e4c42dd8dd4ce4999959eb147f3edcb9f0e6c199035ffeaedc3d793b72f6e3ebc6d58ba71347010028b52ffd"
        "2060950100a402410000005f00000042000000600047000000650000004800000066004d0000006b0000004e0000006c0003"
        "540e000f0128b52ffd20602d0200e4034f0000006d000000500000006e000000510000006f00000052000000700000005500"
        "000073000000560000007400000057000000750000005800000076000100ee002828b52ffd2060250100e053000000710000"
        "0054000000720059000000770000005a000000780002008348f1801200000000000000003700000000000000370000000000"
        "00003b0000000000000072000000000000004e00000000000000c0000000000000002d00000000000000ed00000000000000"
        "3b0000000000000028010000000000003b0000000000000063010000000000004e00000000000000b1010000000000002d00"
        "0000000000001d01090e";
    pp_chain_spec chunk = spec_of(2, PP_CODEC_BYTES, PP_CODEC_ZSTD), spec;
    pp_chunk_format format = format_box(3, shape);
    (void)state;
    format.fill_value = &zero;
    chunk.codecs[0] = transpose_codec(3, order);
    spec = sharding_chain(3, small, chunk);
    check_counting(&spec, &format, array, shard);
    pp_chain_spec_clear(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sharding__puts_chunks_in_place_and_fills_absent_ones),
        cmocka_unit_test(test_sharding__reads_a_shard_in_a_shard),
        cmocka_unit_test(test_sharding__names_the_chunk_that_is_damaged),
        cmocka_unit_test(test_sharding__refuses_every_cut_and_survives_every_flipped_bit),
        cmocka_unit_test(test_sharding__refuses_what_cannot_be),
        cmocka_unit_test(test_sharding__is_at_most_three_deep),
        cmocka_unit_test(test_sharding__survives_the_failure_of_every_allocation),
        cmocka_unit_test(test_sharding__reads_nested_shards_of_others),
        cmocka_unit_test(test_sharding__reads_a_shard_of_others_inside_gzip),
        cmocka_unit_test(test_sharding__reads_a_transposed_shard_of_others),
        cmocka_unit_test(test_sharding__reads_transposed_chunks_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
