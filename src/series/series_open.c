/* series_open.c - finding a series again, and repairing what a crash left of it. */
#include <string.h>

#include "array/array.h"
#include "array/node_path.h"
#include "array/resize.h"
#include "array/state.h"
#include "array/store_queries.h"
#include "base/status.h"
#include "series/consolidated_copy.h"
#include "series/group_document.h"
#include "series/row_records.h"
#include "series/series_handle.h"
#include "series/uncommitted.h"

/* ---- What rank 0 finds in the group ---- */

static parapet_status read_group(void *subject, const void *argument)
{
    parapet_series *series = subject;
    parapet_status status = pp_series_read_group(series);
    (void)argument;
    if (status == PARAPET_OK && series->steps_committed < 0)
        status =
            pp_fail(PARAPET_ERR_NOT_FOUND, "creating series \"%s\" was interrupted; create it again", series->path);
    return status;
}

static parapet_status print_found(void *subject, pp_text *bytes)
{
    const parapet_series *series = subject;
    int i;
    pp_bytes_add_u64(bytes, (uint64_t)series->steps_committed);
    pp_bytes_add_u64(bytes, series->is_uncertain);
    pp_bytes_add_u64(bytes, (uint64_t)series->count);
    pp_bytes_add_block(bytes, series->dimension, strlen(series->dimension) + 1);
    for (i = 0; i < series->count; i++)
        pp_bytes_add_block(bytes, series->names[i], strlen(series->names[i]) + 1);
    return PARAPET_OK;
}

static parapet_status adopt_name(pp_cursor *bytes, char **name)
{
    size_t length;
    return pp_text_duplicate(name, pp_cursor_block(bytes, &length));
}

static parapet_status adopt_found(void *subject, pp_cursor *bytes)
{
    parapet_series *series = subject;
    size_t count;
    parapet_status status;
    series->steps_committed = (int64_t)pp_cursor_u64(bytes);
    series->is_uncertain = pp_cursor_u64(bytes) != 0;
    count = (size_t)pp_cursor_u64(bytes);
    if ((status = adopt_name(bytes, &series->dimension)) != PARAPET_OK ||
        (status = pp_allocate_array(&series->names, count, sizeof series->names[0])) != PARAPET_OK)
        return status;
    while ((size_t)series->count < count && (status = adopt_name(bytes, &series->names[series->count])) == PARAPET_OK)
        series->count++;
    return status;
}

/* ---- The arrays ---- */

/* [collective] */
static parapet_status open_arrays(parapet_series *series, bool changes)
{
    char **paths = NULL;
    parapet_status status = pp_allocate_array(&series->arrays, (size_t)series->count + 1, sizeof series->arrays[0]);
    if (status == PARAPET_OK)
        status = pp_series_paths_build(series->path, (const char *const *)series->names, series->count,
                                       series->dimension, &paths);
    status = pp_comm_agree(pp_store_comm(series->store), "opening a series", status);
    if (status == PARAPET_OK && changes)
        status = pp_series_hold_members(series, (const char *const *)paths, series->count + 1);
    if (status == PARAPET_OK)
        status = pp_arrays_open(series->arrays, series->store, (const char *const *)paths, series->count + 1, true);
    pp_paths_free(paths, (size_t)series->count + 1);
    return status;
}

static parapet_status check_array(const parapet_series *series, int index, bool changes)
{
    const parapet_array *array = series->arrays[index];
    const pp_array_document *document = pp_array_document_of(array);
    parapet_status status = changes ? pp_array_check_writable(array) : PARAPET_OK;
    if (status != PARAPET_OK || (status = pp_array_check_readable(array)) != PARAPET_OK)
        return status;
    if (document->ndim < 1 ||
        (index == series->count && (document->ndim != 1 || document->type.id != PARAPET_FLOAT64)))
        return pp_fail(PARAPET_ERR_FORMAT, "\"%s\" is not an array of a series", pp_array_path(array));
    if (index < series->count && document->grid_shape[0] != pp_array_document_of(series->arrays[0])->grid_shape[0])
        return pp_fail(PARAPET_ERR_FORMAT, "shards of \"%s\" cover another number of steps than those of \"%s\"",
                       pp_array_path(array), pp_array_path(series->arrays[0]));
    return PARAPET_OK;
}

/* All ranks know the same of the arrays, and find the same. */
static parapet_status take_arrays(parapet_series *series, bool changes)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i <= series->count && status == PARAPET_OK; i++)
        status = check_array(series, i, changes);
    series->steps_per_row = pp_array_document_of(series->arrays[0])->grid_shape[0];
    series->steps = series->steps_committed;
    return status;
}

/* ---- What a crash left ---- */

static parapet_status repair_array(const parapet_series *series, parapet_array *array, bool cuts)
{
    int64_t steps = series->steps_committed, row_steps = pp_array_document_of(array)->grid_shape[0];
    parapet_status status = pp_array_make_continuable(array, steps);
    if (status == PARAPET_OK)
        status = series->is_uncertain ? pp_array_trim_beyond(array, steps) : pp_array_resize_first(array, steps);
    if (status != PARAPET_OK || !cuts)
        return status;
    /* No step of the row that begins then was committed: a later step with holes must not show what lies there. */
    return pp_array_remove_layer(array, steps / row_steps + (steps % row_steps != 0));
}

/* Whether something is cut off, and how many steps stay. */
static parapet_status decide(parapet_series *series, parapet_beyond beyond, bool *cuts)
{
    *cuts = beyond == PARAPET_BEYOND_CUT;
    if (beyond == PARAPET_BEYOND_ADOPT)
        return pp_series_adopt_uncommitted(series);
    if (beyond == PARAPET_BEYOND_REFUSE)
        return pp_series_check_uncommitted(series, cuts);
    series->is_uncertain = true; /* shards may hold anything, but must be found where they are */
    return pp_series_check_consolidated_copy(series);
}

static parapet_status check_only(void *subject, const void *argument)
{
    bool cuts;
    (void)argument;
    return pp_series_check_uncommitted(subject, &cuts);
}

static parapet_status repair(void *subject, const void *argument)
{
    parapet_series *series = subject;
    const parapet_beyond *beyond = argument;
    parapet_status status;
    bool cuts;
    int i;
    if ((status = decide(series, *beyond, &cuts)) != PARAPET_OK ||
        (status = pp_series_remove_logs(series)) != PARAPET_OK)
        return status;
    for (i = 0; i <= series->count && status == PARAPET_OK; i++)
        if ((status = repair_array(series, series->arrays[i], cuts)) != PARAPET_OK)
            status = pp_fail_within(status, "cannot continue array \"%s\"", pp_array_path(series->arrays[i]));
    series->is_uncertain = false;
    if (status == PARAPET_OK && (status = pp_series_write_group(series, series->steps_committed, NULL)) == PARAPET_OK)
        status = pp_row_records_forget(series);
    return status;
}

static parapet_status print_repaired(void *subject, pp_text *bytes)
{
    const parapet_series *series = subject;
    return pp_array_states_print(series->arrays, series->count + 1, bytes);
}

static parapet_status adopt_repaired(void *subject, pp_cursor *bytes)
{
    parapet_series *series = subject;
    series->is_uncertain = false;
    return pp_array_states_adopt(series->arrays, series->count + 1, bytes);
}

/* [collective] */
static parapet_status find_series(parapet_series *series, bool changes)
{
    pp_comm *comm = pp_store_comm(series->store);
    pp_rank0_task reading = {.subject = series, .work = read_group, .print = print_found, .adopt = adopt_found};
    parapet_status status;
    if ((changes && (status = pp_series_hold_group(series)) != PARAPET_OK) ||
        (status = pp_rank0_do(comm, "reading a series", &reading)) != PARAPET_OK ||
        (status = open_arrays(series, changes)) != PARAPET_OK)
        return status;
    return take_arrays(series, changes);
}

/* [collective] */
static parapet_status open_series(parapet_series *series, parapet_beyond beyond)
{
    pp_rank0_task repairing = {
        .subject = series, .argument = &beyond, .work = repair, .print = print_repaired, .adopt = adopt_repaired};
    parapet_status status = find_series(series, true);
    return status == PARAPET_OK ? pp_rank0_do(pp_store_comm(series->store), "repairing a series", &repairing)
                                : status;
}

parapet_status parapet_series_open(parapet_series **series, parapet_store *store, const char *path)
{
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if (series != NULL)
        *series = NULL;
    if (series == NULL || store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a series needs a store and a pointer for its handle");
    if ((status = pp_turn_take(&turn, pp_store_comm(store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "series_open(%s)", path != NULL ? path : "");
    if ((status = pp_series_build(series, store, path)) == PARAPET_OK)
        status = pp_store_check_writable(store);
    if ((status = pp_comm_begin(pp_store_comm(store), &call, status)) == PARAPET_OK)
        status = open_series(*series, PARAPET_BEYOND_REFUSE);
    status = pp_series_finish(series, status);
    return pp_outcome(status == PARAPET_OK
                          ? status
                          : pp_fail_within(status, "cannot open series \"%s\"", path != NULL ? path : ""));
}

static parapet_status check_choice(parapet_store *store, parapet_beyond beyond)
{
    if (beyond < PARAPET_BEYOND_REFUSE || beyond > PARAPET_BEYOND_CUT)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "beyond is %d, but must be PARAPET_BEYOND_REFUSE, PARAPET_BEYOND_ADOPT or PARAPET_BEYOND_CUT",
                       (int)beyond);
    return beyond == PARAPET_BEYOND_REFUSE ? PARAPET_OK : pp_store_check_writable(store);
}

/* [collective] */
static parapet_status repair_series(parapet_series *series, parapet_beyond beyond)
{
    pp_rank0_task checking = {.subject = series, .work = check_only};
    parapet_status status;
    if (beyond != PARAPET_BEYOND_REFUSE)
        return open_series(series, beyond);
    status = find_series(series, false);
    return status == PARAPET_OK ? pp_rank0_do(pp_store_comm(series->store), "checking a series", &checking) : status;
}

parapet_status parapet_series_repair(parapet_store *store, const char *path, parapet_beyond beyond)
{
    PP_TURN turn = {0};
    parapet_series *series = NULL;
    pp_failure failure = {0};
    parapet_status status, closed;
    pp_call call;
    if (store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_series_repair needs a store");
    if ((status = pp_turn_take(&turn, pp_store_comm(store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "series_repair(%s)", path != NULL ? path : "");
    pp_call_add_integer(&call, "beyond", beyond);
    if ((status = pp_series_build(&series, store, path)) == PARAPET_OK)
        status = check_choice(store, beyond);
    if ((status = pp_comm_begin(pp_store_comm(store), &call, status)) == PARAPET_OK)
        status = repair_series(series, beyond);
    pp_failure_take(&failure, status);
    closed = pp_series_free(series);
    if (status == PARAPET_OK)
        return pp_outcome(closed);
    return pp_outcome(pp_fail_within(pp_failure_put(&failure), "series \"%s\"", path != NULL ? path : ""));
}
