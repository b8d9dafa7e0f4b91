/* series_create.c - making a series. The group says that it is one before the arrays are made, and how many steps it
 * has after: so a creation that a crash has interrupted can be done again. */
#include "array/attributes.h"
#include "array/create.h"
#include "array/node.h"
#include "array/store_queries.h"
#include "base/status.h"
#include "series/group_document.h"
#include "series/series_handle.h"
#include "series/series_spec.h"

/* What rank 0 prepares, and every rank has to know. */
typedef struct preparation {
    parapet_series *series;
    pp_series_making *making;
} preparation;

static void clear_found(parapet_series *series)
{
    int i;
    for (i = 0; i < series->count; i++)
        pp_free(series->names[i]);
    pp_free(series->names);
    pp_free(series->dimension);
    pp_free(series->shown);
}

/* Whether an earlier creation left something here; a series that is complete is never replaced. */
static parapet_status look_for_series(const parapet_series *series, bool *is_begun)
{
    parapet_series found = {.store = series->store, .path = series->path};
    parapet_status status = pp_series_read_group(&found);
    *is_begun = status == PARAPET_OK;
    if (status == PARAPET_OK && found.steps_committed >= 0)
        status = pp_fail(PARAPET_ERR_EXISTS, "there is a series at \"%s\" already", series->path);
    clear_found(&found);
    return pp_accept_absence(status);
}

/* Arrays that are there already are somebody's, unless an earlier creation left them. */
static parapet_status check_free(const parapet_series *series, const pp_series_making *making)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i <= series->count && status == PARAPET_OK && !making->replaces; i++) {
        pp_node node = {0};
        status = pp_node_load(series->store, making->paths[i], &node);
        if (status == PARAPET_OK && !node.is_implicit && !making->specs[i].overwrite)
            status = pp_fail(PARAPET_ERR_EXISTS, "there is an array or a group at \"%s\" already", making->paths[i]);
        else if (status == PARAPET_ERR_NOT_FOUND)
            status = PARAPET_OK;
        pp_node_clear(&node);
    }
    return status;
}

/* A creation that was interrupted has made no step: what has some is no remains of it, whatever the group says. */
static parapet_status check_remains(const parapet_series *series, const pp_series_making *making)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i <= series->count && status == PARAPET_OK && making->replaces; i++) {
        pp_node node = {0};
        int64_t steps = 0;
        status = pp_node_load(series->store, making->paths[i], &node);
        if (status == PARAPET_OK && node.kind == PARAPET_NODE_ARRAY &&
            (!pp_json_get_i64(pp_json_element(pp_json_member(node.json, "shape"), 0), &steps) || steps != 0))
            status = pp_fail(PARAPET_ERR_EXISTS,
                             "the group \"%s\" says that creating the series was interrupted, but \"%s\" has steps: "
                             "a document is damaged; nothing was changed",
                             series->path, making->paths[i]);
        else if (status == PARAPET_ERR_NOT_FOUND)
            status = PARAPET_OK;
        pp_node_clear(&node);
    }
    return status;
}

static parapet_status prepare_place(void *subject, const void *argument)
{
    preparation *job = subject;
    parapet_series *series = job->series;
    pp_json *attributes = NULL;
    parapet_status status = look_for_series(series, &job->making->replaces);
    (void)argument;
    if (status == PARAPET_OK && (status = check_free(series, job->making)) == PARAPET_OK &&
        (status = check_remains(series, job->making)) == PARAPET_OK &&
        (status = pp_attributes_parse(job->making->spec->attributes, &attributes)) == PARAPET_OK &&
        (status = pp_series_remove_logs(series)) == PARAPET_OK)
        status = pp_series_write_group(series, -1, attributes);
    pp_json_free(attributes);
    return status;
}

static parapet_status print_place(void *subject, pp_text *bytes)
{
    const preparation *job = subject;
    pp_bytes_add_u64(bytes, job->making->replaces);
    return PARAPET_OK;
}

static parapet_status adopt_place(void *subject, pp_cursor *bytes)
{
    preparation *job = subject;
    job->making->replaces = pp_cursor_u64(bytes) != 0;
    return PARAPET_OK;
}

static parapet_status complete(void *subject, const void *argument)
{
    (void)argument;
    return pp_series_write_group(subject, 0, NULL);
}

/* [collective] */
static parapet_status create(parapet_series *series, pp_series_making *making)
{
    preparation job = {.series = series, .making = making};
    pp_rank0_task task = {.subject = &job, .work = prepare_place, .print = print_place, .adopt = adopt_place};
    parapet_status status;
    int i;
    if ((status = pp_series_hold_group(series)) != PARAPET_OK ||
        (status = pp_rank0_do(pp_store_comm(series->store), "making room for a series", &task)) != PARAPET_OK ||
        (status = pp_series_hold_members(series, (const char *const *)making->paths, series->count + 1)) !=
            PARAPET_OK)
        return status;
    for (i = 0; i <= series->count && making->replaces; i++)
        making->specs[i].overwrite = 1;
    if ((status = pp_arrays_create(series->arrays, series->store, (const char *const *)making->paths, making->specs,
                                   series->count + 1, true)) != PARAPET_OK)
        return status;
    return pp_series_rank0_do(series, "completing a series", complete, NULL);
}

static parapet_status take_names(parapet_series *series, const pp_series_making *making)
{
    size_t count = (size_t)making->spec->count;
    parapet_status status;
    series->steps_per_row = making->steps_per_row;
    if ((status = pp_text_duplicate(&series->dimension, making->dimension)) != PARAPET_OK ||
        (status = pp_allocate_array(&series->arrays, count + 1, sizeof series->arrays[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&series->names, count, sizeof series->names[0])) != PARAPET_OK)
        return status;
    while ((size_t)series->count < count &&
           (status = pp_text_duplicate(&series->names[series->count], making->spec->names[series->count])) ==
               PARAPET_OK)
        series->count++;
    return status;
}

static parapet_status check(parapet_series **series, pp_series_making *making, parapet_store *store, const char *path,
                            const parapet_series_spec *spec)
{
    parapet_status status;
    if ((status = pp_series_build(series, store, path)) != PARAPET_OK ||
        (status = pp_store_check_writable(store)) != PARAPET_OK ||
        (status = pp_series_making_init(making, store, (*series)->path, spec)) != PARAPET_OK)
        return status;
    return take_names(*series, making);
}

parapet_status parapet_series_create(parapet_series **series, parapet_store *store, const char *path,
                                     const parapet_series_spec *spec)
{
    PP_TURN turn = {0};
    pp_series_making making = {0};
    parapet_status status;
    pp_call call;
    if (series != NULL)
        *series = NULL;
    if (series == NULL || store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a series needs a store and a pointer for its handle");
    if ((status = pp_turn_take(&turn, pp_store_comm(store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "series_create(%s)", path != NULL ? path : "");
    if (spec != NULL)
        pp_series_spec_add(spec, &call);
    status = check(series, &making, store, path, spec);
    if ((status = pp_comm_begin(pp_store_comm(store), &call, status)) == PARAPET_OK)
        status = create(*series, &making);
    pp_series_making_clear(&making);
    status = pp_series_finish(series, status);
    return pp_outcome(status == PARAPET_OK
                          ? status
                          : pp_fail_within(status, "cannot create series \"%s\"", path != NULL ? path : ""));
}
