#include "array/spec.h"

/* Larger elements are refused later. */
#define FILL_MOST_BYTES ((size_t)1 << 20)

parapet_status pp_spec_check(const parapet_array_spec *spec)
{
    size_t i;
    int d;
    for (i = 0; i < sizeof spec->reserved / sizeof spec->reserved[0]; i++)
        if (spec->reserved[i] != 0)
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "the reserved words of parapet_array_spec must be 0; start from {0}");
    if (spec->ndim < 0 || spec->ndim > PARAPET_MAX_NDIM)
        return pp_fail(PARAPET_ERR_ARGUMENT, "ndim is %d, but must lie between 0 and %d", spec->ndim,
                       PARAPET_MAX_NDIM);
    if (spec->ndim > 0 && spec->shape == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the spec has no shape");
    for (d = 0; d < spec->ndim; d++)
        if (spec->shape[d] < 0)
            return pp_fail(PARAPET_ERR_ARGUMENT, "shape[%d] is %lld, but must be 0 or more", d,
                           (long long)spec->shape[d]);
    return PARAPET_OK;
}

static void add_shape(pp_call *call, int ndim, const int64_t *shape)
{
    unsigned char is_given = shape != NULL;
    pp_call_add(call, &is_given, sizeof is_given);
    if (shape != NULL)
        pp_call_add(call, shape, (size_t)ndim * sizeof shape[0]);
}

/* Takes no memory: ranks whose digests differ only because one has none left would be blamed for the wrong thing. */
static void add_fill(const parapet_array_spec *spec, pp_call *call)
{
    size_t bytes = spec->type == PARAPET_RAW ? spec->element_bytes : parapet_type_bytes(spec->type);
    unsigned char is_given = spec->fill_value != NULL;
    pp_call_add(call, &is_given, sizeof is_given);
    if (is_given && bytes <= FILL_MOST_BYTES)
        pp_call_add(call, spec->fill_value, bytes);
}

void pp_spec_add(const parapet_array_spec *spec, pp_call *call)
{
    int64_t numbers[] = {(int64_t)spec->type,          spec->ndim,           spec->unsharded != 0,
                         spec->no_checksum != 0,       spec->overwrite != 0, (int64_t)spec->element_bytes,
                         spec->dimension_names != NULL};
    int d;
    pp_call_add(call, numbers, sizeof numbers);
    add_shape(call, spec->ndim, spec->shape);
    add_shape(call, spec->ndim, spec->chunks);
    add_shape(call, spec->ndim, spec->shards);
    pp_call_add_text(call, spec->codec);
    pp_call_add_text(call, spec->attributes);
    pp_call_add_text(call, spec->time_unit);
    for (d = 0; d < spec->ndim && spec->dimension_names != NULL; d++)
        pp_call_add_text(call, spec->dimension_names[d]);
    add_fill(spec, call);
}
