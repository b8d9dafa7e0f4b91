/* write_back_layer.c - the layer of the option write_back: a shard is what is stored of it, and over that the chunks
 * that wait to be written (write_back.h). As entries tell, these lie behind the end of the stored object. */
#include "transfer/layer.h"

#include <string.h>

#include "base/checked.h"
#include "transfer/shard.h"

/* What waits was made for the object that was there then. */
static parapet_status check_base(pp_dirty_shard *dirty, uint64_t version, const char *key)
{
    if (pp_write_back_fits(dirty, version))
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_STALE,
                   "another job has written %s since this one wrote to it, which was not flushed; write all of that "
                   "shard, or close the array to give up what was not flushed of it",
                   key);
}

parapet_status pp_write_back_check(const pp_transfer_context *context, int64_t shard)
{
    pp_write_back_place place = pp_transfer_write_back_place(context, shard);
    pp_dirty_shard *dirty = pp_write_back_find(&place);
    char *key = NULL;
    uint64_t version;
    parapet_status status = pp_layout_key(context->layout, context->path, shard, &key);
    if (status == PARAPET_OK && (status = pp_store_version(context->store, key, &version)) == PARAPET_OK)
        status = check_base(dirty, version, key);
    dirty->is_stuck |= status == PARAPET_ERR_STALE;
    pp_free(key);
    return status;
}

/* ---- Opening ---- */

static uint64_t bytes_of_object(const pp_shard *shard)
{
    return shard->reader != NULL ? shard->reader->bytes : 0;
}

static parapet_status open_base(const pp_transfer_context *context, pp_shard *shard)
{
    parapet_status status = pp_shard_open_object(context, shard);
    if (status == PARAPET_OK)
        status = check_base(shard->dirty, shard->reader != NULL ? shard->reader->version : 0, shard->key);
    return status == PARAPET_OK ? pp_shard_list_stored(context, shard) : status;
}

static void lay_over(pp_shard *shard)
{
    uint64_t offset = bytes_of_object(shard);
    int64_t chunk;
    for (chunk = 0; chunk < shard->dirty->chunk_count; chunk++) {
        uint64_t bytes;
        if (!pp_write_back_has(shard->dirty, chunk))
            continue;
        bytes = pp_write_back_get(shard->dirty, chunk).bytes;
        shard->entries[chunk] = bytes > 0 ? (pp_chunk_entry){.offset = offset, .bytes = bytes}
                                          : (pp_chunk_entry){PP_CHUNK_ABSENT, PP_CHUNK_ABSENT};
        offset += bytes;
    }
}

static parapet_status open_shard(const pp_transfer_context *context, pp_shard *shard)
{
    pp_write_back_place place = pp_transfer_write_back_place(context, shard->number);
    parapet_status status = PARAPET_OK;
    shard->layer = &pp_cache_layer;
    if ((shard->dirty = pp_write_back_find(&place)) == NULL)
        return pp_cache_layer.open(context, shard);
    shard->replaces_object = !shard->dirty->has_base;
    if (!shard->replaces_object)
        status = open_base(context, shard);
    if (status == PARAPET_OK && shard->entries == NULL)
        status = pp_shard_list_none(context, shard);
    if (status != PARAPET_OK)
        return status;
    lay_over(shard);
    shard->layer = &pp_write_back_layer;
    return PARAPET_OK;
}

/* ---- Fetching ---- */

static pp_chunk_place find(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk)
{
    return pp_write_back_has(shard->dirty, chunk) ? PP_WAITING : pp_cache_layer.find(context, shard, chunk);
}

static bool wants_whole(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk, size_t bytes)
{
    return pp_write_back_has(shard->dirty, chunk) || pp_cache_layer.wants_whole(context, shard, chunk, bytes);
}

/* Whole pages may be asked for, and so more than there is of the chunk: only what there is counts. */
static void copy_waiting(const pp_shard *shard, const pp_chunk_run *run, int64_t chunk)
{
    const pp_chunk_entry *entry = &shard->entries[chunk];
    uint64_t from = pp_max_u64(entry->offset, run->offset),
             end = pp_min_u64(entry->offset + entry->bytes, run->offset + run->bytes);
    if (from < end)
        memcpy(run->target + (from - run->offset),
               pp_write_back_get(shard->dirty, chunk).data + (from - entry->offset), (size_t)(end - from));
}

static parapet_status fetch(const pp_transfer_context *context, const pp_shard *shard, const pp_chunk_run *run)
{
    int64_t i;
    if (!pp_write_back_has(shard->dirty, run->chunks[0]))
        return pp_cache_layer.fetch(context, shard, run);
    for (i = 0; i < run->count; i++) {
        copy_waiting(shard, run, run->chunks[i]);
        context->counters->cache_hits += !run->is_part;
        context->counters->cache_bytes += run->is_part ? 0 : (int64_t)shard->entries[run->chunks[i]].bytes;
    }
    return PARAPET_OK;
}

const pp_layer pp_write_back_layer = {
    .open = open_shard,
    .read_index = NULL, /* it is read before this layer lies over the shard */
    .find = find,
    .wants_whole = wants_whole,
    .fetch = fetch,
};
