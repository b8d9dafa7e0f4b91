/* The codecs that only Zarr v2 has, against bytes that numcodecs 0.16 wrote. */
#include "bed.h"

/* The elements 7, 1007, 8007, 27007, 64007, 125007 as u32, in both byte orders. */
#define LITTLE "07000000ef030000471f00007f69000007fa00004fe80100"

static void check_row(const pp_chain_spec *spec, size_t element_bytes, const char *encoded_hex,
                      const char *decoded_hex)
{
    pp_bytes encoded = bytes_from_hex(encoded_hex), expected = bytes_from_hex(decoded_hex);
    pp_chunk_format format = format_row((int64_t)(expected.bytes / element_bytes), element_bytes);
    test_bed bed;
    bed_open(&bed, spec, &format);
    assert_false(pp_chain_can_encode(bed.chain));
    assert_true(encoded.bytes <= pp_chain_encoded_bound(bed.chain));
    bed_check(&bed, encoded, expected.data);
    bytes_free(expected);
    bytes_free(encoded);
    bed_close(&bed);
}

static void refuse_row(const pp_chain_spec *spec, const char *encoded_hex, const char *word)
{
    pp_chunk_format format = format_row(6, 4);
    pp_bytes encoded = bytes_from_hex(encoded_hex), decoded;
    test_bed bed;
    bed_open(&bed, spec, &format);
    assert_fails(bed_decode(&bed, encoded, &decoded), PARAPET_ERR_CORRUPT, word);
    bytes_free(encoded);
    bed_close(&bed);
}

static void test_shuffle__is_undone(void **state)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_SHUFFLE, 0);
    (void)state;
    check_row(&spec, 4, "07ef477f074f00031f69fae8000000000001000000000000", LITTLE);
    spec.codecs[1].element_bytes = 1;
    check_row(&spec, 4, LITTLE, LITTLE);
    spec.codecs[1].element_bytes = 5;
    check_row(&spec, 1, "010203040506070809", "010203040506070809");
    check_row(&spec, 1, "0106020703080409050aff", "0102030405060708090aff");
}

static void test_delta__adds_up_integers_in_either_byte_order(void **state)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_DELTA, 0);
    (void)state;
    check_row(&spec, 4, "07000000e8030000581b0000384a00008890000048ee0000", LITTLE);
    spec.codecs[0].is_big_endian = true;
    spec.codecs[1].is_big_endian = true;
    check_row(&spec, 4, "00000007000003e800001b5800004a38000090880000ee48", LITTLE);
    spec.codecs[1].element_bytes = 1;
    check_row(&spec, 1, "01f90901c4", "01fa0304c8");
}

static void test_delta__adds_up_floats_in_their_own_precision(void **state)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_DELTA, 0);
    (void)state;
    spec.codecs[1].delta_kind = PP_DELTA_FLOAT;
    check_row(&spec, 4, "0000c03f000070c0f9021550f90215d0", "0000c03f000010c0f902155000000000");
    spec.codecs[1].element_bytes = 8;
    check_row(&spec, 8, "000000000000f83f0000000000000ec0000012205fa002420000e81f5fa002c2",
              "000000000000f83f00000000000002c0000000205fa002420000000000000840");
}

static void test_delta__refuses_elements_that_it_cannot_add(void **state)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_DELTA, 0);
    pp_chunk_format format = format_row(6, 4);
    pp_chain *chain;
    (void)state;
    spec.codecs[1].element_bytes = 3;
    assert_fails(pp_chain_build(&chain, &spec, &format), PARAPET_ERR_UNSUPPORTED, "integers of 3 bytes");
    spec.codecs[1].element_bytes = 2;
    spec.codecs[1].delta_kind = PP_DELTA_FLOAT;
    assert_fails(pp_chain_build(&chain, &spec, &format), PARAPET_ERR_UNSUPPORTED, "floating-point numbers of 2");
}

static void test_fletcher32__is_checked(void **state)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_FLETCHER32, 0);
    (void)state;
    check_row(&spec, 4, LITTLE "6f1553a0", LITTLE);
    check_row(&spec, 1, "010203040506070c10201e", "01020304050607");
    refuse_row(&spec, LITTLE "6f1553a1", "fletcher32: checksum of 24 bytes is a053156f, but a153156f is stored");
}

static void test_fletcher32__folds_long_sums(void **state)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_FLETCHER32, 0);
    pp_chunk_format format = format_row(2000, 1);
    unsigned char data[2004];
    test_bed bed;
    int i;
    (void)state;
    for (i = 0; i < 2000; i++)
        data[i] = (unsigned char)(i * 37 % 251);
    memcpy(data + 2000, "\x8f\x22\xe3\xdd", 4);
    bed_open(&bed, &spec, &format);
    bed_check(&bed, (pp_bytes){data, sizeof data}, data);
    bed_close(&bed);
}

static void test_crc32_and_adler32__stand_before_the_bytes(void **state)
{
    pp_chain_spec crc32 = spec_of(1, PP_CODEC_CRC32, 0), adler32 = spec_of(1, PP_CODEC_ADLER32, 0);
    (void)state;
    check_row(&crc32, 4, "37cb9900" LITTLE, LITTLE);
    check_row(&adler32, 4, "8104612f" LITTLE, LITTLE);
    refuse_row(&crc32, "37cb9901" LITTLE, "crc32: checksum");
    refuse_row(&adler32, "8104612e" LITTLE, "adler32: checksum");
}

static void test_lz4__needs_the_right_length_before_its_block(void **state)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_LZ4, 0);
    char zeros[129];
    (void)state;
    memset(zeros, '0', 128);
    zeros[128] = 0;
    check_row(&spec, 1, "400000001f00010027500000000000", zeros);
    refuse_row(&spec, "400000001f00010027500000000000", "lz4: decoded to 64 bytes instead of 24");
    refuse_row(&spec, "180000001f00010027500000000000", "lz4: the 15 encoded bytes are damaged");
    refuse_row(&spec, "1800ff", "lz4: 3 encoded bytes");
}

static void test_zlib__is_one_stream_and_nothing_behind_it(void **state)
{
    static const char stream[] = "789c6367606078cfccc0e02ecfc0509fc9c0c0fe8b81c1ff052303002f610481";
    pp_chain_spec spec = spec_of(1, PP_CODEC_ZLIB, 0);
    (void)state;
    check_row(&spec, 4, stream, LITTLE);
    refuse_row(&spec, "789c6367606078cfccc0e02ecfc0509fc9c0c0fe8b81c1ff052303002f61048100", "1 bytes follow");
    refuse_row(&spec, "789c6367606078cfccc0e02ecfc0509fc9c0c0fe8b81c1ff052303002f610482",
               "zlib: the 32 encoded bytes are damaged");
    refuse_row(&spec, "789c6367606078cfccc0e02ecfc0509fc9c0", "end too early");
    refuse_row(&spec, "", "end too early");
}

/* A big-endian array behind crc32, whose result begins four bytes into a buffer. */
static void test_v2_codecs__work_in_place_at_any_offset(void **state)
{
    pp_chain_spec spec = spec_of(2, PP_CODEC_CRC32, PP_CODEC_SHUFFLE);
    pp_chunk_format format = format_row(1, 16);
    test_bed bed;
    (void)state;
    spec.codecs[0].is_big_endian = true;
    spec.codecs[2].element_bytes = 2;
    format.ignore_checksums = true;
    bed_open(&bed, &spec, &format);
    bed_check(&bed, (pp_bytes){(const unsigned char *)"??bdfhjlnp??cegikmoq", 20}, "qponmlkjihgfedcb");
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffle__is_undone),
        cmocka_unit_test(test_delta__adds_up_integers_in_either_byte_order),
        cmocka_unit_test(test_delta__adds_up_floats_in_their_own_precision),
        cmocka_unit_test(test_delta__refuses_elements_that_it_cannot_add),
        cmocka_unit_test(test_fletcher32__is_checked),
        cmocka_unit_test(test_fletcher32__folds_long_sums),
        cmocka_unit_test(test_crc32_and_adler32__stand_before_the_bytes),
        cmocka_unit_test(test_lz4__needs_the_right_length_before_its_block),
        cmocka_unit_test(test_zlib__is_one_stream_and_nothing_behind_it),
        cmocka_unit_test(test_v2_codecs__work_in_place_at_any_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
