/* zstd (RFC 8878). We write one frame that states its content size; we read any number of frames, with or
 * without one, into memory whose size comes from the chunk's shape and never from a frame. */
#include <zstd.h>

#include "base/bytes.h"
#include "base/status.h"
#include "codec/internal.h"

#define FRAME_MAGIC UINT32_C(0xFD2FB528)
#define SKIPPABLE_MAGIC UINT32_C(0x184D2A50)
#define SKIPPABLE_MASK UINT32_C(0xFFFFFFF0)
#define WINDOW_LOG_MAX 27
#define MIN_LEVEL (-131072)
#define MAX_LEVEL 22

typedef struct zstd_context {
    ZSTD_CCtx *compressor;
    ZSTD_DCtx *decompressor;
} zstd_context;

static void context_free(void *memory)
{
    zstd_context *context = memory;
    if (context == NULL)
        return;
    ZSTD_freeCCtx(context->compressor);
    ZSTD_freeDCtx(context->decompressor);
    pp_free(context);
}

static bool configure(zstd_context *context, const pp_codec_spec *spec)
{
    return !ZSTD_isError(ZSTD_CCtx_setParameter(context->compressor, ZSTD_c_compressionLevel, spec->level)) &&
           !ZSTD_isError(
               ZSTD_CCtx_setParameter(context->compressor, ZSTD_c_checksumFlag, spec->has_frame_checksum)) &&
           !ZSTD_isError(ZSTD_DCtx_setParameter(context->decompressor, ZSTD_d_windowLogMax, WINDOW_LOG_MAX));
}

static parapet_status context_build(void **memory, const pp_stage *stage, pp_budget *budget)
{
    zstd_context *context;
    parapet_status status = pp_allocate(&context, sizeof *context);
    (void)budget;
    if (status != PARAPET_OK)
        return status;
    context->compressor = ZSTD_createCCtx();
    context->decompressor = ZSTD_createDCtx();
    if (context->compressor == NULL || context->decompressor == NULL || !configure(context, &stage->spec)) {
        context_free(context);
        return pp_fail(PARAPET_ERR_MEMORY, "zstd: no memory for the compressor");
    }
    *memory = context;
    return PARAPET_OK;
}

static parapet_status prepare(pp_stage *stage)
{
    int level = stage->spec.level;
    size_t plain = stage->before.encode_bytes;
    size_t bound = ZSTD_compressBound(plain);
    if (level < ZSTD_minCLevel() || level > ZSTD_maxCLevel())
        return pp_fail(PARAPET_ERR_FORMAT, "zstd: level %d is not between %d and %d", level, ZSTD_minCLevel(),
                       ZSTD_maxCLevel());
    if (ZSTD_isError(bound) || bound < plain)
        return pp_fail(PARAPET_ERR_FORMAT, "zstd: a chunk of %zu bytes is too large", plain);
    pp_stage_vary(stage, bound);
    return PARAPET_OK;
}

static parapet_status encode(pp_stage_run *run)
{
    zstd_context *context = run->context;
    size_t bytes = ZSTD_compress2(context->compressor, run->output, run->capacity, run->input.data, run->input.bytes);
    if (ZSTD_isError(bytes))
        return pp_fail(PARAPET_ERR_MEMORY, "zstd: cannot compress %zu bytes: %s", run->input.bytes,
                       ZSTD_getErrorName(bytes));
    run->result = (pp_bytes){run->output, bytes};
    return PARAPET_OK;
}

/* Frames from before zstd 0.8 would go to decoders that nobody tests any more. */
static bool is_frame_start(pp_bytes rest)
{
    uint32_t magic;
    if (rest.bytes < 4)
        return false;
    magic = pp_load_u32le(rest.data);
    return magic == FRAME_MAGIC || (magic & SKIPPABLE_MASK) == SKIPPABLE_MAGIC;
}

static parapet_status decode_frame(pp_stage_run *run, pp_bytes *rest)
{
    zstd_context *context = run->context;
    size_t frame_bytes, bytes;
    if (!is_frame_start(*rest))
        return pp_fail(PARAPET_ERR_CORRUPT, "zstd: no frame at encoded byte %zu of %zu",
                       run->input.bytes - rest->bytes, run->input.bytes);
    frame_bytes = ZSTD_findFrameCompressedSize(rest->data, rest->bytes);
    if (ZSTD_isError(frame_bytes))
        return pp_fail(PARAPET_ERR_CORRUPT, "zstd: the frame at encoded byte %zu of %zu is damaged: %s",
                       run->input.bytes - rest->bytes, run->input.bytes, ZSTD_getErrorName(frame_bytes));
    bytes = ZSTD_decompressDCtx(context->decompressor, run->output + run->result.bytes,
                                run->capacity - run->result.bytes, rest->data, frame_bytes);
    if (ZSTD_isError(bytes))
        return pp_fail(PARAPET_ERR_CORRUPT, "zstd: cannot decode into %zu bytes: %s", run->capacity,
                       ZSTD_getErrorName(bytes));
    run->result.bytes += bytes;
    rest->data += frame_bytes;
    rest->bytes -= frame_bytes;
    return PARAPET_OK;
}

static parapet_status decode(pp_stage_run *run)
{
    pp_bytes rest = run->input;
    parapet_status status = PARAPET_OK;
    run->result = (pp_bytes){run->output, 0};
    while (status == PARAPET_OK && rest.bytes > 0)
        status = decode_frame(run, &rest);
    return status;
}

static void print_library(pp_text *text)
{
    pp_text_add(text, "zstd %s", ZSTD_versionString());
}

static bool carry(pp_codec_spec *spec)
{
    if (spec->level > MAX_LEVEL)
        spec->level = MAX_LEVEL;
    return true;
}

static const pp_parameter v3_parameters[] = {
    {"level", PP_PARAMETER_INTEGER, PP_FIELD(level), .low = MIN_LEVEL, .high = MAX_LEVEL},
    {"checksum", PP_PARAMETER_FLAG, PP_FIELD(has_frame_checksum), .usual = false},
    {0},
};
static const pp_parameter words[] = {
    {"level", PP_PARAMETER_INTEGER, PP_FIELD(level), .high = MAX_LEVEL, .usual = 3},
    {0},
};

const pp_codec_ops pp_zstd_ops = {
    .traits =
        {
            .name = "zstd",
            .v3_name = "zstd",
            .v2_name = "zstd",
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_COMPRESSOR,
            .v3_parameters = v3_parameters,
            .v2_parameters = pp_v2_level,
            .words = words,
            .carry = carry,
            .print_library = print_library,
        },
    .prepare = prepare,
    .encode = encode,
    .decode = decode,
    .context_build = context_build,
    .context_free = context_free,
};
