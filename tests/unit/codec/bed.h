/* bed.h - a chain with its scratch and budget, as the tests of codecs need them again and again. */
#ifndef PARAPET_TESTS_CODEC_BED_H
#define PARAPET_TESTS_CODEC_BED_H

#include "support.h"

#include "codec/traits.h"

typedef struct test_bed {
    pp_budget budget;
    pp_chain *chain;
    pp_chain_scratch *scratch;
} test_bed;

static inline void bed_open(test_bed *bed, const pp_chain_spec *spec, const pp_chunk_format *format)
{
    pp_budget_init(&bed->budget, (size_t)1 << 30);
    assert_ok(pp_chain_build(&bed->chain, spec, format));
    assert_ok(pp_chain_scratch_build(&bed->scratch, bed->chain, &bed->budget));
}

static inline void bed_close(test_bed *bed)
{
    pp_chain_scratch_free(bed->scratch);
    pp_chain_free(bed->chain);
    assert_int_equal(pp_budget_available(&bed->budget), (size_t)1 << 30);
}

/* A copy in memory of exactly that length, so that a sanitizer sees every step beyond it. */
static inline pp_bytes bytes_copy(pp_bytes bytes)
{
    unsigned char *copy = malloc(bytes.bytes > 0 ? bytes.bytes : 1);
    assert_non_null(copy);
    if (bytes.bytes > 0)
        memcpy(copy, bytes.data, bytes.bytes);
    return (pp_bytes){copy, bytes.bytes};
}

static inline void bytes_free(pp_bytes bytes)
{
    free((void *)(uintptr_t)bytes.data);
}

/* a followed by b. */
static inline pp_bytes bytes_join(pp_bytes a, pp_bytes b)
{
    unsigned char *joined = malloc(a.bytes + b.bytes + 1);
    assert_non_null(joined);
    memcpy(joined, a.data, a.bytes);
    memcpy(joined + a.bytes, b.data, b.bytes);
    return (pp_bytes){joined, a.bytes + b.bytes};
}

/* The encoding of data in memory of its own. */
static inline pp_bytes bed_encode(test_bed *bed, const void *data)
{
    pp_bytes encoded;
    memcpy(pp_chain_scratch_chunk(bed->scratch), data, pp_chain_decoded_bytes(bed->chain));
    assert_ok(pp_chain_encode(bed->chain, bed->scratch, &encoded));
    return bytes_copy(encoded);
}

static inline parapet_status bed_decode(test_bed *bed, pp_bytes encoded, pp_bytes *decoded)
{
    return pp_chain_decode(bed->chain, bed->scratch, encoded, decoded);
}

static inline void bed_check(test_bed *bed, pp_bytes encoded, const void *expected)
{
    pp_bytes decoded;
    assert_ok(bed_decode(bed, encoded, &decoded));
    assert_int_equal(decoded.bytes, pp_chain_decoded_bytes(bed->chain));
    assert_memory_equal(decoded.data, expected, decoded.bytes);
}

/* "00ff" as bytes in memory of their own. */
static inline pp_bytes bytes_from_hex(const char *hex)
{
    size_t bytes = strlen(hex) / 2, i;
    unsigned char *data = malloc(bytes + 1);
    assert_non_null(data);
    for (i = 0; i < bytes; i++) {
        unsigned int value;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
        data[i] = (unsigned char)value;
    }
    return (pp_bytes){data, bytes};
}

/* A format of one dimension. */
static inline pp_chunk_format format_row(int64_t count, size_t element_bytes)
{
    static const unsigned char zeros[64];
    return (pp_chunk_format){
        .ndim = 1,
        .shape = {count},
        .element_bytes = element_bytes,
        .swap_bytes = element_bytes,
        .fill_value = zeros,
    };
}

/* A list that starts with little-endian bytes, then one codec, then perhaps another. */
static inline pp_chain_spec spec_of(int count, pp_codec_id first, pp_codec_id second)
{
    pp_chain_spec spec = {.count = count + 1};
    pp_codec_id ids[2] = {first, second};
    int i;
    spec.codecs[0].id = PP_CODEC_BYTES;
    for (i = 0; i < count; i++) {
        spec.codecs[i + 1].id = ids[i];
        spec.codecs[i + 1].level = 3;
        strcpy(spec.codecs[i + 1].blosc_compressor, "lz4");
        spec.codecs[i + 1].blosc_shuffle = 1;
        spec.codecs[i + 1].element_bytes = 4;
    }
    return spec;
}

#endif
