#include "array/array.h"
#include "array/array_handle.h"
#include "array/seal.h"
#include "array/seal_objects.h"
#include "base/checked.h"

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
