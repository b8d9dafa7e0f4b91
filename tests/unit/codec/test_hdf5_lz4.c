/* Against bytes that the plugin of HDF5 wrote (hdf5plugin 7.1). */
#include "bed.h"

/* Six elements that LZ4 does not make shorter. */
#define PLAIN "ffe42279f3bd068366a852c1bb9651f3cd18ec08f6a4e724"

static pp_chain_spec lz4(void)
{
    return spec_of(1, PP_CODEC_HDF5_LZ4, 0);
}

static void test_hdf5_lz4__joins_its_blocks(void **state)
{
    pp_bytes encoded = bytes_from_hex("0000000000000060000000300000000e4f0500000004001450000500000000"
                                      "00000e4f05000000040014500005000000");
    pp_chunk_format format = format_row(24, 4);
    pp_chain_spec spec = lz4();
    uint32_t expected[24];
    test_bed bed;
    int i;
    (void)state;
    for (i = 0; i < 24; i++)
        expected[i] = 5;
    bed_open(&bed, &spec, &format);
    assert_false(pp_chain_can_encode(bed.chain));
    bed_check(&bed, encoded, expected);
    bytes_free(encoded);
    bed_close(&bed);
}

static void check(const char *hex, bool is_sound, const char *word)
{
    pp_bytes encoded = bytes_from_hex(hex), expected = bytes_from_hex(PLAIN), decoded;
    pp_chunk_format format = format_row(6, 4);
    pp_chain_spec spec = lz4();
    test_bed bed;
    bed_open(&bed, &spec, &format);
    if (is_sound)
        bed_check(&bed, encoded, expected.data);
    else
        assert_fails(bed_decode(&bed, encoded, &decoded), PARAPET_ERR_CORRUPT, word);
    bytes_free(encoded);
    bytes_free(expected);
    bed_close(&bed);
}

static void test_hdf5_lz4__keeps_a_block_that_does_not_get_shorter(void **state)
{
    (void)state;
    check("00000000000000180000001800000018" PLAIN, true, "");
}

static void test_hdf5_lz4__refuses_lengths_that_do_not_fit(void **state)
{
    (void)state;
    check("000000000000001800000018", false, "hdf5_lz4: the 12 encoded bytes are damaged");
    check("00000000000000180000001800000019" PLAIN, false, "damaged");
    check("00000000000000180000001800000018" PLAIN "00", false, "damaged");
    check("00000000000000180000000000000018" PLAIN, false, "damaged");
    check("0000000000000018ffffffff00000018" PLAIN, false, "damaged");
    check("00000000000000190000001900000018" PLAIN, false, "hdf5_lz4: decoded to 25 bytes instead of 24");
    check("ffffffffffffffff0000001800000018" PLAIN, false, "decoded to");
    check("0000", false, "damaged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hdf5_lz4__joins_its_blocks),
        cmocka_unit_test(test_hdf5_lz4__keeps_a_block_that_does_not_get_shorter),
        cmocka_unit_test(test_hdf5_lz4__refuses_lengths_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
