/* delta as numcodecs stores it (Zarr v2): the first element, then the difference of each to the one before, in
 * a byte order of its own. */
#include <string.h>

#include "base/status.h"
#include "codec/internal.h"

static parapet_status prepare(pp_stage *stage)
{
    int bytes = stage->spec.element_bytes;
    bool is_integer = stage->spec.delta_kind == PP_DELTA_INTEGER;
    if (bytes != 4 && bytes != 8 && !(is_integer && (bytes == 1 || bytes == 2)))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "delta: cannot add %s of %d bytes",
                       is_integer ? "integers" : "floating-point numbers", bytes);
    stage->decode_effect = PP_EFFECT_IN_PLACE;
    return PARAPET_OK;
}

static size_t shift_of(size_t k, size_t unit)
{
    return 8 * (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? unit - 1 - k : k);
}

/* Integers of any size add up in 64 bits, since only the low bytes are kept. */
static void sum_integers(unsigned char *data, size_t bytes, size_t unit)
{
    uint64_t sum = 0;
    size_t i, k;
    for (i = 0; i + unit <= bytes; i += unit) {
        uint64_t value = 0;
        for (k = 0; k < unit; k++)
            value |= (uint64_t)data[i + k] << shift_of(k, unit);
        sum += value;
        for (k = 0; k < unit; k++)
            data[i + k] = (unsigned char)(sum >> shift_of(k, unit));
    }
}

static void sum_floats(unsigned char *data, size_t bytes)
{
    float sum = 0, value;
    size_t i;
    for (i = 0; i + sizeof value <= bytes; i += sizeof value) {
        memcpy(&value, data + i, sizeof value);
        sum = i == 0 ? value : sum + value;
        memcpy(data + i, &sum, sizeof sum);
    }
}

static void sum_doubles(unsigned char *data, size_t bytes)
{
    double sum = 0, value;
    size_t i;
    for (i = 0; i + sizeof value <= bytes; i += sizeof value) {
        memcpy(&value, data + i, sizeof value);
        sum = i == 0 ? value : sum + value;
        memcpy(data + i, &sum, sizeof sum);
    }
}

static void add_up(const pp_codec_spec *spec, unsigned char *data, size_t bytes)
{
    if (spec->delta_kind == PP_DELTA_INTEGER)
        sum_integers(data, bytes, (size_t)spec->element_bytes);
    else if (spec->element_bytes == 4)
        sum_floats(data, bytes);
    else
        sum_doubles(data, bytes);
}

static parapet_status decode(pp_stage_run *run)
{
    size_t unit = (size_t)run->stage->spec.element_bytes;
    bool is_swapped = run->stage->spec.is_big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    if (run->input.bytes % unit != 0)
        return pp_fail(PARAPET_ERR_CORRUPT, "delta: %zu bytes are not a whole number of elements of %zu",
                       run->input.bytes, unit);
    if (is_swapped)
        pp_swap_units(run->output, run->input.data, run->input.bytes, unit);
    else
        memmove(run->output, run->input.data, run->input.bytes);
    add_up(&run->stage->spec, run->output, run->input.bytes);
    if (is_swapped)
        pp_swap_units(run->output, run->output, run->input.bytes, unit);
    run->result = (pp_bytes){run->output, run->input.bytes};
    return PARAPET_OK;
}

const pp_codec_ops pp_delta_ops = {
    .traits =
        {
            .name = "delta",
            .v2_name = "delta",
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_FILTER,
            .carry = pp_carry_nothing, /* Zarr v3 has no filters */
        },
    .is_fixed_size = true,
    .prepare = prepare,
    .decode = decode,
};
