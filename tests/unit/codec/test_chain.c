#include "bed.h"

#include "codec/internal.h"

static const size_t element_sizes[] = {1, 2, 4, 8, 16};

static pp_chunk_format random_format(test_random *random)
{
    pp_chunk_format format = format_row(1, element_sizes[test_random_between(random, 0, 4)]);
    int i;
    format.swap_bytes = format.element_bytes == 16 && test_random_between(random, 0, 1) ? 8 : format.element_bytes;
    format.ndim = (int)test_random_between(random, 0, 4);
    for (i = 0; i < format.ndim; i++)
        format.shape[i] = test_random_between(random, 1, 9);
    return format;
}

static pp_codec_spec random_transpose(test_random *random, int ndim)
{
    pp_codec_spec codec = {.id = PP_CODEC_TRANSPOSE};
    int i;
    for (i = 0; i < ndim; i++)
        codec.order[i] = (int8_t)i;
    for (i = ndim - 1; i > 0; i--) {
        int other = (int)test_random_between(random, 0, i);
        int8_t kept = codec.order[i];
        codec.order[i] = codec.order[other];
        codec.order[other] = kept;
    }
    return codec;
}

/* Numbers are kept small, since high levels take long. */
static void choose_parameters(test_random *random, const pp_parameter *list, pp_codec_spec *codec)
{
    for (; list != NULL && list->name != NULL; list++) {
        int low = 0, high = 1;
        if (list->kind == PP_PARAMETER_INTEGER) {
            low = list->low > -5 ? list->low : -5;
            high = list->high < 9 ? list->high : 9;
        } else if (list->choices != NULL)
            for (high = 0; list->choices[high + 1] != NULL; high++)
                ;
        pp_parameter_set(list, codec, (int)test_random_between(random, low, high));
    }
}

/* Any codec that encodes bytes. What words offer is everywhere: not every blosc has snappy. */
static pp_codec_spec random_compression(test_random *random)
{
    pp_codec_spec codec = {.id = PP_CODEC_BYTES};
    while (pp_codec_traits_of(codec.id)->kind != PP_BYTES_TO_BYTES || !pp_codec_can_encode(codec.id))
        codec.id = (pp_codec_id)test_random_between(random, 0, PP_CODEC_COUNT - 1);
    choose_parameters(random, pp_codec_traits_of(codec.id)->v3_parameters, &codec);
    choose_parameters(random, pp_codec_traits_of(codec.id)->words, &codec);
    return codec;
}

static pp_chain_spec random_spec(test_random *random, int ndim)
{
    pp_chain_spec spec = {.count = 0};
    int i, before = (int)test_random_between(random, 0, 2), behind = (int)test_random_between(random, 0, 3);
    for (i = 0; i < before; i++)
        spec.codecs[spec.count++] = random_transpose(random, ndim);
    spec.codecs[spec.count++] =
        (pp_codec_spec){.id = PP_CODEC_BYTES, .is_big_endian = test_random_between(random, 0, 1) != 0};
    for (i = 0; i < behind; i++)
        spec.codecs[spec.count++] = random_compression(random);
    return spec;
}

static unsigned char *random_elements(test_random *random, size_t bytes)
{
    unsigned char *data = malloc(bytes);
    bool is_smooth = test_random_between(random, 0, 1) != 0;
    size_t i;
    assert_non_null(data);
    for (i = 0; i < bytes; i++)
        data[i] = is_smooth ? (unsigned char)(i / 40) : (unsigned char)test_random_next(random);
    return data;
}

static void test_chain__decodes_what_it_encoded_for_random_chains_and_shapes(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 2000; round++) {
        pp_chunk_format format = random_format(&random);
        pp_chain_spec spec = random_spec(&random, format.ndim);
        test_bed bed;
        unsigned char *data;
        pp_bytes encoded;
        bed_open(&bed, &spec, &format);
        assert_true(pp_chain_can_encode(bed.chain));
        data = random_elements(&random, pp_chain_decoded_bytes(bed.chain));
        encoded = bed_encode(&bed, data);
        assert_true(encoded.bytes <= pp_chain_encoded_bound(bed.chain));
        if (pp_chain_is_fixed_size(bed.chain))
            assert_int_equal(encoded.bytes, pp_chain_encoded_bound(bed.chain));
        bed_check(&bed, encoded, data);
        bed_check(&bed, encoded, data);
        bytes_free(encoded);
        free(data);
        bed_close(&bed);
    }
}

/* encoded[index[order[0]], index[order[1]], index[order[2]]] = decoded[index], each element reversed. */
static void expect_transposed(const pp_chunk_format *format, const int8_t *order, const unsigned char *decoded,
                              unsigned char *encoded)
{
    int64_t index[3], at, place;
    size_t k, element_bytes = format->element_bytes;
    for (at = 0; at < format->shape[0] * format->shape[1] * format->shape[2]; at++) {
        index[2] = at % format->shape[2];
        index[1] = at / format->shape[2] % format->shape[1];
        index[0] = at / format->shape[2] / format->shape[1];
        place =
            (index[order[0]] * format->shape[order[1]] + index[order[1]]) * format->shape[order[2]] + index[order[2]];
        for (k = 0; k < element_bytes; k++)
            encoded[(size_t)place * element_bytes + k] = decoded[((size_t)at + 1) * element_bytes - 1 - k];
    }
}

static void test_chain__transposes_as_zarr_says(void **state)
{
    static const int8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    test_random random = test_random_start();
    pp_chunk_format format = format_row(1, 4);
    unsigned char decoded[480], expected[480];
    size_t i;
    (void)state;
    format.ndim = 3;
    format.shape[0] = 4, format.shape[1] = 5, format.shape[2] = 6;
    for (i = 0; i < sizeof decoded; i++)
        decoded[i] = (unsigned char)test_random_next(&random);
    for (i = 0; i < 6; i++) {
        pp_chain_spec spec = {.count = 2, .codecs = {{.id = PP_CODEC_TRANSPOSE}, {.is_big_endian = true}}};
        test_bed bed;
        pp_bytes encoded;
        memcpy(spec.codecs[0].order, orders[i], sizeof orders[i]);
        bed_open(&bed, &spec, &format);
        encoded = bed_encode(&bed, decoded);
        expect_transposed(&format, orders[i], decoded, expected);
        assert_int_equal(encoded.bytes, sizeof expected);
        assert_memory_equal(encoded.data, expected, sizeof expected);
        bed_check(&bed, encoded, decoded);
        bytes_free(encoded);
        bed_close(&bed);
    }
}

static void test_chain__swaps_the_parts_of_a_complex_number(void **state)
{
    pp_chain_spec spec = {.count = 1, .codecs = {{.id = PP_CODEC_BYTES, .is_big_endian = true}}};
    pp_chunk_format format = format_row(1, 16);
    test_bed bed;
    pp_bytes encoded;
    (void)state;
    format.swap_bytes = 8;
    bed_open(&bed, &spec, &format);
    encoded = bed_encode(&bed, "abcdefghABCDEFGH");
    assert_memory_equal(encoded.data, "hgfedcbaHGFEDCBA", 16);
    bytes_free(encoded);
    bed_close(&bed);
}

static void test_chain__of_little_bytes_and_crc32c_copies_nothing(void **state)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_CRC32C, 0);
    pp_chunk_format format = format_row(1000, 8);
    test_bed bed;
    pp_bytes encoded, kept, decoded;
    (void)state;
    bed_open(&bed, &spec, &format);
    memset(pp_chain_scratch_chunk(bed.scratch), 7, 8000);
    assert_ok(pp_chain_encode(bed.chain, bed.scratch, &encoded));
    assert_ptr_equal(encoded.data, pp_chain_scratch_chunk(bed.scratch));
    assert_int_equal(encoded.bytes, 8004);
    assert_int_equal(pp_chain_scratch_bytes(bed.chain), 8192);
    assert_true(pp_chain_ends_in_crc32c(bed.chain));
    kept = bytes_copy(encoded);
    assert_ok(bed_decode(&bed, kept, &decoded));
    assert_ptr_equal(decoded.data, kept.data);
    assert_int_equal(decoded.bytes, 8000);
    bytes_free(kept);
    bed_close(&bed);
}

static void test_chain__treats_an_empty_list_as_little_bytes(void **state)
{
    pp_chain_spec spec = {.count = 0};
    pp_chunk_format format = format_row(3, 4);
    test_bed bed;
    pp_bytes encoded;
    (void)state;
    bed_open(&bed, &spec, &format);
    encoded = bed_encode(&bed, "abcdefghijkl");
    assert_int_equal(encoded.bytes, 12);
    assert_memory_equal(encoded.data, "abcdefghijkl", 12);
    assert_false(pp_chain_ends_in_crc32c(bed.chain));
    bytes_free(encoded);
    bed_close(&bed);
}

static void test_chain__detects_every_flipped_bit_and_every_cut_of_a_checksummed_chunk(void **state)
{
    static const pp_codec_id inner[] = {PP_CODEC_CRC32C, PP_CODEC_ZSTD, PP_CODEC_GZIP, PP_CODEC_BLOSC};
    size_t i, bit, bytes;
    (void)state;
    for (i = 0; i < 4; i++) {
        pp_chain_spec spec = spec_of(i == 0 ? 1 : 2, inner[i], PP_CODEC_CRC32C);
        pp_chunk_format format = format_row(50, 4);
        unsigned char data[200], *raw;
        test_bed bed;
        pp_bytes encoded, decoded;
        memset(data, 5, sizeof data);
        bed_open(&bed, &spec, &format);
        encoded = bed_encode(&bed, data);
        raw = (unsigned char *)(uintptr_t)encoded.data;
        for (bit = 0; bit < 8 * encoded.bytes; bit++) {
            raw[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_fails(bed_decode(&bed, encoded, &decoded), PARAPET_ERR_CORRUPT, "crc32c: checksum");
            raw[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        for (bytes = 0; bytes < encoded.bytes; bytes++) {
            pp_bytes cut = bytes_copy((pp_bytes){encoded.data, bytes});
            assert_fails(bed_decode(&bed, cut, &decoded), PARAPET_ERR_CORRUPT, "crc32c");
            bytes_free(cut);
        }
        bed_check(&bed, encoded, data);
        bytes_free(encoded);
        bed_close(&bed);
    }
}

static void test_chain__can_ignore_checksums_but_not_lengths(void **state)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_CRC32C, 0);
    pp_chunk_format format = format_row(3, 4);
    test_bed bed;
    pp_bytes decoded, wrong = {(const unsigned char *)"abcdefghijklXXXX", 16};
    (void)state;
    format.ignore_checksums = true;
    bed_open(&bed, &spec, &format);
    bed_check(&bed, wrong, "abcdefghijkl");
    wrong.bytes = 12;
    assert_fails(bed_decode(&bed, wrong, &decoded), PARAPET_ERR_CORRUPT, "12 encoded bytes instead of 16");
    bed_close(&bed);
}

static void test_chain__never_breaks_on_damaged_or_cut_frames(void **state)
{
    test_random random = test_random_start();
    int round, change;
    (void)state;
    for (round = 0; round < 400; round++) {
        pp_chunk_format format = random_format(&random);
        pp_chain_spec spec = random_spec(&random, format.ndim);
        test_bed bed;
        unsigned char *data;
        pp_bytes encoded, decoded;
        bed_open(&bed, &spec, &format);
        data = random_elements(&random, pp_chain_decoded_bytes(bed.chain));
        encoded = bed_encode(&bed, data);
        for (change = 0; change < 20; change++) {
            size_t bytes = (size_t)test_random_between(&random, 0, (int64_t)encoded.bytes);
            pp_bytes damaged = bytes_copy((pp_bytes){encoded.data, change % 2 ? bytes : encoded.bytes});
            if (damaged.bytes > 0)
                ((unsigned char *)(uintptr_t)damaged.data)[test_random_next(&random) % damaged.bytes] ^=
                    (unsigned char)test_random_between(&random, 1, 255);
            if (bed_decode(&bed, damaged, &decoded) == PARAPET_OK)
                assert_int_equal(decoded.bytes, pp_chain_decoded_bytes(bed.chain));
            bytes_free(damaged);
        }
        bed_check(&bed, encoded, data);
        bytes_free(encoded);
        free(data);
        bed_close(&bed);
    }
}

static const pp_codec_id compressions[] = {PP_CODEC_GZIP, PP_CODEC_ZSTD, PP_CODEC_BLOSC};

static void test_chain__refuses_a_frame_that_decodes_to_another_length(void **state)
{
    static const int64_t lengths[] = {23, 25, 4 << 20};
    static unsigned char zeros[16 << 20];
    size_t i, k;
    (void)state;
    for (i = 0; i < 3; i++)
        for (k = 0; k < 3; k++) {
            pp_chain_spec spec = spec_of(1, compressions[i], 0);
            pp_chunk_format format = format_row(lengths[k], 4), expected = format_row(24, 4);
            test_bed writer, reader;
            pp_bytes encoded, decoded;
            bed_open(&writer, &spec, &format);
            bed_open(&reader, &spec, &expected);
            encoded = bed_encode(&writer, zeros);
            assert_fails(bed_decode(&reader, encoded, &decoded), PARAPET_ERR_CORRUPT, "96");
            bytes_free(encoded);
            bed_close(&reader);
            bed_close(&writer);
        }
}

static void test_chain__reads_several_frames_or_members_but_nothing_behind_them(void **state)
{
    static const pp_codec_id ids[] = {PP_CODEC_GZIP, PP_CODEC_ZSTD};
    static const char text[] = "first half, second half.";
    pp_bytes garbage = {(const unsigned char *)"\x1f\x8b\x08more", 7};
    size_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        pp_chain_spec spec = spec_of(1, ids[i], 0);
        pp_chunk_format half = format_row(12, 1), whole = format_row(24, 1);
        test_bed writer, reader;
        pp_bytes first, second, both, more, decoded;
        bed_open(&writer, &spec, &half);
        bed_open(&reader, &spec, &whole);
        first = bed_encode(&writer, text);
        second = bed_encode(&writer, text + 12);
        both = bytes_join(first, second);
        bed_check(&reader, both, text);
        more = bytes_join(both, garbage);
        assert_fails(bed_decode(&reader, more, &decoded), PARAPET_ERR_CORRUPT, i == 0 ? "gzip" : "zstd: no frame");
        bytes_free(more);
        bytes_free(both);
        bytes_free(second);
        bytes_free(first);
        bed_close(&reader);
        bed_close(&writer);
    }
}

static void check_zstd(const char *hex, const char *sentence)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_ZSTD, 0);
    pp_chunk_format format = format_row(5, 1);
    test_bed bed;
    pp_bytes encoded = bytes_from_hex(hex), decoded;
    bed_open(&bed, &spec, &format);
    if (sentence == NULL)
        bed_check(&bed, encoded, "hello");
    else
        assert_fails(bed_decode(&bed, encoded, &decoded), PARAPET_ERR_CORRUPT, sentence);
    bytes_free(encoded);
    bed_close(&bed);
}

static void test_chain__does_not_need_or_trust_the_size_in_a_zstd_frame(void **state)
{
    (void)state;
    /* a raw block in a frame without content size; the same behind a skippable frame */
    check_zstd("28b52ffd0058"
               "290000"
               "68656c6c6f",
               NULL);
    check_zstd("502a4d1802000000abcd"
               "28b52ffd0058"
               "290000"
               "68656c6c6f",
               NULL);
    /* a frame that claims 2^60 bytes; the largest window; a frame of zstd 0.7; nothing */
    check_zstd("28b52ffde00000000000000010"
               "290000"
               "68656c6c6f",
               "zstd");
    check_zstd("28b52ffd00ff"
               "290000"
               "68656c6c6f",
               "zstd");
    check_zstd("27b52ffd0058"
               "290000"
               "68656c6c6f",
               "no frame");
    check_zstd("", "decoded to 0 bytes instead of 5");
}

/* Chains that pp_chain_build must refuse. */
static void refuse(const pp_chain_spec *spec, const pp_chunk_format *format, parapet_status status, const char *word)
{
    pp_chain *chain;
    assert_fails(pp_chain_build(&chain, spec, format), status, word);
    assert_null(chain);
}

static void test_chain__refuses_codecs_in_the_wrong_order(void **state)
{
    pp_chunk_format format = format_row(4, 4);
    pp_chain_spec two_bytes = spec_of(1, PP_CODEC_BYTES, 0);
    pp_chain_spec late_transpose = spec_of(1, PP_CODEC_TRANSPOSE, 0);
    pp_chain_spec no_bytes = {.count = 1, .codecs = {{.id = PP_CODEC_GZIP}}};
    pp_chain_spec only_transpose = {.count = 1, .codecs = {{.id = PP_CODEC_TRANSPOSE}}};
    pp_chain_spec back_again = spec_of(2, PP_CODEC_GZIP, PP_CODEC_BYTES);
    pp_chain_spec unknown = spec_of(1, (pp_codec_id)99, 0);
    pp_chain_spec many = {.count = PP_MAX_CODECS + 1};
    (void)state;
    refuse(&two_bytes, &format, PARAPET_ERR_FORMAT, "bytes cannot follow bytes");
    refuse(&late_transpose, &format, PARAPET_ERR_FORMAT, "transpose cannot follow bytes");
    refuse(&no_bytes, &format, PARAPET_ERR_FORMAT, "comes before gzip");
    refuse(&only_transpose, &format, PARAPET_ERR_FORMAT, "follows transpose");
    refuse(&back_again, &format, PARAPET_ERR_FORMAT, "bytes cannot follow gzip");
    refuse(&unknown, &format, PARAPET_ERR_UNSUPPORTED, "codec 1 is unknown");
    refuse(&many, &format, PARAPET_ERR_UNSUPPORTED, "17 codecs");
}

static void test_chain__refuses_an_order_that_is_no_permutation(void **state)
{
    static const int8_t orders[][2] = {{0, 0}, {1, 2}, {-1, 0}};
    pp_chunk_format format = format_row(4, 4);
    size_t i;
    (void)state;
    format.ndim = 2;
    format.shape[1] = 3;
    for (i = 0; i < 3; i++) {
        pp_chain_spec spec = {.count = 2, .codecs = {{.id = PP_CODEC_TRANSPOSE}, {.id = PP_CODEC_BYTES}}};
        memcpy(spec.codecs[0].order, orders[i], sizeof orders[i]);
        refuse(&spec, &format, PARAPET_ERR_FORMAT, "permutation");
    }
}

static void test_chain__refuses_bad_settings_naming_them(void **state)
{
    pp_chunk_format format = format_row(4, 4), huge = format_row(1 << 30, 4), odd = format_row(4, 6);
    pp_chain_spec gzip = spec_of(1, PP_CODEC_GZIP, 0), zstd = spec_of(1, PP_CODEC_ZSTD, 0);
    pp_chain_spec blosc = spec_of(1, PP_CODEC_BLOSC, 0), other = blosc;
    (void)state;
    gzip.codecs[1].level = 10;
    refuse(&gzip, &format, PARAPET_ERR_FORMAT, "gzip: level 10");
    zstd.codecs[1].level = 23;
    refuse(&zstd, &format, PARAPET_ERR_FORMAT, "zstd: level 23");
    refuse(&blosc, &huge, PARAPET_ERR_UNSUPPORTED, "4294967296 bytes is larger than the limit of blosc, 2147483631");
    strcpy(other.codecs[1].blosc_compressor, "brotli");
    refuse(&other, &format, PARAPET_ERR_UNSUPPORTED, "brotli");
    blosc.codecs[1].level = 10;
    refuse(&blosc, &format, PARAPET_ERR_FORMAT, "clevel 10");
    blosc.codecs[1].level = 5;
    blosc.codecs[1].blosc_shuffle = 3;
    refuse(&blosc, &format, PARAPET_ERR_FORMAT, "shuffle 3");
    blosc.codecs[1].blosc_shuffle = 0;
    blosc.codecs[1].blosc_type_bytes = 256;
    refuse(&blosc, &format, PARAPET_ERR_FORMAT, "typesize 256");
    blosc.codecs[1].blosc_type_bytes = 4;
    blosc.codecs[1].blosc_block_bytes = -1;
    refuse(&blosc, &format, PARAPET_ERR_FORMAT, "blocksize -1");
    odd.swap_bytes = 4;
    gzip.codecs[1].level = 1;
    refuse(&gzip, &odd, PARAPET_ERR_ARGUMENT, "units of 4");
}

static void test_chain__refuses_shapes_that_no_memory_holds(void **state)
{
    pp_chain_spec spec = spec_of(1, PP_CODEC_ZSTD, 0);
    pp_chunk_format empty = format_row(0, 4), negative = format_row(-1, 4), huge = format_row(INT64_MAX, 16);
    pp_chunk_format nothing = format_row(4, 0), deep = format_row(4, 4), large = format_row((int64_t)1 << 60, 1);
    (void)state;
    deep.ndim = PARAPET_MAX_NDIM + 1;
    refuse(&spec, &empty, PARAPET_ERR_FORMAT, "length 0");
    refuse(&spec, &negative, PARAPET_ERR_FORMAT, "length -1");
    refuse(&spec, &huge, PARAPET_ERR_FORMAT, "too large");
    refuse(&spec, &large, PARAPET_ERR_FORMAT, "zstd: a chunk of 1152921504606846976 bytes is too large");
    refuse(&spec, &nothing, PARAPET_ERR_ARGUMENT, "no bytes");
    refuse(&spec, &deep, PARAPET_ERR_ARGUMENT, "33 dimensions");
}

static void test_chain_scratch__takes_from_the_budget_what_it_said(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 100; round++) {
        pp_chunk_format format = random_format(&random);
        pp_chain_spec spec = random_spec(&random, format.ndim);
        pp_chain_scratch *scratch;
        pp_chain *chain;
        pp_budget budget;
        assert_ok(pp_chain_build(&chain, &spec, &format));
        pp_budget_init(&budget, pp_chain_scratch_bytes(chain));
        assert_ok(pp_chain_scratch_build(&scratch, chain, &budget));
        assert_int_equal(pp_budget_available(&budget), 0);
        pp_chain_scratch_free(scratch);
        pp_budget_init(&budget, pp_chain_scratch_bytes(chain) - 1);
        assert_fails(pp_chain_scratch_build(&scratch, chain, &budget), PARAPET_ERR_MEMORY, "codec buffers");
        assert_null(scratch);
        pp_chain_free(chain);
    }
}

static void test_chain_scratch__is_built_again_only_for_another_chain(void **state)
{
    test_random random = test_random_start();
    pp_chain_scratch *scratch = NULL, *first;
    pp_chain *chains[2];
    pp_budget budget;
    int i;
    (void)state;
    for (i = 0; i < 2; i++) {
        pp_chunk_format format = random_format(&random);
        pp_chain_spec spec = random_spec(&random, format.ndim);
        assert_ok(pp_chain_build(&chains[i], &spec, &format));
    }
    pp_budget_init(&budget, (size_t)1 << 30);
    assert_ok(pp_chain_scratch_ensure(&scratch, chains[0], &budget));
    first = scratch;
    assert_ok(pp_chain_scratch_ensure(&scratch, chains[0], &budget));
    assert_ptr_equal(scratch, first);
    assert_ok(pp_chain_scratch_ensure(&scratch, chains[1], &budget));
    assert_int_equal(pp_budget_used(&budget), pp_chain_scratch_bytes(chains[1]));
    pp_chain_scratch_free(scratch);
    assert_int_equal(pp_budget_used(&budget), 0);
    for (i = 0; i < 2; i++)
        pp_chain_free(chains[i]);
}

static int refuse_one(void *context, size_t bytes)
{
    int *left = context;
    (void)bytes;
    return (*left)-- == 0;
}

static parapet_status build_both(const pp_chain_spec *spec, const pp_chunk_format *format)
{
    pp_chain *chain = NULL;
    pp_chain_scratch *scratch = NULL;
    pp_budget budget;
    parapet_status status;
    pp_budget_init(&budget, 1 << 24);
    if ((status = pp_chain_build(&chain, spec, format)) == PARAPET_OK)
        status = pp_chain_scratch_build(&scratch, chain, &budget);
    pp_chain_scratch_free(scratch);
    pp_chain_free(chain);
    assert_int_equal(pp_budget_available(&budget), 1 << 24);
    return status;
}

static void test_chain__survives_the_failure_of_every_allocation(void **state)
{
    pp_chain_spec spec = spec_of(2, PP_CODEC_GZIP, PP_CODEC_ZSTD);
    pp_chunk_format format = format_row(100, 4);
    long before = pp_memory_live_count();
    int turn, left;
    (void)state;
    for (turn = 0; turn < 100; turn++) {
        parapet_status status;
        left = turn;
        pp_memory_hook_set(refuse_one, &left);
        status = build_both(&spec, &format);
        pp_memory_hook_set(NULL, NULL);
        assert_int_equal(pp_memory_live_count(), before);
        if (status == PARAPET_OK)
            break;
        assert_int_equal(status, PARAPET_ERR_MEMORY);
    }
    assert_in_range(turn, 5, 50);
}

static void check_printed(const pp_chain_spec *spec, const char *expected)
{
    pp_text text = {0};
    pp_chain_spec_print(spec, &text);
    assert_string_equal(text.data, expected);
    pp_text_free(&text);
}

static void test_chain_spec__prints_itself_in_words(void **state)
{
    pp_chain_spec spec = {.count = 4};
    (void)state;
    spec.codecs[0].id = PP_CODEC_TRANSPOSE;
    spec.codecs[1].id = PP_CODEC_BYTES;
    spec.codecs[2] = (pp_codec_spec){.id = PP_CODEC_ZSTD, .level = 3};
    spec.codecs[3].id = PP_CODEC_CRC32C;
    check_printed(&spec, "transpose zstd:3 crc32c");
    spec = spec_of(1, PP_CODEC_BLOSC, 0);
    spec.codecs[0].is_big_endian = true;
    check_printed(&spec, "bytes:big blosc:lz4:3:shuffle");
    spec.count = 0;
    check_printed(&spec, "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain__decodes_what_it_encoded_for_random_chains_and_shapes),
        cmocka_unit_test(test_chain__transposes_as_zarr_says),
        cmocka_unit_test(test_chain__swaps_the_parts_of_a_complex_number),
        cmocka_unit_test(test_chain__of_little_bytes_and_crc32c_copies_nothing),
        cmocka_unit_test(test_chain__treats_an_empty_list_as_little_bytes),
        cmocka_unit_test(test_chain__detects_every_flipped_bit_and_every_cut_of_a_checksummed_chunk),
        cmocka_unit_test(test_chain__can_ignore_checksums_but_not_lengths),
        cmocka_unit_test(test_chain__never_breaks_on_damaged_or_cut_frames),
        cmocka_unit_test(test_chain__refuses_a_frame_that_decodes_to_another_length),
        cmocka_unit_test(test_chain__reads_several_frames_or_members_but_nothing_behind_them),
        cmocka_unit_test(test_chain__does_not_need_or_trust_the_size_in_a_zstd_frame),
        cmocka_unit_test(test_chain__refuses_codecs_in_the_wrong_order),
        cmocka_unit_test(test_chain__refuses_an_order_that_is_no_permutation),
        cmocka_unit_test(test_chain__refuses_bad_settings_naming_them),
        cmocka_unit_test(test_chain__refuses_shapes_that_no_memory_holds),
        cmocka_unit_test(test_chain_scratch__takes_from_the_budget_what_it_said),
        cmocka_unit_test(test_chain_scratch__is_built_again_only_for_another_chain),
        cmocka_unit_test(test_chain__survives_the_failure_of_every_allocation),
        cmocka_unit_test(test_chain_spec__prints_itself_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
