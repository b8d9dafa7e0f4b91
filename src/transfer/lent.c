#include "transfer/lent.h"

static parapet_status add(pp_lent *lent, pp_store *store, int64_t number, const char *key)
{
    pp_lent_shard *shard;
    parapet_status status = pp_allocate(&shard, sizeof *shard);
    if (status != PARAPET_OK)
        return status;
    status = pp_store_open_object(store, key, &shard->reader);
    if (status != PARAPET_OK && status != PARAPET_ERR_NOT_FOUND) {
        pp_free(shard);
        return status;
    }
    shard->number = number;
    shard->next = lent->shards;
    lent->shards = shard;
    lent->count++;
    return PARAPET_OK;
}

static pp_lent_shard *find(const pp_lent *lent, int64_t number)
{
    pp_lent_shard *shard = lent->shards;
    while (shard != NULL && shard->number != number)
        shard = shard->next;
    return shard;
}

parapet_status pp_lent_open(pp_lent *lent, pp_store *store, int64_t number, const char *key, pp_reader **reader)
{
    parapet_status status;
    if (find(lent, number) == NULL && (status = add(lent, store, number, key)) != PARAPET_OK)
        return status;
    *reader = find(lent, number)->reader;
    return *reader != NULL ? PARAPET_OK : pp_fail(PARAPET_ERR_NOT_FOUND, "%s does not exist", key);
}

void pp_lent_clear(pp_lent *lent)
{
    pp_lent_shard *shard = lent->shards, *next;
    for (; shard != NULL; shard = next) {
        next = shard->next;
        pp_reader_free(shard->reader);
        pp_free(shard);
    }
    *lent = (pp_lent){0};
}
