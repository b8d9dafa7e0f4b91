/* A series whose rows of shards hold four steps, flushed in between now and then. */
#include <inttypes.h>
#include <parapet.h>
#include <stdio.h>
#include <string.h>

#include "job.h"

enum { ARRAYS = 2, ROWS = 32, COLUMNS = 64, STEPS_PER_ROW = 4, FLUSH_EVERY = 7 };

#define PLACE "output"

static const char *const names[ARRAYS] = {"height", "speed"};
static uint32_t values[ROWS * COLUMNS];

static parapet_status create(parapet_series **series, parapet_store *store)
{
    static const int64_t shape[3] = {0, ROWS, COLUMNS}, chunks[3] = {1, ROWS, COLUMNS};
    static const int64_t shards[3] = {STEPS_PER_ROW, ROWS, COLUMNS};
    static const char *const dimensions[3] = {"time", "y", "x"};
    parapet_array_spec specs[ARRAYS];
    parapet_series_spec spec = {.count = ARRAYS, .names = names, .specs = specs};
    int i;
    for (i = 0; i < ARRAYS; i++)
        specs[i] = (parapet_array_spec){.type = PARAPET_UINT32,
                                        .ndim = 3,
                                        .shape = shape,
                                        .chunks = chunks,
                                        .shards = shards,
                                        .dimension_names = dimensions};
    return parapet_series_create(series, store, PLACE, &spec);
}

static int64_t steps_committed(parapet_series *series)
{
    parapet_series_info info = {0};
    (void)parapet_series_get_info(series, &info);
    return info.steps_committed;
}

/* Tells when more is committed than was before. */
static void mark_progress(const job *self, parapet_series *series, int64_t *committed)
{
    int64_t now = steps_committed(series);
    if (now > *committed)
        job_mark(self, "done", now);
    *committed = now;
}

static parapet_status append(const job *self, parapet_series *series, int64_t step)
{
    static uint32_t held[ARRAYS][ROWS * COLUMNS];
    int64_t start[2] = {0}, count[2] = {0, COLUMNS}, i;
    parapet_part parts[ARRAYS];
    parapet_step steps[ARRAYS] = {0};
    int array;
    job_rows(self, ROWS, &start[0], &count[0]);
    for (array = 0; array < ARRAYS; array++) {
        for (i = 0; i < count[0] * COLUMNS; i++)
            held[array][i] = job_value(step, array, start[0] * COLUMNS + i);
        parts[array] = (parapet_part){.ndim = 2, .start = start, .count = count, .data = held[array]};
        steps[array] = (parapet_step){.parts = &parts[array], .part_count = 1};
    }
    job_mark(self, "begin", step);
    return parapet_series_append(series, (double)step, steps);
}

static parapet_status append_steps(const job *self, parapet_series *series, int64_t count)
{
    int64_t committed = steps_committed(series), step = committed, last = step + count;
    parapet_status status = PARAPET_OK;
    while (step < last && status == PARAPET_OK) {
        if ((status = append(self, series, ++step)) == PARAPET_OK && step % FLUSH_EVERY == 0)
            status = parapet_series_flush(series);
        if (status == PARAPET_OK)
            mark_progress(self, series, &committed);
    }
    return status;
}

static int write_series(const job *self)
{
    parapet_store *store = NULL;
    parapet_series *series = NULL;
    parapet_status status = job_open(self, PARAPET_CREATE, &store);
    int code = JOB_SOUND;
    if (status == PARAPET_OK && (status = parapet_series_open(&series, store, PLACE)) == PARAPET_ERR_NOT_FOUND)
        status = create(&series, store);
    if (status == PARAPET_OK)
        status = append_steps(self, series, self->count);
    if (status != PARAPET_OK)
        code = job_failed(self, "series", 0, status);
    (void)parapet_series_close(&series);
    (void)parapet_store_close(&store);
    return code;
}

static int verify_step(const job *self, parapet_array *array, int number, int64_t step)
{
    int64_t start[3] = {step - 1, 0, 0}, count[3] = {1, ROWS, COLUMNS}, i;
    parapet_part part = {.ndim = 3, .start = start, .count = count, .data = values};
    memset(values, 0, sizeof values);
    if (parapet_array_read(array, &part, 1) != PARAPET_OK)
        return job_violated(self, "step %" PRId64 " of %s does not read: %s", step, names[number],
                            parapet_error_message());
    for (i = 0; i < ROWS * COLUMNS; i++)
        if (values[i] != job_value(step, number, i))
            return job_violated(self, "element %" PRId64 " of step %" PRId64 " of %s is wrong", i, step,
                                names[number]);
    return JOB_SOUND;
}

static int verify_array(const job *self, parapet_store *store, int number, int64_t steps)
{
    parapet_array *array = NULL;
    parapet_array_info info;
    char path[64];
    int64_t step;
    int code = JOB_SOUND;
    (void)snprintf(path, sizeof path, "%s/%s", PLACE, names[number]);
    if (parapet_array_open(&array, store, path) != PARAPET_OK)
        return job_violated(self, "%s does not open: %s", path, parapet_error_message());
    if (parapet_array_get_info(array, &info) != PARAPET_OK || info.shape[0] != steps)
        code = job_violated(self, "%s has %" PRId64 " steps instead of %" PRId64, path, info.shape[0], steps);
    for (step = 1; step <= steps && code == JOB_SOUND; step++)
        code = verify_step(self, array, number, step);
    (void)parapet_array_close(&array);
    return code;
}

static int verify_coordinate(const job *self, parapet_store *store, int64_t steps)
{
    parapet_array *array = NULL;
    int64_t start[1], count[1] = {1};
    double value = 0;
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = &value};
    int code = JOB_SOUND;
    if (parapet_array_open(&array, store, PLACE "/time") != PARAPET_OK)
        return job_violated(self, "the coordinate does not open: %s", parapet_error_message());
    for (start[0] = 0; start[0] < steps && code == JOB_SOUND; start[0]++)
        if (parapet_array_read(array, &part, 1) != PARAPET_OK || value != (double)(start[0] + 1))
            code = job_violated(self, "the coordinate of step %" PRId64 " is %g", start[0] + 1, value);
    (void)parapet_array_close(&array);
    return code;
}

static int verify_steps(const job *self, parapet_store *store, int64_t steps)
{
    int number, code = verify_coordinate(self, store, steps);
    for (number = 0; number < ARRAYS && code == JOB_SOUND; number++)
        code = verify_array(self, store, number, steps);
    return code;
}

/* Goes on for as long as it takes to fill a row of shards and to begin the next. */
static int go_on(const job *self, parapet_store *store, parapet_series *series)
{
    int64_t steps = steps_committed(series), committed;
    if (append_steps(self, series, STEPS_PER_ROW + 1) != PARAPET_OK || parapet_series_flush(series) != PARAPET_OK)
        return job_violated(self, "no further step can be appended: %s", parapet_error_message());
    committed = steps;
    mark_progress(self, series, &committed);
    if (committed != steps + STEPS_PER_ROW + 1)
        return job_violated(self, "%" PRId64 " steps are committed after a flush", committed);
    return verify_steps(self, store, committed);
}

static int verify_opened(const job *self, parapet_store *store, parapet_series *series)
{
    int64_t steps = steps_committed(series);
    int code;
    if (steps < self->done || steps > self->begun)
        return job_violated(self, "%" PRId64 " steps are there, %" PRId64 " were acknowledged, %" PRId64 " begun",
                            steps, self->done, self->begun);
    if ((code = verify_steps(self, store, steps)) != JOB_SOUND)
        return code;
    return go_on(self, store, series);
}

static int verify_series(const job *self)
{
    parapet_store *store = NULL;
    parapet_series *series = NULL;
    int code;
    if (job_open(self, PARAPET_CREATE, &store) != PARAPET_OK)
        return job_violated(self, "the store does not open: %s", parapet_error_message());
    if (parapet_store_collect(store, "", 0, NULL, NULL) != PARAPET_OK)
        code = job_violated(self, "what is left over cannot be removed: %s", parapet_error_message());
    else if (parapet_series_open(&series, store, PLACE) == PARAPET_OK)
        code = verify_opened(self, store, series);
    else
        code = job_violated(self, "the series does not open: %s", parapet_error_message());
    (void)parapet_series_close(&series);
    (void)parapet_store_close(&store);
    return code;
}

const power_subject series_subject = {"series", write_series, verify_series};
