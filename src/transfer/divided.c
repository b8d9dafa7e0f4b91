#include "transfer/divided.h"

#include "base/checked.h"

/* A page of elements, though there are none, and the list of shards to finish, in order. */
#define REST_BYTES (PP_PAGE_BYTES + 2 * sizeof(pp_work) + 2 * sizeof(void *))

size_t pp_divided_build_bytes(const pp_transfer_context *context)
{
    size_t chunks = (size_t)context->layout->tiling.chunks.cell_count;
    return pp_shard_build_list_bytes(context->layout, true) + pp_shard_build_write_bytes(context->layout) +
           (context->seal != NULL ? chunks * sizeof(uint32_t) : 0) + REST_BYTES;
}

size_t pp_divided_bytes_to_come(const pp_divided *divided)
{
    return (size_t)pp_max_i64(divided->most - divided->count, 0) * divided->build_bytes;
}

parapet_status pp_divided_get(pp_divided *divided, int64_t number, pp_divided_shard **shard)
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

void pp_divided_clear(pp_divided *divided, const pp_transfer_context *context)
{
    pp_divided_shard *shard = divided->shards, *next;
    for (; shard != NULL; shard = next) {
        next = shard->next;
        pp_shard_build_free(shard->build, context);
        pp_free(shard);
    }
    *divided = (pp_divided){0};
}
