/* gzip (RFC 1952, both ways) and zlib (RFC 1950, decode only), by libdeflate, which works on whole chunks and is two
 * to three times as fast as zlib (docs/results/files.md). */
#include <libdeflate.h>

#include "base/checked.h"
#include "base/status.h"
#include "codec/internal.h"

/* Above it the bound of libdeflate, which is little more than the chunk, could wrap. */
#define MAX_PLAIN_BYTES (SIZE_MAX / 2)

#define MAX_LEVEL 9
#define USUAL_LEVEL 6

typedef struct deflate_context {
    struct libdeflate_compressor *deflating;
    struct libdeflate_decompressor *inflating;
} deflate_context;

static void context_free(void *memory)
{
    deflate_context *context = memory;
    if (context == NULL)
        return;
    libdeflate_free_compressor(context->deflating);
    libdeflate_free_decompressor(context->inflating);
    pp_free(context);
}

static parapet_status context_build(void **memory, const pp_stage *stage, pp_budget *budget)
{
    bool is_gzip = stage->ops == &pp_gzip_ops;
    deflate_context *context;
    parapet_status status = pp_allocate(&context, sizeof *context);
    (void)budget;
    if (status != PARAPET_OK)
        return status;
    context->inflating = libdeflate_alloc_decompressor();
    if (is_gzip)
        context->deflating = libdeflate_alloc_compressor(stage->spec.level < 0 ? USUAL_LEVEL : stage->spec.level);
    if (context->inflating == NULL || (is_gzip && context->deflating == NULL)) {
        context_free(context);
        return pp_fail(PARAPET_ERR_MEMORY, "%s: no memory for the compressor", stage->ops->traits.name);
    }
    *memory = context;
    return PARAPET_OK;
}

static parapet_status prepare_gzip(pp_stage *stage)
{
    size_t plain = stage->before.encode_bytes;
    if (stage->spec.level < -1 || stage->spec.level > MAX_LEVEL)
        return pp_fail(PARAPET_ERR_FORMAT, "gzip: level %d is not between -1 and %d", stage->spec.level, MAX_LEVEL);
    if (plain > MAX_PLAIN_BYTES)
        return pp_fail(PARAPET_ERR_FORMAT, "gzip: a chunk of %zu bytes is too large", plain);
    pp_stage_vary(stage, libdeflate_gzip_compress_bound(NULL, plain));
    return PARAPET_OK;
}

static parapet_status prepare_zlib(pp_stage *stage)
{
    pp_stage_vary(stage, 0);
    return PARAPET_OK;
}

static parapet_status encode(pp_stage_run *run)
{
    struct libdeflate_compressor *deflating = ((deflate_context *)run->context)->deflating;
    size_t bytes = libdeflate_gzip_compress(deflating, run->input.data, run->input.bytes, run->output, run->capacity);
    if (bytes == 0)
        return pp_fail(PARAPET_ERR_INTERNAL, "gzip: %zu bytes did not compress into %zu", run->input.bytes,
                       run->capacity);
    run->result = (pp_bytes){run->output, bytes};
    return PARAPET_OK;
}

/* One stream or member: takes it from what is left to read, and adds what it holds to the result. */
static parapet_status decode_member(pp_stage_run *run, pp_bytes *left)
{
    struct libdeflate_decompressor *inflating = ((deflate_context *)run->context)->inflating;
    const char *name = run->stage->ops->traits.name;
    unsigned char *place = run->output + run->result.bytes;
    size_t room = run->capacity - run->result.bytes;
    size_t taken = 0;
    size_t given = 0;
    enum libdeflate_result code =
        run->stage->ops == &pp_gzip_ops
            ? libdeflate_gzip_decompress_ex(inflating, left->data, left->bytes, place, room, &taken, &given)
            : libdeflate_zlib_decompress_ex(inflating, left->data, left->bytes, place, room, &taken, &given);
    if (code == LIBDEFLATE_INSUFFICIENT_SPACE)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s: decodes to more than %zu bytes", name, run->capacity);
    if (code != LIBDEFLATE_SUCCESS)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s: the %zu encoded bytes are damaged or end too early", name,
                       run->input.bytes);
    *left = (pp_bytes){left->data + taken, left->bytes - taken};
    run->result.bytes += given;
    return PARAPET_OK;
}

static parapet_status decode(pp_stage_run *run)
{
    pp_bytes left = run->input;
    parapet_status status;
    run->result = (pp_bytes){run->output, 0};
    do {
        if ((status = decode_member(run, &left)) != PARAPET_OK)
            return status;
    } while (left.bytes > 0 && run->stage->ops == &pp_gzip_ops);
    if (left.bytes > 0)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s: %zu bytes follow the stream", run->stage->ops->traits.name,
                       left.bytes);
    return PARAPET_OK;
}

static void print_library(pp_text *text)
{
    pp_text_add(text, "libdeflate %s", LIBDEFLATE_VERSION_STRING);
}

static bool carry(pp_codec_spec *spec)
{
    spec->id = PP_CODEC_GZIP;
    if (spec->level < 0 || spec->level > MAX_LEVEL)
        spec->level = USUAL_LEVEL;
    return true;
}

static const pp_parameter v3_parameters[] = {
    {"level", PP_PARAMETER_INTEGER, PP_FIELD(level), .high = MAX_LEVEL, .usual = 5},
    {0},
};
static const pp_parameter words[] = {
    {"level", PP_PARAMETER_INTEGER, PP_FIELD(level), .high = MAX_LEVEL, .usual = USUAL_LEVEL},
    {0},
};

const pp_codec_ops pp_gzip_ops = {
    .traits =
        {
            .name = "gzip",
            .v3_name = "gzip",
            .v2_name = "gzip",
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_COMPRESSOR,
            .v3_parameters = v3_parameters,
            .v2_parameters = pp_v2_level,
            .words = words,
            .carry = carry,
            .print_library = print_library,
        },
    .prepare = prepare_gzip,
    .encode = encode,
    .decode = decode,
    .context_build = context_build,
    .context_free = context_free,
};

const pp_codec_ops pp_zlib_ops = {
    .traits =
        {
            .name = "zlib",
            .v3_name = "numcodecs.zlib",
            .v2_name = "zlib",
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_COMPRESSOR,
            .v3_parameters = pp_v2_level,
            .v2_parameters = pp_v2_level,
            .words = words,
            .carry = carry,
            .print_library = print_library,
        },
    .prepare = prepare_zlib,
    .decode = decode,
    .context_build = context_build,
    .context_free = context_free,
};
