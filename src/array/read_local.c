/* read_local.c - one rank reads parts of an open array by itself. */
#include "array/array.h"
#include "array/array_handle.h"
#include "array/guards.h"
#include "array/index_list.h"
#include "array/refresh.h"
#include "array/text_reads.h"
#include "comm/topology.h"

/* What a local read is to read. */
typedef struct local_wish {
    const parapet_part *parts;
    int part_count;
    const pp_index_list *listed; /* instead of parts; NULL: parts */
    const pp_text_wish *texts;   /* instead of both; NULL: those */
} local_wish;

static parapet_status read_listed(parapet_array *array, const pp_transfer_array *only, const pp_index_list *listed)
{
    pp_indices indices;
    parapet_status status = pp_index_list_check(listed, array, &indices);
    return status == PARAPET_OK ? pp_transfer_read_indices_alone(&array->store->alone, only, &indices) : status;
}

static parapet_status read_wish(parapet_array *array, const local_wish *wish)
{
    pp_transfer_context context;
    pp_parts parts;
    pp_transfer_array only = {.context = &context, .parts = &parts};
    parapet_status status;
    if ((status = pp_array_check_usable(array)) != PARAPET_OK ||
        (status = pp_comm_check_together(array->store->comm)) != PARAPET_OK ||
        (status = pp_array_check_flushed(array)) != PARAPET_OK)
        return status;
    if (wish->texts != NULL)
        return pp_array_read_texts(array, wish->texts);
    if ((status = pp_array_local_context(array, &context)) != PARAPET_OK)
        return status;
    context.has_neighbours = pp_comm_neighbour_count(array->store->comm) > 0;
    if (wish->listed != NULL)
        return read_listed(array, &only, wish->listed);
    status = pp_parts_init(&parts, wish->parts, wish->part_count, &array->layout, array->document.type.id);
    return status == PARAPET_OK ? pp_transfer_read_alone(&array->store->alone, &only) : status;
}

/* What others have changed meanwhile may be what was read. */
static parapet_status look_again(parapet_array *array, parapet_status status)
{
    pp_failure failure = {0};
    parapet_status looked;
    if (!pp_array_is_worth_looking(status))
        return status;
    pp_failure_take(&failure, status);
    looked = status == PARAPET_OK ? pp_array_check_fresh(array) : pp_array_check_damage(array);
    return looked == PARAPET_ERR_STALE || status == PARAPET_OK ? looked : pp_failure_put(&failure);
}

static parapet_status read_local(parapet_array *array, const local_wish *wish)
{
    parapet_status status = pp_turn_check(array->store->comm);
    if (status != PARAPET_OK)
        return status;
    if (!pp_gate_enter(&array->guard->gate))
        return pp_fail(PARAPET_ERR_ARGUMENT, "array \"%s\" is being closed by another thread", array->path);
    if ((status = look_again(array, read_wish(array, wish))) != PARAPET_OK)
        status = pp_fail_within(status, "cannot read array \"%s\"", array->path);
    pp_gate_leave(&array->guard->gate);
    return pp_outcome(status);
}

parapet_status parapet_array_read_local(parapet_array *array, const parapet_part *parts, int part_count)
{
    local_wish wish = {.parts = parts, .part_count = part_count};
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_read_local needs an array");
    return read_local(array, &wish);
}

parapet_status parapet_array_read_points_local(parapet_array *array, const parapet_points *points)
{
    pp_index_list listed = {.are_points = true, .points = points};
    local_wish wish = {.listed = &listed};
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_read_points_local needs an array");
    return read_local(array, &wish);
}

parapet_status parapet_array_read_runs_local(parapet_array *array, const parapet_runs *runs)
{
    pp_index_list listed = {.runs = runs};
    local_wish wish = {.listed = &listed};
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_read_runs_local needs an array");
    return read_local(array, &wish);
}

parapet_status parapet_array_read_texts_local(parapet_array *array, const int64_t *start, const int64_t *count,
                                              char **text, int64_t *ends)
{
    const pp_text_wish texts = {start, count, text, ends};
    local_wish wish = {.texts = &texts};
    parapet_status status;
    if (array == NULL || text == NULL || ends == NULL ||
        ((start == NULL || count == NULL) && array->document.ndim > 0))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "parapet_array_read_texts_local needs an array, a box and room for texts");
    *text = NULL;
    if ((status = read_local(array, &wish)) != PARAPET_OK) {
        pp_free(*text); /* they were read, but others have changed them meanwhile */
        *text = NULL;
    }
    return status;
}
