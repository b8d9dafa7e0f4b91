/* lz4 as numcodecs stores it (Zarr v2): the decoded length in four bytes, then one LZ4 block. */
#include <limits.h>
#include <lz4.h>

#include "base/bytes.h"
#include "base/status.h"
#include "codec/internal.h"

#define LENGTH_BYTES 4

static parapet_status prepare(pp_stage *stage)
{
    if (stage->before.decode_bytes > LZ4_MAX_INPUT_SIZE)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "lz4: a chunk of %zu bytes is larger than the limit of LZ4, %d bytes",
                       stage->before.decode_bytes, LZ4_MAX_INPUT_SIZE);
    pp_stage_vary(stage, 0);
    return PARAPET_OK;
}

static parapet_status decode(pp_stage_run *run)
{
    uint32_t bytes;
    int decoded;
    if (run->input.bytes < LENGTH_BYTES || run->input.bytes > INT_MAX)
        return pp_fail(PARAPET_ERR_CORRUPT, "lz4: %zu encoded bytes cannot be a block", run->input.bytes);
    bytes = pp_load_u32le(run->input.data);
    if (bytes > run->capacity || (run->stage->before.is_exact && bytes != run->capacity))
        return pp_fail(PARAPET_ERR_CORRUPT, "lz4: decoded to %u bytes instead of %zu", bytes, run->capacity);
    decoded = LZ4_decompress_safe((const char *)run->input.data + LENGTH_BYTES, (char *)run->output,
                                  (int)(run->input.bytes - LENGTH_BYTES), (int)bytes);
    if (decoded < 0 || (uint32_t)decoded != bytes)
        return pp_fail(PARAPET_ERR_CORRUPT, "lz4: the %zu encoded bytes are damaged", run->input.bytes);
    run->result = (pp_bytes){run->output, bytes};
    return PARAPET_OK;
}

static void print_library(pp_text *text)
{
    pp_text_add(text, "lz4 %s", LZ4_versionString());
}

/* Zarr v3 has no lz4. */
static bool carry(pp_codec_spec *spec)
{
    *spec = (pp_codec_spec){.id = PP_CODEC_ZSTD, .level = 3};
    return true;
}

const pp_codec_ops pp_lz4_ops = {
    .traits =
        {
            .name = "lz4",
            .v2_name = "lz4",
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_COMPRESSOR,
            .carry = carry,
            .print_library = print_library,
        },
    .prepare = prepare,
    .decode = decode,
};
