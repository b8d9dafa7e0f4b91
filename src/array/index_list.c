#include "array/index_list.h"

#include <string.h>

#include "array/array_handle.h"
#include "base/checked.h"
#include "base/reserved.h"

const char *pp_index_list_words(const pp_index_list *listed)
{
    return listed->are_points ? "points" : "runs";
}

/* Types without a fixed name are shown by their number. */
static parapet_status check_type(const pp_index_list *listed, parapet_type given, parapet_type type)
{
    const char *given_name = parapet_type_name(given), *name = parapet_type_name(type);
    if (given == PARAPET_TYPE_OF_ARRAY || given == type)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT, "the %s have type %s (%d), but the array has %s (%d); nothing is converted",
                   pp_index_list_words(listed), given_name != NULL ? given_name : "without a name", (int)given,
                   name != NULL ? name : "one without a name", (int)type);
}

static parapet_status take_points(const pp_index_list *listed, int ndim, pp_indices *indices)
{
    const parapet_points *points = listed->points;
    parapet_status status;
    if (points == NULL)
        return PARAPET_OK;
    if ((status = PP_RESERVED_CHECK(parapet_points, points)) != PARAPET_OK)
        return status;
    if (points->ndim != ndim)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the points have %d dimensions (ndim), but the array has %d",
                       points->ndim, ndim);
    if (points->count < 0 || (points->count > 0 && points->coordinates == NULL && ndim > 0))
        return pp_fail(PARAPET_ERR_ARGUMENT, "the count of points is %lld, but there are no coordinates",
                       (long long)points->count);
    indices->count = points->count;
    indices->points = points->coordinates;
    indices->data = points->data;
    return PARAPET_OK;
}

static parapet_status take_runs(const pp_index_list *listed, pp_indices *indices)
{
    const parapet_runs *runs = listed->runs;
    parapet_status status;
    if (runs == NULL)
        return PARAPET_OK;
    if ((status = PP_RESERVED_CHECK(parapet_runs, runs)) != PARAPET_OK)
        return status;
    if (runs->count < 0 || (runs->count > 0 && runs->starts == NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT, "the count of runs is %lld, but there are no starts",
                       (long long)runs->count);
    indices->count = runs->count;
    indices->starts = runs->starts;
    indices->lengths = runs->lengths;
    indices->data = runs->data;
    return PARAPET_OK;
}

static parapet_type type_given(const pp_index_list *listed)
{
    if (listed->points != NULL)
        return listed->points->type;
    return listed->runs != NULL ? listed->runs->type : PARAPET_TYPE_OF_ARRAY;
}

/* Whether all stored elements, those beyond the edges included, can be numbered. */
static parapet_status check_numbers(const pp_tiling *tiling)
{
    int64_t stored;
    if (pp_multiply_fits(tiling->shards.cell_count, pp_tiling_shard_elements(tiling), &stored))
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_UNSUPPORTED,
                   "its shards have more than 2^63 elements, which cannot be listed one by one; use parts");
}

parapet_status pp_index_list_check(const pp_index_list *listed, parapet_array *array, pp_indices *indices)
{
    const pp_tiling *tiling = &array->layout.tiling;
    int64_t elements;
    parapet_status status;
    *indices = (pp_indices){.tiling = tiling, .are_points = listed->are_points};
    memcpy(indices->shape, tiling->shards.shape, sizeof indices->shape);
    if ((status = check_numbers(tiling)) != PARAPET_OK)
        return status;
    status = listed->are_points ? take_points(listed, tiling->shards.ndim, indices) : take_runs(listed, indices);
    if (status != PARAPET_OK ||
        (status = check_type(listed, type_given(listed), array->document.type.id)) != PARAPET_OK ||
        (status = pp_indices_check(indices, &elements)) != PARAPET_OK)
        return status;
    if (elements > 0 && indices->data == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the %s have no data", pp_index_list_words(listed));
    return PARAPET_OK;
}
