#include "array/array.h"
#include "array/array_handle.h"
#include "array/seal.h"
#include "array/seal_objects.h"
#include "base/checked.h"
#include "plan/worklist.h"

int64_t pp_seal_first_own(const parapet_store *store, int64_t before)
{
    int i, count = store->server_count, rank = pp_comm_rank(store->comm);
    for (i = 0; i < count; i++)
        if (store->servers[i] == rank)
            return (i + count - before % count) % count;
    return INT64_MAX;
}

static parapet_status verify_shard(parapet_array *array, const pp_transfer_context *context, int64_t number)
{
    pp_shard shard = {0};
    pp_shard_record sealed;
    parapet_status status = pp_seal_lookup_record(array, number, &sealed);
    if (status == PARAPET_OK && (status = pp_shard_open(context, number, &shard)) == PARAPET_OK)
        status = pp_shard_compare(&shard, &sealed);
    pp_shard_close(&shard);
    return status;
}

/* Neighbours, so that a page of the manifest is read by few servers. It is not kept: there may be many arrays. */
static parapet_status verify_share(parapet_array *array, int64_t share)
{
    int64_t count = array->layout.tiling.shards.cell_count, servers = array->store->server_count, number, end;
    pp_transfer_context context;
    parapet_status status = pp_array_transfer_context(array, &context);
    if (share == INT64_MAX || status != PARAPET_OK)
        return status;
    context.seal = NULL; /* no chunk is read */
    end = count / servers * (share + 1) + pp_min_i64(share + 1, count % servers);
    for (number = count / servers * share + pp_min_i64(share, count % servers); number < end && status == PARAPET_OK;
         number++)
        status = verify_shard(array, &context, number);
    pp_seal_forget_pages(array);
    return status == PARAPET_OK ? status : pp_fail_within(status, "array \"%s\"", array->path);
}

/* ---- What is kept of shards that are cut ---- */

static parapet_status verify_contents(const pp_transfer_context *context, int64_t number)
{
    pp_shard shard = {0};
    parapet_status status = pp_shard_open(context, number, &shard);
    if (status == PARAPET_OK && shard.reader != NULL)
        status = pp_shard_verify_all(context, &shard);
    pp_shard_close(&shard);
    return status;
}

/* The number that a shard has in the present grid; -1: it is not in it. */
static int64_t number_before(const pp_grid *before, const pp_grid *after, int64_t number)
{
    int64_t cell[PARAPET_MAX_NDIM];
    int d;
    pp_grid_cell_position(after, number, cell);
    for (d = 0; d < before->ndim; d++)
        if (cell[d] >= before->cells[d])
            return -1;
    return pp_grid_cell_number(before, cell);
}

parapet_status pp_seal_verify_edge(parapet_array *array, const int64_t *shape, const bool *is_cut)
{
    const pp_grid *before = &array->layout.tiling.shards;
    pp_worklist list = {0};
    pp_transfer_context context;
    pp_grid after;
    parapet_status status;
    size_t i;
    if (!array->is_sealed)
        return PARAPET_OK;
    if ((status = pp_array_transfer_context(array, &context)) != PARAPET_OK ||
        (status = pp_grid_init(&after, before->ndim, shape, array->document.grid_shape,
                               context.layout->tiling.element_bytes)) != PARAPET_OK)
        return status;
    status = pp_worklist_build_edge(&list, &after, is_cut, context.budget);
    for (i = 0; i < list.count && status == PARAPET_OK; i++) {
        int64_t number = number_before(before, &after, list.work[i].shard);
        if (number >= 0)
            status = verify_contents(&context, number);
    }
    pp_worklist_clear(&list);
    return status;
}

parapet_status pp_arrays_verify(parapet_array *const *arrays, int count)
{
    parapet_status status = PARAPET_OK;
    int64_t before = 0;
    int i;
    if (count == 0)
        return PARAPET_OK;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        status = verify_share(arrays[i], pp_seal_first_own(arrays[i]->store, before));
        before += arrays[i]->layout.tiling.shards.cell_count;
    }
    return pp_comm_agree(arrays[0]->store->comm, "verifying", status);
}
