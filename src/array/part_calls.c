/* part_calls.c - the public functions that read and write parts: part_read.c and part_write.c are what they do. */
#include "array/part_calls.h"

#include <parapet_store.h>

#include "array/batch_flush.h"
#include "array/batch_stage.h"
#include "array/part_read.h"
#include "array/part_write.h"

static parapet_status open_batch(pp_batch *all, pp_direction direction, const parapet_array_parts *list, int count,
                                 const char *function)
{
    parapet_status status;
    if (count < 0 || (count > 0 && (list == NULL || list[0].array == NULL)))
        return pp_fail(PARAPET_ERR_ARGUMENT, "%s needs an array", function);
    *all = (pp_batch){
        .direction = direction, .list = list, .count = count, .store = count > 0 ? list[0].array->store : NULL};
    if (count == 0)
        return PARAPET_OK;
    if ((status = pp_turn_take(&all->turn, all->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_batch_choose_team(all);
    all->steps = all->store->options->write_back ? &pp_writing_later : &pp_writing_at_once;
    return PARAPET_OK;
}

parapet_status parapet_arrays_write(const parapet_array_parts *list, int count)
{
    pp_batch all;
    parapet_status status = open_batch(&all, PP_WRITING, list, count, "parapet_arrays_write");
    return pp_outcome(status == PARAPET_OK && count > 0 ? pp_batch_write(&all) : status);
}

parapet_status parapet_arrays_read(const parapet_array_parts *list, int count)
{
    pp_batch all;
    parapet_status status = open_batch(&all, PP_READING, list, count, "parapet_arrays_read");
    return pp_outcome(status == PARAPET_OK && count > 0 ? pp_batch_read(&all) : status);
}

parapet_status parapet_array_write(parapet_array *array, const parapet_part *parts, int part_count)
{
    parapet_array_parts one = {.array = array, .parts = parts, .part_count = part_count};
    pp_batch all;
    parapet_status status = open_batch(&all, PP_WRITING, &one, 1, "parapet_array_write");
    return pp_outcome(status == PARAPET_OK ? pp_batch_write(&all) : status);
}

parapet_status parapet_array_read(parapet_array *array, const parapet_part *parts, int part_count)
{
    parapet_array_parts one = {.array = array, .parts = parts, .part_count = part_count};
    pp_batch all;
    parapet_status status = open_batch(&all, PP_READING, &one, 1, "parapet_array_read");
    return pp_outcome(status == PARAPET_OK ? pp_batch_read(&all) : status);
}

parapet_status pp_array_move_listed(parapet_array *array, pp_direction direction, const pp_index_list *listed,
                                    const char *function)
{
    parapet_array_parts one = {.array = array};
    pp_batch all;
    parapet_status status = open_batch(&all, direction, &one, 1, function);
    if (status != PARAPET_OK)
        return status;
    all.listed = listed;
    all.team.kept = NULL; /* descriptions are of parts */
    return direction == PP_WRITING ? pp_batch_write(&all) : pp_batch_read(&all);
}

parapet_status pp_arrays_write_repeatable(const parapet_array_parts *list, int count, const int64_t *step,
                                          int64_t *shards_written)
{
    parapet_store *store = list[0].array->store;
    int64_t before = store->counters.shards_owned;
    pp_batch all;
    parapet_status status = open_batch(&all, PP_WRITING, list, count, "parapet_arrays_write");
    int i;
    all.step = step;
    if (status == PARAPET_OK)
        status = pp_batch_write(&all);
    *shards_written += store->counters.shards_owned - before;
    for (i = 0; i < count; i++) {
        pp_shard_notes_clear(&list[i].array->notes); /* they would only grow */
        if (!pp_comm_is_lost(store->comm))
            list[i].array->is_broken = false;
    }
    return status;
}
