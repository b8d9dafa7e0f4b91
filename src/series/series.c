/* series.c - steps that append: the public functions, and what they have in common with a request. */
#include "series/series.h"

#include "array/array.h"
#include "array/store_queries.h"
#include "base/checked.h"
#include "base/status.h"
#include "series/arena.h"
#include "series/row.h"
#include "series/row_records.h"
#include "series/series_handle.h"
#include "series/step.h"

static parapet_status check_usable(const parapet_series *series)
{
    parapet_status status = pp_store_check_writable(series->store);
    int i;
    if (series->is_broken)
        return pp_fail(
            PARAPET_ERR_ARGUMENT,
            "series \"%s\": an earlier change failed half-way; close the series and open it again to continue "
            "after the last committed step",
            series->path);
    if (series->has_failed_request)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "series \"%s\": a step that was started has failed; wait for its request first", series->path);
    for (i = 0; i <= series->count && status == PARAPET_OK; i++)
        status = pp_array_check_usable(series->arrays[i]);
    return status;
}

static parapet_status reserve_coordinate(parapet_series *series)
{
    size_t needed = (size_t)(series->steps - series->steps_committed) + 1, capacity;
    parapet_status status;
    if (needed <= series->coordinate_capacity)
        return PARAPET_OK;
    capacity = pp_max_size(needed, 2 * series->coordinate_capacity);
    if ((status = pp_reallocate(&series->coordinates, capacity * sizeof series->coordinates[0])) == PARAPET_OK)
        series->coordinate_capacity = capacity;
    return status;
}

static bool is_row_complete(const parapet_series *series)
{
    return series->steps > series->steps_committed && series->steps % series->steps_per_row == 0;
}

/* [collective] */
static parapet_status append(parapet_series *series, double coordinate, const pp_series_step *step)
{
    parapet_status status;
    if (is_row_complete(series) && (status = pp_series_write_row(series)) != PARAPET_OK)
        return status; /* it failed before, and fails again */
    series->coordinates[series->steps - series->steps_committed] = coordinate;
    if (series->steps_per_row == 1)
        return pp_series_write_step(series, step);
    if ((status = pp_series_keep(series, step)) != PARAPET_OK)
        return status;
    series->steps++;
    return is_row_complete(series) ? pp_series_write_row(series) : PARAPET_OK;
}

parapet_status pp_series_prepare(parapet_series *series, const parapet_step *steps, pp_series_step *step)
{
    parapet_status status;
    if ((status = check_usable(series)) != PARAPET_OK || (status = reserve_coordinate(series)) != PARAPET_OK)
        return status;
    return pp_series_step_init(step, series, steps);
}

parapet_status pp_series_append_step(parapet_series *series, double coordinate, const pp_series_step *step,
                                     parapet_status mine)
{
    parapet_status status;
    pp_call call;
    pp_series_append_call(&call, "series_append", series, coordinate);
    if ((status = pp_comm_begin(pp_store_comm(series->store), &call, mine)) == PARAPET_OK)
        status = append(series, coordinate, step);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot append to series \"%s\"", series->path);
}

void pp_series_append_call(pp_call *call, const char *verb, const parapet_series *series, double coordinate)
{
    pp_call_init(call, "%s(%s)", verb, series->path);
    pp_call_add_real(call, "coordinate", coordinate);
    pp_call_add_integer(call, "steps", series->steps);
}

parapet_status parapet_series_append(parapet_series *series, double coordinate, const parapet_step *steps)
{
    PP_TURN turn = {0};
    pp_series_step step = {0};
    parapet_status status;
    if (series == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_series_append needs a series");
    if ((status = pp_turn_take(&turn, pp_store_comm(series->store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    status = pp_series_append_step(series, coordinate, &step, pp_series_prepare(series, steps, &step));
    pp_series_step_clear(&step);
    return pp_outcome(status);
}

/* [collective] */
static parapet_status flush(parapet_series *series)
{
    return series->steps > series->steps_committed ? pp_series_write_row(series) : PARAPET_OK;
}

parapet_status parapet_series_flush(parapet_series *series)
{
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if (series == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_series_flush needs a series");
    if ((status = pp_turn_take(&turn, pp_store_comm(series->store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "series_flush(%s)", series->path);
    if ((status = pp_comm_begin(pp_store_comm(series->store), &call, check_usable(series))) == PARAPET_OK)
        status = flush(series);
    return pp_outcome(status == PARAPET_OK ? status
                                           : pp_fail_within(status, "cannot flush series \"%s\"", series->path));
}

static parapet_status remove_logs(void *subject, const void *argument)
{
    parapet_series *series = subject;
    parapet_status status = series->was_staged ? pp_series_remove_logs(series) : PARAPET_OK;
    (void)argument;
    if (status == PARAPET_OK && series->records != NULL && !series->has_open_record)
        status = pp_row_records_forget(series);
    return status;
}

/* [collective] What is left of the logs after a failure goes when the series is opened again. */
static parapet_status flush_at_close(parapet_series *series)
{
    pp_failure failure = {0};
    parapet_status status = check_usable(series), removed;
    if (series->steps == series->steps_committed)
        status = PARAPET_OK;
    else if (status == PARAPET_OK)
        status = flush(series);
    pp_failure_take(&failure, status);
    pp_series_arena_reset(series);
    if (pp_comm_is_lost(pp_store_comm(series->store)))
        return pp_failure_put(&failure);
    removed = pp_series_rank0_do(series, "removing logs", remove_logs, NULL);
    return status == PARAPET_OK ? removed : pp_failure_put(&failure);
}

static parapet_status check_no_requests(const parapet_series *series)
{
    if (series->request_count > 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "%d steps of series \"%s\" were started; wait for their requests first",
                       series->request_count, series->path);
    return PARAPET_OK;
}

/* Some ranks may have waited, and others not: all close, or none. */
parapet_status parapet_series_close(parapet_series **series)
{
    PP_TURN turn = {0};
    parapet_status status, closed;
    pp_failure failure = {0};
    pp_comm *comm;
    pp_call call;
    if (series == NULL || *series == NULL)
        return PARAPET_OK;
    comm = pp_store_comm((*series)->store);
    if ((status = pp_turn_take(&turn, comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    status = check_no_requests(*series);
    if (!pp_comm_is_lost(comm)) {
        pp_call_init(&call, "series_close(%s)", (*series)->path);
        status = pp_comm_begin_at_once(comm, &call, status);
    }
    if (status == PARAPET_ERR_ARGUMENT)
        return status; /* that, or the ranks called different things */
    if (status == PARAPET_OK)
        status = flush_at_close(*series);
    pp_failure_take(&failure, status);
    closed = pp_series_free(*series);
    *series = NULL;
    return status == PARAPET_OK ? closed : pp_failure_put(&failure);
}

parapet_status parapet_series_get_info(parapet_series *series, parapet_series_info *info)
{
    PP_TURN turn = {0};
    parapet_status status;
    if (series == NULL || info == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_series_get_info needs a series and a pointer for the result");
    if ((status = pp_turn_take(&turn, pp_store_comm(series->store), PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    *info = (parapet_series_info){
        .path = series->path,
        .dimension = series->dimension,
        .count = series->count,
        .names = (const char *const *)series->names,
        .steps = series->steps,
        .steps_committed = series->steps_committed,
        .steps_per_row = series->steps_per_row,
        .shards_written = series->shards_written,
        .is_staged = series->arena.is_staged,
    };
    return pp_outcome(PARAPET_OK);
}

parapet_status parapet_series_get_array_info(parapet_series *series, int index, parapet_array_info *info)
{
    PP_TURN turn = {0};
    parapet_status status;
    if (series == NULL || info == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "parapet_series_get_array_info needs a series and a pointer for the result");
    if ((status = pp_turn_take(&turn, pp_store_comm(series->store), PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    if (index < 0 || index >= series->count)
        return pp_fail(PARAPET_ERR_ARGUMENT, "series \"%s\" has no array number %d, counted from 0: it has %d",
                       series->path, index, series->count);
    return parapet_array_get_info(series->arrays[index], info);
}
