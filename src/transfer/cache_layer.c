/* cache_layer.c - the layer of the option cache_bytes: chunks and indexes that were fetched or written are in the
 * cache, and fetched from there while the object has the same version (cache.h). */
#include "transfer/layer.h"

#include "transfer/write_shard.h"

static pp_cache_object object_of(const pp_transfer_context *context, const pp_shard *shard)
{
    return (pp_cache_object){.array = context->cache_array,
                             .shard = shard->number,
                             .version = shard->reader != NULL ? shard->reader->version : 0};
}

static parapet_status read_index(const pp_transfer_context *context, const pp_shard *shard, uint64_t offset,
                                 size_t bytes, void *target)
{
    pp_cache_object object = object_of(context, shard);
    parapet_status status;
    if (pp_cache_get(context->cache, &object, PP_CACHE_INDEX, target, bytes))
        return PARAPET_OK;
    if ((status = pp_shard_read(context, shard, offset, bytes, target)) == PARAPET_OK)
        pp_cache_put(context->cache, &object, PP_CACHE_INDEX, target, bytes);
    return status;
}

static pp_chunk_place find(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk)
{
    pp_cache_object object = object_of(context, shard);
    return pp_cache_has(context->cache, &object, chunk) ? PP_IN_CACHE : PP_IN_STORAGE;
}

static bool wants_whole(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk, size_t bytes)
{
    return find(context, shard, chunk) == PP_IN_CACHE || pp_cache_has_room(context->cache, bytes);
}

/* Where a chunk goes. */
static unsigned char *target_of(const pp_shard *shard, const pp_chunk_run *run, int64_t index)
{
    return run->target + (shard->entries[run->chunks[index]].offset - run->offset);
}

/* Whether all chunks of the run came out of the cache. */
static bool get_all(const pp_transfer_context *context, const pp_shard *shard, const pp_chunk_run *run)
{
    pp_cache_object object = object_of(context, shard);
    int64_t i;
    for (i = 0; i < run->count; i++) {
        size_t bytes = (size_t)shard->entries[run->chunks[i]].bytes;
        if (!pp_cache_get(context->cache, &object, run->chunks[i], target_of(shard, run, i), bytes)) {
            context->counters->cache_misses += 1;
            return false;
        }
        context->counters->cache_hits += 1;
        context->counters->cache_bytes += (int64_t)bytes;
    }
    return true;
}

static parapet_status fetch(const pp_transfer_context *context, const pp_shard *shard, const pp_chunk_run *run)
{
    pp_cache_object object = object_of(context, shard);
    parapet_status status;
    int64_t i;
    if (!run->is_part && get_all(context, shard, run))
        return PARAPET_OK;
    status = pp_plain_layer.fetch(context, shard, run);
    for (i = 0; i < run->count && status == PARAPET_OK && !run->is_part && !run->is_last_use; i++)
        pp_cache_put(context->cache, &object, run->chunks[i], target_of(shard, run, i),
                     (size_t)shard->entries[run->chunks[i]].bytes);
    return status;
}

/* ---- Writing ---- */

static pp_cache_object draft_of(const pp_transfer_context *context, int64_t shard, uint64_t draft)
{
    return (pp_cache_object){.array = context->cache_array, .shard = shard, .version = draft, .is_draft = true};
}

static parapet_status append(pp_shard_build *build, const pp_transfer_context *context, int64_t chunk,
                             pp_bytes encoded)
{
    pp_cache_object draft = draft_of(context, build->number, build->draft);
    parapet_status status = pp_storage_sink.append(build, context, chunk, encoded);
    if (status == PARAPET_OK)
        pp_cache_put(context->cache, &draft, chunk, encoded.data, encoded.bytes);
    return status;
}

static parapet_status begin(const pp_transfer *transfer, pp_write_shard *shard)
{
    shard->build->draft = pp_cache_draft(pp_context_of(transfer, &shard->head)->cache);
    shard->build->sink.append = append;
    return PARAPET_OK;
}

static void note_outcome(const pp_transfer_context *context, const pp_staged_note *note, uint64_t version,
                         bool is_published)
{
    pp_cache_object draft = draft_of(context, note->shard, note->draft);
    if (is_published)
        pp_cache_publish(context->cache, &draft, version, context->layout->tiling.chunks.cell_count);
}

const pp_layer pp_cache_layer = {
    .open_object = pp_shard_open_reader,
    .close_object = pp_reader_free,
    .open = pp_shard_open_stored,
    .read_index = read_index,
    .find = find,
    .wants_whole = wants_whole,
    .fetch = fetch,
    .begin = begin,
    .note_outcome = note_outcome,
};
