/* series_start.c - a step that is appended beside the program. */
#include "array/array.h"
#include "array/store_queries.h"
#include "base/status.h"
#include "request/part_copies.h"
#include "request/request.h"
#include "series/series.h"
#include "series/series_handle.h"
#include "series/step.h"
#include "series/step_pieces.h"

typedef struct job {
    parapet_series *series;
    double coordinate;
    pp_series_step step;
    pp_part_copies copies;
} job;

static parapet_status run_job(void *context)
{
    const job *self = context;
    parapet_status status = pp_series_append_step(self->series, self->coordinate, &self->step, PARAPET_OK);
    self->series->has_failed_request = status != PARAPET_OK;
    return status;
}

static void clear_job(void *context)
{
    job *self = context;
    pp_series_step_clear(&self->step);
    pp_part_copies_clear(&self->copies);
}

static void finish_job(void *context, parapet_status status)
{
    const job *self = context;
    self->series->request_count--;
    if (status != PARAPET_OK)
        self->series->has_failed_request = false;
}

/* Everything of the caller's that will be needed, checked as an append would. */
static parapet_status keep_step(job *self, const parapet_step *steps, parapet_buffering buffering)
{
    parapet_series *series = self->series;
    pp_part_copying copying = {
        .budget = pp_store_budget(series->store), .count = series->count, .buffering = buffering};
    parapet_status status;
    size_t before = 0;
    int i;
    if ((status = pp_buffering_check(buffering)) != PARAPET_OK ||
        (status = pp_series_prepare(series, steps, &self->step)) != PARAPET_OK)
        return status;
    for (i = 0; i < series->count; i++)
        copying.transfer_bytes += pp_series_row_list_bytes(series, (size_t)steps[i].part_count);
    copying.parts = self->step.parts;
    if ((status = pp_part_copies_init(&self->copies, &copying)) != PARAPET_OK)
        return status;
    for (i = 0; i < series->count; i++) {
        self->step.parts[i].given = pp_part_copies_at(&self->copies, before);
        before += (size_t)self->step.parts[i].count;
    }
    return PARAPET_OK;
}

/* What a step may contain depends on those before it: they are completed first. */
parapet_status parapet_series_start_append(parapet_request **request, parapet_series *series, double coordinate,
                                           const parapet_step *steps, parapet_buffering buffering)
{
    static const pp_startable startable = {
        .run = run_job, .clear = clear_job, .finish = finish_job, .job_bytes = sizeof(job)};
    parapet_request *made = NULL;
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    job *self;
    if (request == NULL || series == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "parapet_series_start_append needs a series and a pointer for the request");
    *request = NULL;
    if ((status = pp_turn_take(&turn, pp_store_comm(series->store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_series_append_call(&call, "series_start_append", series, coordinate);
    if ((status = pp_request_build(&made, series->store, &startable)) == PARAPET_OK) {
        self = pp_request_job(made);
        self->series = series;
        self->coordinate = coordinate;
        status = keep_step(self, steps, buffering);
    }
    status = pp_request_start(request, made, series->store, &call, status);
    if (status == PARAPET_OK)
        series->request_count++;
    return pp_outcome(status);
}
