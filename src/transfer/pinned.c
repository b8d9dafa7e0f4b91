#include "transfer/pinned.h"

#include "base/status.h"
#include "transfer/shard.h"

static parapet_status add(const pp_transfer_context *context, const pp_shard *opened)
{
    pp_pinned *pinned = context->pinned;
    pp_pinned_shard *shard;
    parapet_status status = pp_allocate(&shard, sizeof *shard);
    if (status != PARAPET_OK)
        return status;
    status = pp_shard_open_reader(context, opened, &shard->reader);
    if (status != PARAPET_OK && status != PARAPET_ERR_NOT_FOUND) {
        pp_free(shard);
        return status;
    }
    shard->number = opened->number;
    shard->next = pinned->shards;
    pinned->shards = shard;
    pinned->count++;
    return PARAPET_OK;
}

static pp_pinned_shard *find(const pp_pinned *pinned, int64_t number)
{
    pp_pinned_shard *shard = pinned->shards;
    while (shard != NULL && shard->number != number)
        shard = shard->next;
    return shard;
}

static parapet_status open_object(const pp_transfer_context *context, const pp_shard *shard, pp_reader **reader)
{
    parapet_status status;
    if (find(context->pinned, shard->number) == NULL && (status = add(context, shard)) != PARAPET_OK)
        return status;
    *reader = find(context->pinned, shard->number)->reader;
    return *reader != NULL ? PARAPET_OK : pp_fail(PARAPET_ERR_NOT_FOUND, "%s does not exist", shard->key);
}

static void leave_open(pp_reader *reader)
{
    (void)reader;
}

void pp_pinned_begin(pp_pinned *pinned, pp_transfer_context *context)
{
    if (context->layer == &pinned->layer)
        return;
    pinned->below = context->layer;
    pinned->layer = *context->layer;
    pinned->layer.open_object = open_object;
    pinned->layer.close_object = leave_open;
    context->layer = &pinned->layer;
    context->pinned = pinned;
}

void pp_pinned_end(pp_pinned *pinned, pp_transfer_context *context)
{
    pp_pinned_shard *shard = pinned->shards, *next;
    if (context->layer != &pinned->layer)
        return;
    for (; shard != NULL; shard = next) {
        next = shard->next;
        pp_reader_free(shard->reader);
        pp_free(shard);
    }
    context->layer = pinned->below;
    *pinned = (pp_pinned){0};
}
