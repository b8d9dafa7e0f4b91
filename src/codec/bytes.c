/* bytes: elements in C order, in a stated byte order. */
#include <string.h>

#include "base/status.h"
#include "codec/internal.h"

static parapet_status prepare(pp_stage *stage)
{
    const pp_chunk_format *format = &stage->before.format;
    bool is_machine_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    bool has_order = format->swap_bytes > 1;
    if (has_order && format->element_bytes % format->swap_bytes != 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "bytes: elements of %zu bytes cannot be divided into units of %zu",
                       format->element_bytes, format->swap_bytes);
    stage->is_swapped = has_order && stage->spec.is_big_endian != is_machine_big;
    stage->encode_effect = stage->is_swapped ? PP_EFFECT_IN_PLACE : PP_EFFECT_NONE;
    stage->decode_effect = stage->encode_effect;
    return PARAPET_OK;
}

static void swap_2(unsigned char *target, const unsigned char *source, size_t bytes)
{
    size_t i;
    for (i = 0; i + 2 <= bytes; i += 2) {
        uint16_t value;
        memcpy(&value, source + i, sizeof value);
        value = __builtin_bswap16(value);
        memcpy(target + i, &value, sizeof value);
    }
}

static void swap_4(unsigned char *target, const unsigned char *source, size_t bytes)
{
    size_t i;
    for (i = 0; i + 4 <= bytes; i += 4) {
        uint32_t value;
        memcpy(&value, source + i, sizeof value);
        value = __builtin_bswap32(value);
        memcpy(target + i, &value, sizeof value);
    }
}

static void swap_8(unsigned char *target, const unsigned char *source, size_t bytes)
{
    size_t i;
    for (i = 0; i + 8 <= bytes; i += 8) {
        uint64_t value;
        memcpy(&value, source + i, sizeof value);
        value = __builtin_bswap64(value);
        memcpy(target + i, &value, sizeof value);
    }
}

static void swap_any(unsigned char *target, const unsigned char *source, size_t bytes, size_t unit)
{
    size_t i, k;
    for (i = 0; i + unit <= bytes; i += unit)
        for (k = 0; k < (unit + 1) / 2; k++) {
            unsigned char low = source[i + k];
            target[i + k] = source[i + unit - 1 - k];
            target[i + unit - 1 - k] = low;
        }
}

void pp_swap_units(unsigned char *target, const unsigned char *source, size_t bytes, size_t unit)
{
    switch (unit) {
    case 2:
        swap_2(target, source, bytes);
        break;
    case 4:
        swap_4(target, source, bytes);
        break;
    case 8:
        swap_8(target, source, bytes);
        break;
    default:
        swap_any(target, source, bytes, unit);
        break;
    }
}

/* Both directions are the same. */
static parapet_status run_either_way(pp_stage_run *run)
{
    run->result = run->input;
    if (!run->stage->is_swapped)
        return PARAPET_OK;
    pp_swap_units(run->output, run->input.data, run->input.bytes, run->stage->before.format.swap_bytes);
    run->result.data = run->output;
    return PARAPET_OK;
}

static const char *const orders[] = {"little", "big", NULL};
static const pp_parameter parameters[] = {
    {"endian", PP_PARAMETER_FLAG, PP_FIELD(is_big_endian), .choices = orders},
    {0},
};

const pp_codec_ops pp_bytes_ops = {
    .traits =
        {
            .name = "bytes",
            .v3_name = "bytes",
            .draft_name = "endian",
            .kind = PP_ARRAY_TO_BYTES,
            .role = PP_ROLE_LAYOUT,
            .v3_parameters = parameters,
            .words = parameters,
            .is_silent_when_usual = true,
            .is_for_index = true,
            .carry = pp_carry_nothing,
        },
    .is_fixed_size = true,
    .prepare = prepare,
    .encode = run_either_way,
    .decode = run_either_way,
};
