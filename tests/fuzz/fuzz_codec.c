/* fuzz_codec.c - encoded chunks from anyone must not break a chain, and what decodes must survive another round.
 *
 *     | chain | shape | flags | encoded chunk ... |      each of the first three one byte, taken modulo */
#include <stdlib.h>
#include <string.h>

#include "codec/traits.h"

#define MAX_IDS 3
#define MAX_DECODED_BYTES 512

typedef struct chain_choice {
    int count;
    pp_codec_id ids[MAX_IDS];
} chain_choice;

/* Append only: the seeds name these chains by number. A codec needs no row here: see ALONE. */
static const chain_choice chain_choices[] = {
    {1, {PP_CODEC_BYTES}},
    {2, {PP_CODEC_BYTES, PP_CODEC_CRC32C}},
    {2, {PP_CODEC_TRANSPOSE, PP_CODEC_BYTES}},
    {2, {PP_CODEC_BYTES, PP_CODEC_GZIP}},
    {2, {PP_CODEC_BYTES, PP_CODEC_ZSTD}},
    {2, {PP_CODEC_BYTES, PP_CODEC_BLOSC}},
    {3, {PP_CODEC_BYTES, PP_CODEC_ZSTD, PP_CODEC_CRC32C}},
    {3, {PP_CODEC_BYTES, PP_CODEC_GZIP, PP_CODEC_ZSTD}},
    {3, {PP_CODEC_BYTES, PP_CODEC_BLOSC, PP_CODEC_GZIP}},
    {3, {PP_CODEC_TRANSPOSE, PP_CODEC_BYTES, PP_CODEC_ZSTD}},
    {2, {PP_CODEC_BYTES, PP_CODEC_ZLIB}},
    {2, {PP_CODEC_BYTES, PP_CODEC_LZ4}},
    {3, {PP_CODEC_BYTES, PP_CODEC_SHUFFLE, PP_CODEC_ZLIB}},
    {3, {PP_CODEC_BYTES, PP_CODEC_DELTA, PP_CODEC_LZ4}},
    {2, {PP_CODEC_BYTES, PP_CODEC_FLETCHER32}},
    {3, {PP_CODEC_BYTES, PP_CODEC_CRC32, PP_CODEC_ADLER32}},
    {1, {PP_CODEC_SHARDING}},
    {2, {PP_CODEC_SHARDING, PP_CODEC_GZIP}},
    {2, {PP_CODEC_TRANSPOSE, PP_CODEC_SHARDING}},
    {3, {PP_CODEC_BYTES, PP_CODEC_BLOSC, PP_CODEC_CRC32C}},
};
#define CHOICE_COUNT (sizeof chain_choices / sizeof chain_choices[0])

/* From here on the first byte of an input means every codec of the table alone, in its order. */
#define ALONE 128
#define CHAIN_COUNT (CHOICE_COUNT + PP_CODEC_COUNT)

static size_t chain_number_of(uint8_t byte)
{
    return byte < ALONE ? byte % CHOICE_COUNT : CHOICE_COUNT + (size_t)(byte - ALONE) % PP_CODEC_COUNT;
}

static chain_choice chain_choice_of(size_t number)
{
    pp_codec_id id = (pp_codec_id)(number - CHOICE_COUNT);
    if (number < CHOICE_COUNT)
        return chain_choices[number];
    return pp_codec_traits_of(id)->kind == PP_BYTES_TO_BYTES ? (chain_choice){2, {PP_CODEC_BYTES, id}}
                                                             : (chain_choice){2, {id, PP_CODEC_BYTES}};
}

static const unsigned char fill_value[16] = "fill value 12345";

static const pp_chunk_format shape_choices[] = {
    {.ndim = 0, .element_bytes = 4, .swap_bytes = 4},
    {.ndim = 1, .shape = {24}, .element_bytes = 4, .swap_bytes = 4},
    {.ndim = 2, .shape = {4, 6}, .element_bytes = 8, .swap_bytes = 8},
    {.ndim = 3, .shape = {2, 3, 4}, .element_bytes = 16, .swap_bytes = 8},
    {.ndim = 2, .shape = {8, 64}, .element_bytes = 1, .swap_bytes = 1},
};
#define SHAPE_COUNT (sizeof shape_choices / sizeof shape_choices[0])

#define FLAG_IGNORE_CHECKSUMS 1
#define FLAG_BIG_ENDIAN 2
#define FLAG_NESTED 4
#define FLAG_COUNT 8

typedef struct fixture {
    pp_chain *chain;
    pp_chain_scratch *scratch;
} fixture;

/* Built once each: a chain costs far more to build than to run. */
static fixture fixtures[CHAIN_COUNT][SHAPE_COUNT][FLAG_COUNT];
static pp_budget budget;

static void require(bool condition)
{
    if (!condition)
        abort();
}

static pp_sharding_spec *choose_sharding(const pp_chunk_format *format, bool is_transposed, int flags)
{
    pp_sharding_spec *sharding;
    int i;
    require(pp_allocate(&sharding, sizeof *sharding) == PARAPET_OK);
    sharding->ndim = format->ndim;
    for (i = 0; i < format->ndim; i++)
        sharding->chunk_shape[i] = format->shape[is_transposed ? format->ndim - 1 - i : i];
    if (format->ndim > 0)
        sharding->chunk_shape[0] = flags & FLAG_NESTED ? 2 : 1;
    sharding->index_codecs.count = 2;
    sharding->index_codecs.codecs[1].id = PP_CODEC_CRC32C;
    sharding->is_index_at_start = (flags & FLAG_BIG_ENDIAN) != 0;
    if (flags & FLAG_NESTED) {
        sharding->codecs.count = 1;
        sharding->codecs.codecs[0].id = PP_CODEC_SHARDING;
        sharding->codecs.codecs[0].sharding = choose_sharding(format, is_transposed, flags & ~FLAG_NESTED);
    } else {
        sharding->codecs.count = 2;
        sharding->codecs.codecs[1].id = PP_CODEC_ZSTD;
    }
    return sharding;
}

static void set_parameters(const pp_parameter *list, pp_codec_spec *codec)
{
    for (; list != NULL && list->name != NULL; list++)
        pp_parameter_set(list, codec, list->usual);
}

static pp_chain_spec choose_spec(const chain_choice *choice, const pp_chunk_format *format, int flags)
{
    pp_chain_spec spec = {.count = choice->count};
    int i, k;
    for (i = 0; i < choice->count; i++) {
        pp_codec_spec *codec = &spec.codecs[i];
        codec->id = choice->ids[i];
        set_parameters(pp_codec_traits_of(codec->id)->v2_parameters, codec);
        set_parameters(pp_codec_traits_of(codec->id)->v3_parameters, codec);
        codec->level = 1;
        codec->is_big_endian = (flags & FLAG_BIG_ENDIAN) != 0;
        strcpy(codec->blosc_compressor, "lz4");
        codec->blosc_shuffle = 1;
        codec->element_bytes = 4;
        for (k = 0; k < format->ndim; k++)
            codec->order[k] = (int8_t)(format->ndim - 1 - k);
        if (codec->id == PP_CODEC_SHARDING)
            codec->sharding = choose_sharding(format, i > 0, flags);
    }
    return spec;
}

static fixture *choose_fixture(const uint8_t *choice)
{
    size_t chain = chain_number_of(choice[0]), shape = choice[1] % SHAPE_COUNT, flags = choice[2] % FLAG_COUNT;
    fixture *chosen = &fixtures[chain][shape][flags];
    pp_chunk_format format = shape_choices[shape];
    chain_choice ids = chain_choice_of(chain);
    pp_chain_spec spec;
    if (chosen->chain != NULL)
        return chosen;
    if (budget.limit_bytes == 0)
        pp_budget_init(&budget, (size_t)256 << 20);
    format.fill_value = fill_value;
    format.ignore_checksums = (flags & FLAG_IGNORE_CHECKSUMS) != 0;
    spec = choose_spec(&ids, &format, (int)flags);
    if (pp_chain_build(&chosen->chain, &spec, &format) == PARAPET_OK)
        require(pp_chain_scratch_build(&chosen->scratch, chosen->chain, &budget) == PARAPET_OK);
    pp_chain_spec_clear(&spec);
    return chosen;
}

static void check_another_round(fixture *chosen, pp_bytes decoded)
{
    unsigned char kept[MAX_DECODED_BYTES];
    pp_bytes encoded;
    require(decoded.bytes <= sizeof kept);
    memcpy(kept, decoded.data, decoded.bytes);
    memcpy(pp_chain_scratch_chunk(chosen->scratch), kept, decoded.bytes);
    require(pp_chain_encode(chosen->chain, chosen->scratch, &encoded) == PARAPET_OK);
    require(encoded.bytes <= pp_chain_encoded_bound(chosen->chain));
    encoded.data = memcpy(malloc(encoded.bytes), encoded.data, encoded.bytes);
    require(pp_chain_decode(chosen->chain, chosen->scratch, encoded, &decoded) == PARAPET_OK);
    require(memcmp(kept, decoded.data, decoded.bytes) == 0);
    free((void *)(uintptr_t)encoded.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fixture *chosen;
    pp_bytes decoded;
    if (bytes < 3)
        return 0;
    chosen = choose_fixture(data);
    if (chosen->chain == NULL)
        return 0;
    if (pp_chain_decode(chosen->chain, chosen->scratch, (pp_bytes){data + 3, bytes - 3}, &decoded) != PARAPET_OK)
        return 0;
    require(decoded.bytes == pp_chain_decoded_bytes(chosen->chain));
    if (pp_chain_can_encode(chosen->chain))
        check_another_round(chosen, decoded);
    return 0;
}
