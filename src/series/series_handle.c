/* series_handle.c - the handle of a series, and what all that is done to it has in common. */
#include "series/series_handle.h"

#include "array/array.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "base/status.h"
#include "change/registry.h"
#include "series/arena.h"

parapet_status pp_series_build(parapet_series **series, parapet_store *store, const char *path)
{
    parapet_status status = pp_allocate(series, sizeof **series);
    if (status != PARAPET_OK)
        return status;
    (*series)->store = store;
    (*series)->arena.memory.budget = pp_store_budget(store);
    if ((status = pp_path_normalize(path, &(*series)->path)) != PARAPET_OK ||
        (status = pp_comm_build_alone(&(*series)->alone)) != PARAPET_OK)
        return status;
    return pp_own_key_numbered((*series)->path, PP_OWN_OPEN_STEPS, pp_comm_rank(pp_store_comm(store)),
                               &(*series)->arena.key);
}

parapet_status pp_series_free(parapet_series *series)
{
    parapet_status status = PARAPET_OK;
    int i;
    if (series == NULL)
        return PARAPET_OK;
    pp_series_arena_clear(series);
    pp_log_close(series->records);
    if (series->arrays != NULL)
        status = parapet_arrays_close(series->arrays, series->count + 1);
    pp_node_locks_release(series->member_holds, series->member_count);
    pp_node_locks_release(&series->group_hold, 1);
    pp_free(series->member_holds);
    for (i = 0; i < series->count; i++)
        pp_free(series->names[i]);
    pp_free(series->names);
    pp_free(series->arrays);
    pp_free(series->coordinates);
    pp_free(series->shown);
    pp_free(series->dimension);
    pp_free(series->path);
    pp_comm_free(series->alone);
    pp_free(series);
    return status;
}

static pp_node_lock_wish wish_for(const parapet_series *series, const char *const *paths, int count)
{
    return (pp_node_lock_wish){
        .store = series->store, .paths = paths, .count = count, .mode = PP_LOCK_EXCLUSIVE, .purpose = "a series"};
}

parapet_status pp_series_hold_group(parapet_series *series)
{
    pp_node_lock_wish wish = wish_for(series, (const char *const *)&series->path, 1);
    return pp_node_locks_take_collectively(&series->group_hold, &wish);
}

parapet_status pp_series_hold_members(parapet_series *series, const char *const *paths, int count)
{
    pp_node_lock_wish wish = wish_for(series, paths, count);
    parapet_status status =
        pp_comm_agree(pp_store_comm(series->store), "locking",
                      pp_allocate_array(&series->member_holds, (size_t)count, sizeof series->member_holds[0]));
    if (status != PARAPET_OK)
        return status;
    series->member_count = count;
    return pp_node_locks_take_collectively(series->member_holds, &wish);
}

parapet_status pp_series_finish(parapet_series **series, parapet_status status)
{
    pp_failure failure = {0};
    if (status == PARAPET_OK)
        return PARAPET_OK;
    pp_failure_take(&failure, status);
    (void)pp_series_free(*series);
    *series = NULL;
    return pp_failure_put(&failure);
}

int64_t pp_series_row_start(const parapet_series *series)
{
    int64_t last = series->steps > 0 ? series->steps - 1 : 0;
    return last - last % series->steps_per_row;
}

parapet_status pp_series_set_steps(parapet_series *series, int64_t steps)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i <= series->count && status == PARAPET_OK; i++)
        status = pp_array_set_extent(series->arrays[i], steps);
    return status;
}

parapet_status pp_series_paths_build(const char *path, const char *const *names, int count, const char *dimension,
                                     char ***paths)
{
    parapet_status status = pp_allocate_array(paths, (size_t)count + 1, sizeof(*paths)[0]);
    int i;
    for (i = 0; i <= count && status == PARAPET_OK; i++)
        status = pp_path_join(path, i < count ? names[i] : dimension, &(*paths)[i]);
    return status;
}

parapet_status pp_series_remove_logs(const parapet_series *series)
{
    char *prefix = NULL;
    parapet_status status = pp_own_key(series->path, PP_OWN_OPEN_STEPS, &prefix);
    if (status == PARAPET_OK)
        status = pp_store_remove_prefix(pp_store_backend(series->store), prefix);
    pp_free(prefix);
    return status;
}

static void mark_broken(void *subject)
{
    parapet_series *series = subject;
    series->is_broken = true;
}

parapet_status pp_series_rank0_do(parapet_series *series, const char *phase, pp_rank0_work work, const void *argument)
{
    pp_rank0_task task = {.subject = series, .argument = argument, .work = work, .mark_broken = mark_broken};
    return pp_rank0_do(pp_store_comm(series->store), phase, &task);
}
