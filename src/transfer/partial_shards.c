#include "transfer/partial_shards.h"

#include "base/checked.h"

/* A page of elements, though there are none, and the list of shards to finish, in order. */
#define REST_BYTES (PP_PAGE_BYTES + 2 * sizeof(pp_work) + 2 * sizeof(void *))

size_t pp_partial_shards_build_bytes(const pp_transfer_context *context)
{
    size_t chunks = (size_t)context->layout->tiling.chunks.cell_count;
    return pp_shard_build_list_bytes(context->layout, true) + pp_shard_build_write_bytes(context->layout) +
           (context->seal != NULL ? chunks * sizeof(uint32_t) : 0) + REST_BYTES;
}

size_t pp_partial_shards_bytes_to_come(const pp_partial_shards *divided)
{
    return (size_t)pp_max_i64(divided->most - divided->count, 0) * divided->build_bytes;
}

parapet_status pp_partial_shards_get(pp_partial_shards *divided, int64_t number, pp_partial_shard **shard)
{
    parapet_status status;
    for (*shard = divided->shards; *shard != NULL; *shard = (*shard)->next)
        if ((*shard)->number == number)
            return PARAPET_OK;
    if ((status = pp_allocate(shard, sizeof **shard)) != PARAPET_OK)
        return status;
    (*shard)->number = number;
    (*shard)->next = divided->shards;
    divided->shards = *shard;
    divided->count++;
    return PARAPET_OK;
}

void pp_partial_shards_clear(pp_partial_shards *divided, const pp_transfer_context *context)
{
    pp_partial_shard *shard = divided->shards, *next;
    for (; shard != NULL; shard = next) {
        next = shard->next;
        pp_shard_build_free(shard->build, context);
        pp_free(shard);
    }
    *divided = (pp_partial_shards){0};
}
