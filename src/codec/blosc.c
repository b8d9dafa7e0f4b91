/* blosc: the container of c-blosc 1, which says by itself how to decode it. */
#include <blosc.h>
#include <string.h>

#include "codec/internal.h"

static parapet_status check_spec(const pp_codec_spec *spec)
{
    if (blosc_compname_to_compcode(spec->blosc_compressor) < 0)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "blosc: unknown compressor (cname) \"%s\"", spec->blosc_compressor);
    if (spec->level < 0 || spec->level > 9)
        return pp_fail(PARAPET_ERR_FORMAT, "blosc: clevel %d is not between 0 and 9", spec->level);
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
static int default_type_bytes(size_t element_bytes)
{
    return element_bytes <= BLOSC_MAX_TYPESIZE ? (int)element_bytes : 1;
}

static parapet_status prepare(pp_stage *stage)
{
    size_t plain = stage->before.encode_bytes;
    parapet_status status;
    if (stage->spec.blosc_type_bytes == 0)
        stage->spec.blosc_type_bytes = default_type_bytes(stage->before.format.element_bytes);
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
        return pp_fail(PARAPET_ERR_CORRUPT, "blosc: %zu encoded bytes are less than a header", run->input.bytes);
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

const pp_codec_ops pp_blosc_ops = {
    .name = "blosc",
    .kind = PP_BYTES_TO_BYTES,
    .prepare = prepare,
    .encode = encode,
    .decode = decode,
};
