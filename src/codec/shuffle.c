/* shuffle as numcodecs and HDF5 store it: the first bytes of all elements, then all second bytes, ...
 * What is left at the end, as after a checksum that HDF5 put before it, stays as it is. */
#include <string.h>

#include "base/status.h"
#include "codec/internal.h"

#define MAX_ELEMENT_BYTES (1 << 20)

static parapet_status prepare(pp_stage *stage)
{
    if (stage->spec.element_bytes < 0)
        return pp_fail(PARAPET_ERR_FORMAT, "shuffle: elementsize %d is negative", stage->spec.element_bytes);
    if (stage->spec.element_bytes <= 1)
        stage->decode_effect = PP_EFFECT_NONE;
    return PARAPET_OK;
}

static parapet_status decode(pp_stage_run *run)
{
    size_t element_bytes = (size_t)run->stage->spec.element_bytes;
    const unsigned char *source = run->input.data;
    size_t count, left, i, k;
    run->result = run->input;
    if (run->output == NULL)
        return PARAPET_OK;
    count = run->input.bytes / element_bytes;
    left = run->input.bytes % element_bytes;
    for (k = 0; k < element_bytes; k++)
        for (i = 0; i < count; i++)
            run->output[i * element_bytes + k] = *source++;
    if (left > 0)
        memcpy(run->output + count * element_bytes, source, left);
    run->result.data = run->output;
    return PARAPET_OK;
}

static const pp_parameter parameters[] = {
    {"elementsize", PP_PARAMETER_INTEGER, PP_FIELD(element_bytes), .low = 1, .high = MAX_ELEMENT_BYTES, .usual = 4},
    {0},
};

const pp_codec_ops pp_shuffle_ops = {
    .traits =
        {
            .name = "shuffle",
            .v3_name = "numcodecs.shuffle",
            .v2_name = "shuffle",
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_FILTER,
            .v3_parameters = parameters,
            .v2_parameters = parameters,
            .carry = pp_carry_nothing, /* not all readers of Zarr v3 have it */
        },
    .is_fixed_size = true,
    .prepare = prepare,
    .decode = decode,
};
