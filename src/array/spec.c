#include "array/spec.h"

#include "base/choice.h"
#include "base/reserved.h"
#include "base/status.h"

/* Larger elements are refused later. */
#define FILL_MOST_BYTES ((size_t)1 << 20)

parapet_status pp_spec_check(const parapet_array_spec *spec)
{
    parapet_status status;
    int d;
    if ((status = PP_RESERVED_CHECK(parapet_array_spec, spec)) != PARAPET_OK ||
        (status = pp_boolean_check("unsharded", spec->unsharded)) != PARAPET_OK ||
        (status = pp_boolean_check("no_checksum", spec->no_checksum)) != PARAPET_OK ||
        (status = pp_boolean_check("overwrite", spec->overwrite)) != PARAPET_OK)
        return status;
    if (spec->ndim < 0 || spec->ndim > PARAPET_MAX_NDIM)
        return pp_fail(PARAPET_ERR_ARGUMENT, "ndim is %d, but must be between 0 and %d", spec->ndim,
                       PARAPET_MAX_NDIM);
    if (spec->ndim > 0 && spec->shape == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the spec has no shape");
    for (d = 0; d < spec->ndim; d++)
        if (spec->shape[d] < 0)
            return pp_fail(PARAPET_ERR_ARGUMENT, "shape[%d] is %lld, but must be 0 or more", d,
                           (long long)spec->shape[d]);
    return PARAPET_OK;
}

/* Takes no memory: ranks whose digests differ only because one has none left would be blamed for the wrong thing. */
static void add_fill(const parapet_array_spec *spec, pp_call *call)
{
    size_t bytes = spec->type == PARAPET_RAW ? spec->element_bytes : parapet_type_bytes(spec->type);
    pp_call_add_value(call, "fill_value", spec->fill_value, bytes <= FILL_MOST_BYTES ? bytes : 0);
}

static void add_names(const parapet_array_spec *spec, pp_call *call)
{
    int d;
    if (spec->dimension_names == NULL)
        pp_call_add_text(call, "dimension_names", NULL);
    for (d = 0; d < spec->ndim && spec->dimension_names != NULL; d++)
        pp_call_add_element(call, "dimension_names", d, spec->dimension_names[d]);
}

void pp_spec_add(const parapet_array_spec *spec, pp_call *call)
{
    pp_call_add_integer(call, "type", (int64_t)spec->type);
    pp_call_add_integer(call, "ndim", spec->ndim);
    pp_call_add_integers(call, "shape", spec->ndim, spec->shape);
    pp_call_add_integers(call, "chunks", spec->ndim, spec->chunks);
    pp_call_add_integers(call, "shards", spec->ndim, spec->shards);
    pp_call_add_integer(call, "unsharded", spec->unsharded);
    pp_call_add_text(call, "codec", spec->codec);
    pp_call_add_integer(call, "no_checksum", spec->no_checksum);
    add_fill(spec, call);
    add_names(spec, call);
    pp_call_add_text(call, "attributes", spec->attributes);
    pp_call_add_integer(call, "element_bytes", (int64_t)spec->element_bytes);
    pp_call_add_text(call, "time_unit", spec->time_unit);
    pp_call_add_integer(call, "overwrite", spec->overwrite);
}
