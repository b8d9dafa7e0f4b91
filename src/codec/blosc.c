/* blosc: the container of c-blosc 1, which says by itself how to decode it. */
#include <blosc.h>
#include <limits.h>
#include <string.h>

#include "base/status.h"
#include "codec/internal.h"

#define MAX_LEVEL 9
#define USUAL_LEVEL 5
#define SHUFFLE_BY_ELEMENT (-1) /* of numcodecs: bits of single bytes, bytes of all else */

static parapet_status check_spec(const pp_codec_spec *spec)
{
    if (blosc_compname_to_compcode(spec->blosc_compressor) < 0)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "blosc: unknown compressor (cname) \"%s\"", spec->blosc_compressor);
    if (spec->level < 0 || spec->level > MAX_LEVEL)
        return pp_fail(PARAPET_ERR_FORMAT, "blosc: clevel %d is not between 0 and %d", spec->level, MAX_LEVEL);
    if (spec->blosc_shuffle < BLOSC_NOSHUFFLE || spec->blosc_shuffle > BLOSC_BITSHUFFLE)
        return pp_fail(PARAPET_ERR_FORMAT, "blosc: shuffle %d is not 0, 1 or 2", spec->blosc_shuffle);
    if (spec->blosc_type_bytes < 1 || spec->blosc_type_bytes > BLOSC_MAX_TYPESIZE)
        return pp_fail(PARAPET_ERR_FORMAT, "blosc: typesize %d is not between 1 and %d", spec->blosc_type_bytes,
                       BLOSC_MAX_TYPESIZE);
    if (spec->blosc_block_bytes < 0)
        return pp_fail(PARAPET_ERR_FORMAT, "blosc: blocksize %d is negative", spec->blosc_block_bytes);
    return PARAPET_OK;
}

/* An array written without shuffling need not say its typesize. */
static void complete(pp_codec_spec *spec, size_t element_bytes)
{
    if (spec->blosc_type_bytes == 0)
        spec->blosc_type_bytes = element_bytes <= BLOSC_MAX_TYPESIZE ? (int)element_bytes : 1;
    if (spec->blosc_shuffle == SHUFFLE_BY_ELEMENT)
        spec->blosc_shuffle = element_bytes == 1 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE;
}

static parapet_status prepare(pp_stage *stage)
{
    size_t plain = stage->before.encode_bytes;
    parapet_status status;
    complete(&stage->spec, stage->before.format.element_bytes);
    if ((status = check_spec(&stage->spec)) != PARAPET_OK)
        return status;
    if (plain > BLOSC_MAX_BUFFERSIZE)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "blosc: a chunk of %zu bytes is larger than the limit of blosc, %d bytes", plain,
                       BLOSC_MAX_BUFFERSIZE);
    pp_stage_vary(stage, plain + BLOSC_MAX_OVERHEAD);
    return PARAPET_OK;
}

static parapet_status encode(pp_stage_run *run)
{
    const pp_codec_spec *spec = &run->stage->spec;
    int bytes = blosc_compress_ctx(spec->level, spec->blosc_shuffle, (size_t)spec->blosc_type_bytes, run->input.bytes,
                                   run->input.data, run->output, run->capacity, spec->blosc_compressor,
                                   (size_t)spec->blosc_block_bytes, 1);
    if (bytes <= 0)
        return pp_fail(PARAPET_ERR_MEMORY, "blosc: cannot compress %zu bytes with %s", run->input.bytes,
                       spec->blosc_compressor);
    run->result = (pp_bytes){run->output, (size_t)bytes};
    return PARAPET_OK;
}

static parapet_status check_header(const pp_stage_run *run, size_t *bytes)
{
    size_t header_bytes, encoded_bytes, block_bytes;
    if (run->input.bytes < BLOSC_MIN_HEADER_LENGTH)
        return pp_fail(PARAPET_ERR_CORRUPT, "blosc: %zu encoded bytes are too few for a header", run->input.bytes);
    if (blosc_cbuffer_validate(run->input.data, run->input.bytes, bytes) != 0)
        return pp_fail(PARAPET_ERR_CORRUPT, "blosc: the header does not fit %zu encoded bytes", run->input.bytes);
    blosc_cbuffer_sizes(run->input.data, &header_bytes, &encoded_bytes, &block_bytes);
    if (*bytes > run->capacity || (run->stage->before.is_exact && *bytes != run->capacity))
        return pp_fail(PARAPET_ERR_CORRUPT, "blosc: decoded to %zu bytes instead of %zu", *bytes, run->capacity);
    if (encoded_bytes != run->input.bytes || header_bytes != *bytes || block_bytes > *bytes)
        return pp_fail(PARAPET_ERR_CORRUPT, "blosc: the header contradicts itself");
    return PARAPET_OK;
}

static parapet_status decode(pp_stage_run *run)
{
    size_t bytes;
    int decoded;
    parapet_status status = check_header(run, &bytes);
    if (status != PARAPET_OK)
        return status;
    decoded = blosc_decompress_ctx(run->input.data, run->output, run->capacity, 1);
    if (decoded < 0 || (size_t)decoded != bytes)
        return pp_fail(PARAPET_ERR_CORRUPT, "blosc: the %zu encoded bytes are damaged", run->input.bytes);
    run->result = (pp_bytes){run->output, bytes};
    return PARAPET_OK;
}

static void print_library(pp_text *text)
{
    pp_text_add(text, "blosc %s (%s)", blosc_get_version_string(), blosc_list_compressors());
}

static bool carry(pp_codec_spec *spec)
{
    if (spec->blosc_type_bytes > BLOSC_MAX_TYPESIZE)
        spec->blosc_type_bytes = 1;
    return true;
}

/* Few builds of blosc elsewhere have snappy: it is read, but cannot be asked for. */
static const char *const compressors[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy", NULL};
static const char *const common_compressors[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd", NULL};
static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle", NULL};

static const pp_parameter v3_parameters[] = {
    {"cname", PP_PARAMETER_NAME, PP_FIELD(blosc_compressor), .choices = compressors, .is_required = true,
     .has_others = true},
    {"clevel", PP_PARAMETER_INTEGER, PP_FIELD(level), .high = MAX_LEVEL, .usual = USUAL_LEVEL},
    {"shuffle", PP_PARAMETER_CHOICE, PP_FIELD(blosc_shuffle), .choices = shuffles, .usual = BLOSC_SHUFFLE},
    {"typesize", PP_PARAMETER_INTEGER, PP_FIELD(blosc_type_bytes), .low = 1, .high = INT_MAX},
    {"blocksize", PP_PARAMETER_INTEGER, PP_FIELD(blosc_block_bytes), .high = INT_MAX},
    {0},
};
static const pp_parameter v2_parameters[] = {
    {"cname", PP_PARAMETER_NAME, PP_FIELD(blosc_compressor), .choices = compressors, .is_required = true,
     .has_others = true},
    {"clevel", PP_PARAMETER_INTEGER, PP_FIELD(level), .high = MAX_LEVEL, .usual = USUAL_LEVEL},
    {"shuffle", PP_PARAMETER_INTEGER, PP_FIELD(blosc_shuffle), .low = SHUFFLE_BY_ELEMENT, .high = BLOSC_BITSHUFFLE,
     .usual = BLOSC_SHUFFLE},
    {"blocksize", PP_PARAMETER_INTEGER, PP_FIELD(blosc_block_bytes), .high = INT_MAX},
    {0},
};
static const pp_parameter words[] = {
    {"cname", PP_PARAMETER_NAME, PP_FIELD(blosc_compressor), .choices = common_compressors, .usual = 1},
    {"clevel", PP_PARAMETER_INTEGER, PP_FIELD(level), .high = MAX_LEVEL, .usual = USUAL_LEVEL},
    {"shuffle", PP_PARAMETER_CHOICE, PP_FIELD(blosc_shuffle), .choices = shuffles, .usual = BLOSC_SHUFFLE},
    {0},
};

const pp_codec_ops pp_blosc_ops = {
    .traits =
        {
            .name = "blosc",
            .v3_name = "blosc",
            .v2_name = "blosc",
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_COMPRESSOR,
            .v3_parameters = v3_parameters,
            .v2_parameters = v2_parameters,
            .words = words,
            .complete = complete,
            .carry = carry,
            .print_library = print_library,
        },
    .prepare = prepare,
    .encode = encode,
    .decode = decode,
};
