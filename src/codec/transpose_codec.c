/* transpose: encoded dimension i is decoded dimension order[i]. */
#include "base/status.h"
#include "codec/internal.h"
#include "geometry/strided.h"

static parapet_status check_order(const int8_t *order, int ndim)
{
    bool is_met[PARAPET_MAX_NDIM] = {false};
    int i;
    for (i = 0; i < ndim; i++) {
        if (order[i] < 0 || order[i] >= ndim || is_met[order[i]])
            return pp_fail(PARAPET_ERR_FORMAT, "transpose: order is not a permutation of the %d dimensions: %d at %d",
                           ndim, order[i], i);
        is_met[order[i]] = true;
    }
    return PARAPET_OK;
}

/* Strides of both sides, by decoded dimension. */
static void find_strides(const pp_stage *stage, int64_t *decoded, int64_t *encoded)
{
    const pp_chunk_format *before = &stage->before.format;
    int64_t permuted[PARAPET_MAX_NDIM];
    int i;
    pp_strides_c_order(before->ndim, before->shape, before->element_bytes, decoded);
    pp_strides_c_order(before->ndim, stage->after.format.shape, before->element_bytes, permuted);
    for (i = 0; i < before->ndim; i++)
        encoded[stage->spec.order[i]] = permuted[i];
}

/* Dimensions of length 1 may go anywhere. */
static bool moves_elements(const pp_stage *stage)
{
    int64_t decoded[PARAPET_MAX_NDIM], encoded[PARAPET_MAX_NDIM];
    int i;
    find_strides(stage, decoded, encoded);
    for (i = 0; i < stage->before.format.ndim; i++)
        if (stage->before.format.shape[i] > 1 && decoded[i] != encoded[i])
            return true;
    return false;
}

static parapet_status prepare(pp_stage *stage)
{
    const pp_chunk_format *before = &stage->before.format;
    parapet_status status = check_order(stage->spec.order, before->ndim);
    int i;
    if (status != PARAPET_OK)
        return status;
    for (i = 0; i < before->ndim; i++)
        stage->after.format.shape[i] = before->shape[stage->spec.order[i]];
    stage->encode_effect = moves_elements(stage) ? PP_EFFECT_ELSEWHERE : PP_EFFECT_NONE;
    stage->decode_effect = stage->encode_effect;
    return PARAPET_OK;
}

static parapet_status move(pp_stage_run *run, bool is_encoding)
{
    const pp_chunk_format *before = &run->stage->before.format;
    int64_t decoded[PARAPET_MAX_NDIM], encoded[PARAPET_MAX_NDIM];
    pp_strided copy = {
        .ndim = before->ndim,
        .element_bytes = before->element_bytes,
        .count = before->shape,
        .target = run->output,
        .target_strides = is_encoding ? encoded : decoded,
        .source = run->input.data,
        .source_strides = is_encoding ? decoded : encoded,
    };
    run->result = run->input;
    if (run->output == NULL)
        return PARAPET_OK;
    find_strides(run->stage, decoded, encoded);
    pp_strided_copy(&copy);
    run->result.data = run->output;
    return PARAPET_OK;
}

static parapet_status encode(pp_stage_run *run)
{
    return move(run, true);
}

static parapet_status decode(pp_stage_run *run)
{
    return move(run, false);
}

const pp_codec_ops pp_transpose_ops = {
    .traits =
        {
            .name = "transpose",
            .v3_name = "transpose",
            .kind = PP_ARRAY_TO_ARRAY,
            .role = PP_ROLE_LAYOUT,
            .follows_dimensions = true,
            .carry = pp_carry_nothing,
        },
    .is_fixed_size = true,
    .prepare = prepare,
    .encode = encode,
    .decode = decode,
};
