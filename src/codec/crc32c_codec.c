/* crc32c: four bytes behind the rest. */
#include "base/bytes.h"
#include "codec/crc32c.h"
#include "codec/internal.h"

static parapet_status prepare(pp_stage *stage)
{
    stage->encode_effect = PP_EFFECT_IN_PLACE;
    stage->decode_effect = PP_EFFECT_NONE;
    pp_stage_grow(stage, 4);
    return PARAPET_OK;
}

static parapet_status encode(pp_stage_run *run)
{
    pp_store_u32le(run->output + run->input.bytes, pp_crc32c(0, run->input.data, run->input.bytes));
    run->result = (pp_bytes){run->output, run->input.bytes + 4};
    return PARAPET_OK;
}

static uint32_t checksum(const unsigned char *data, size_t bytes)
{
    return pp_crc32c(0, data, bytes);
}

static parapet_status decode(pp_stage_run *run)
{
    return pp_checksum_decode_end(run, checksum);
}

static void print_library(pp_text *text)
{
    pp_text_add(text, "crc32c %s", pp_crc32c_name());
}

const pp_codec_ops pp_crc32c_ops = {
    .traits =
        {
            .name = "crc32c",
            .v3_name = "crc32c",
            .v2_name = "crc32c",
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_CHECKSUM,
            .v2_parameters = pp_v2_checksum_at_end,
            .is_for_index = true,
            .ends_in_crc32c = true,
            .carry = pp_carry_nothing, /* a copy has its own if it is asked for */
            .print_library = print_library,
        },
    .is_fixed_size = true,
    .prepare = prepare,
    .encode = encode,
    .decode = decode,
};
