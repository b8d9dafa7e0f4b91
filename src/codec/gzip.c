/* gzip (RFC 1952, both ways) and zlib (RFC 1950, decode only), by zlib. */
#include <zlib.h>

#include "base/checked.h"
#include "codec/internal.h"

/* zlib counts in 32 bits. */
#define PIECE_BYTES ((size_t)1 << 30)

/* What a gzip header and trailer take beyond those that compressBound counts, generously. */
#define GZIP_EXTRA_BYTES 32

#define GZIP_WINDOW_BITS (15 + 16)
#define ZLIB_WINDOW_BITS 15
#define MEMORY_LEVEL 8

#define MAX_LEVEL 9
#define USUAL_LEVEL 6

typedef struct deflate_context {
    z_stream deflating;
    z_stream inflating;
    bool has_deflating;
    bool has_inflating;
} deflate_context;

/* The bytes that the stream has not been shown yet. */
typedef struct rest {
    size_t in_bytes;
    size_t out_bytes;
} rest;

static void *take_memory(void *opaque, uInt count, uInt bytes)
{
    void *memory = NULL;
    (void)opaque;
    return pp_allocate_array(&memory, count, bytes) == PARAPET_OK ? memory : NULL;
}

static void give_memory(void *opaque, void *memory)
{
    (void)opaque;
    pp_free(memory);
}

static void context_free(void *memory)
{
    deflate_context *context = memory;
    if (context == NULL)
        return;
    if (context->has_deflating)
        deflateEnd(&context->deflating);
    if (context->has_inflating)
        inflateEnd(&context->inflating);
    pp_free(context);
}

static void init_stream(z_stream *stream)
{
    stream->zalloc = take_memory;
    stream->zfree = give_memory;
}

static parapet_status context_build(void **memory, const pp_stage *stage, pp_budget *budget)
{
    bool is_gzip = stage->ops == &pp_gzip_ops;
    deflate_context *context;
    parapet_status status = pp_allocate(&context, sizeof *context);
    (void)budget;
    if (status != PARAPET_OK)
        return status;
    init_stream(&context->deflating);
    init_stream(&context->inflating);
    context->has_inflating = inflateInit2(&context->inflating, is_gzip ? GZIP_WINDOW_BITS : ZLIB_WINDOW_BITS) == Z_OK;
    context->has_deflating = is_gzip && deflateInit2(&context->deflating, stage->spec.level, Z_DEFLATED,
                                                     GZIP_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!context->has_inflating || (is_gzip && !context->has_deflating)) {
        context_free(context);
        return pp_fail(PARAPET_ERR_MEMORY, "%s: no memory for the compressor", stage->ops->traits.name);
    }
    *memory = context;
    return PARAPET_OK;
}

static parapet_status prepare_gzip(pp_stage *stage)
{
    size_t plain = stage->before.encode_bytes;
    size_t bound = compressBound(plain);
    if (stage->spec.level < -1 || stage->spec.level > MAX_LEVEL)
        return pp_fail(PARAPET_ERR_FORMAT, "gzip: level %d is not between -1 and %d", stage->spec.level, MAX_LEVEL);
    if (bound < plain || !pp_add_size_fits(bound, GZIP_EXTRA_BYTES, &bound))
        return pp_fail(PARAPET_ERR_FORMAT, "gzip: a chunk of %zu bytes is too large", plain);
    pp_stage_vary(stage, bound);
    return PARAPET_OK;
}

static parapet_status prepare_zlib(pp_stage *stage)
{
    pp_stage_vary(stage, 0);
    return PARAPET_OK;
}

/* Shows the stream more of its input and of its output. */
static void feed(z_stream *stream, rest *left)
{
    if (stream->avail_in == 0) {
        stream->avail_in = (uInt)pp_min_size(left->in_bytes, PIECE_BYTES);
        left->in_bytes -= stream->avail_in;
    }
    if (stream->avail_out == 0) {
        stream->avail_out = (uInt)pp_min_size(left->out_bytes, PIECE_BYTES);
        left->out_bytes -= stream->avail_out;
    }
}

static rest start(z_stream *stream, const pp_stage_run *run)
{
    rest left = {run->input.bytes, run->capacity};
    stream->next_in = (z_const Bytef *)(uintptr_t)run->input.data;
    stream->avail_in = 0;
    stream->next_out = run->output;
    stream->avail_out = 0;
    return left;
}

static parapet_status encode(pp_stage_run *run)
{
    z_stream *stream = &((deflate_context *)run->context)->deflating;
    rest left = start(stream, run);
    int code;
    deflateReset(stream);
    do {
        feed(stream, &left);
        code = deflate(stream, left.in_bytes == 0 ? Z_FINISH : Z_NO_FLUSH);
    } while (code == Z_OK);
    if (code != Z_STREAM_END)
        return pp_fail(PARAPET_ERR_INTERNAL, "gzip: %zu bytes did not compress into %zu", run->input.bytes,
                       run->capacity);
    run->result = (pp_bytes){run->output, (size_t)(stream->next_out - run->output)};
    return PARAPET_OK;
}

static parapet_status refuse(const pp_stage_run *run, const z_stream *stream, int code, bool is_full)
{
    const char *name = run->stage->ops->traits.name;
    if (code == Z_MEM_ERROR)
        return pp_fail(PARAPET_ERR_MEMORY, "%s: no memory for decompression", name);
    if (code == Z_BUF_ERROR && is_full)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s: decodes to more than %zu bytes", name, run->capacity);
    if (code == Z_BUF_ERROR)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s: the %zu encoded bytes end too early", name, run->input.bytes);
    return pp_fail(PARAPET_ERR_CORRUPT, "%s: damaged at encoded byte %td of %zu: %s", name,
                   stream->next_in - run->input.data, run->input.bytes,
                   stream->msg != NULL ? stream->msg : "not a stream of this kind");
}

/* One stream or member; *left is what follows it. */
static parapet_status decode_member(const pp_stage_run *run, z_stream *stream, rest *left)
{
    int code;
    inflateReset(stream);
    do {
        feed(stream, left);
        code = inflate(stream, Z_NO_FLUSH);
    } while (code == Z_OK);
    if (code != Z_STREAM_END)
        return refuse(run, stream, code, stream->avail_out == 0 && left->out_bytes == 0);
    return PARAPET_OK;
}

static parapet_status decode(pp_stage_run *run)
{
    z_stream *stream = &((deflate_context *)run->context)->inflating;
    rest left = start(stream, run);
    parapet_status status;
    do {
        if ((status = decode_member(run, stream, &left)) != PARAPET_OK)
            return status;
        if (run->stage->ops == &pp_zlib_ops)
            break;
    } while (stream->avail_in > 0 || left.in_bytes > 0);
    if (stream->avail_in > 0 || left.in_bytes > 0)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s: %zu bytes follow the stream", run->stage->ops->traits.name,
                       stream->avail_in + left.in_bytes);
    run->result = (pp_bytes){run->output, (size_t)(stream->next_out - run->output)};
    return PARAPET_OK;
}

static void print_library(pp_text *text)
{
    pp_text_add(text, "zlib %s", zlibVersion());
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
