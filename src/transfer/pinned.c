#include "transfer/pinned.h"

#include "base/status.h"

static parapet_status add(pp_pinned *pinned, pp_store *store, int64_t number, const char *key)
{
    pp_pinned_shard *shard;
    parapet_status status = pp_allocate(&shard, sizeof *shard);
    if (status != PARAPET_OK)
        return status;
    status = pp_store_open_object(store, key, &shard->reader);
    if (status != PARAPET_OK && status != PARAPET_ERR_NOT_FOUND) {
        pp_free(shard);
        return status;
    }
    shard->number = number;
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

parapet_status pp_pinned_open(pp_pinned *pinned, pp_store *store, int64_t number, const char *key, pp_reader **reader)
{
    parapet_status status;
    if (find(pinned, number) == NULL && (status = add(pinned, store, number, key)) != PARAPET_OK)
        return status;
    *reader = find(pinned, number)->reader;
    return *reader != NULL ? PARAPET_OK : pp_fail(PARAPET_ERR_NOT_FOUND, "%s does not exist", key);
}

void pp_pinned_clear(pp_pinned *pinned)
{
    pp_pinned_shard *shard = pinned->shards, *next;
    for (; shard != NULL; shard = next) {
        next = shard->next;
        pp_reader_free(shard->reader);
        pp_free(shard);
    }
    *pinned = (pp_pinned){0};
}
