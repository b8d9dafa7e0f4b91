/* write_back_layer.c - the layer of the option write_back: a shard is what is stored of it, and over that the chunks
 * that wait to be written (write_back.h). As entries tell, these lie behind the end of the stored object. */
#include "transfer/layer.h"

#include <string.h>

#include "base/checked.h"
#include "transfer/write_shard.h"

static pp_write_back_place place_of(const pp_transfer_context *context, int64_t shard)
{
    return (pp_write_back_place){.write_back = context->write_back,
                                 .array = context->cache_array,
                                 .shards = &context->layout->tiling.shards,
                                 .number = shard};
}

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
    pp_write_back_place place = place_of(context, shard);
    pp_dirty_shard *dirty = pp_write_back_find(&place);
    char *key = NULL;
    uint64_t version;
    parapet_status status = pp_shard_read_version(context, shard, &key, &version);
    if (status == PARAPET_OK)
        status = check_base(dirty, version, key);
    dirty->is_stuck |= status == PARAPET_ERR_STALE;
    pp_free(key);
    return status;
}

/* ---- Opening ---- */

static parapet_status open_base(const pp_transfer_context *context, pp_shard *shard)
{
    parapet_status status = pp_shard_open_object(context, shard);
    if (status == PARAPET_OK)
        status = check_base(shard->dirty, shard->reader != NULL ? shard->reader->version : 0, shard->key);
    return status == PARAPET_OK ? pp_shard_list_stored(context, shard) : status;
}

static void lay_over(pp_shard *shard)
{
    uint64_t offset = shard->reader != NULL ? shard->reader->bytes : 0;
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
    pp_write_back_place place = place_of(context, shard->number);
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

/* ---- Writing ---- */

static bool is_at_edge(const pp_tiling *tiling, int64_t shard)
{
    pp_box inside;
    pp_tiling_shard_box(tiling, shard, &inside);
    return pp_box_element_count(&inside) < pp_grid_cell_elements(&tiling->shards);
}

/* What a draft stands on. */
static parapet_status find_base(const pp_transfer_context *context, pp_shard_build *build)
{
    pp_dirty_shard *draft = build->dirty;
    char *key = NULL;
    parapet_status status = PARAPET_OK;
    draft->is_whole = !build->is_old_open;
    draft->has_base = build->is_old_open || is_at_edge(&context->layout->tiling, build->number);
    if (draft->has_base && draft->is_whole)
        status = pp_shard_read_version(context, build->number, &key, &draft->base);
    else if (build->old.reader != NULL)
        draft->base = build->old.reader->version;
    pp_free(key);
    return status;
}

static parapet_status append(pp_shard_build *build, const pp_transfer_context *context, int64_t chunk,
                             pp_bytes encoded)
{
    (void)context;
    return pp_write_back_put(build->dirty, chunk, encoded);
}

static parapet_status make_room(pp_staged *staged)
{
    size_t capacity = pp_max_size(16, 2 * staged->delay_capacity);
    parapet_status status;
    if (staged->delay_count < staged->delay_capacity)
        return PARAPET_OK;
    if ((status = pp_reallocate(&staged->delays, capacity * sizeof staged->delays[0])) == PARAPET_OK)
        staged->delay_capacity = capacity;
    return status;
}

static parapet_status finish(pp_shard_build *build, const pp_transfer_context *context, pp_staged *staged)
{
    parapet_status status = make_room(staged);
    (void)context;
    if (status != PARAPET_OK)
        return status;
    pp_write_back_finish(build->dirty);
    staged->delays[staged->delay_count++] = build->dirty;
    build->sink = pp_storage_sink;
    return PARAPET_OK;
}

static void discard(pp_shard_build *build)
{
    pp_write_back_discard(build->dirty);
}

/* How much room a shard would take that is written in several transfers is not known: it is written at once. */
static parapet_status begin(const pp_transfer *transfer, pp_write_shard *shard)
{
    const pp_transfer_context *context = pp_context_of(transfer, &shard->head);
    pp_shard_build *build = shard->build;
    pp_write_back_place place = place_of(context, build->number);
    int64_t chunk_count = context->layout->tiling.chunks.cell_count;
    parapet_status status;
    size_t bytes;
    if (shard->is_partial ||
        !pp_write_back_reserve(&place, chunk_count, pp_write_shard_count_claimed(transfer, shard),
                               pp_chain_encoded_bound(context->layout->chain), &bytes))
        return pp_cache_layer.begin(transfer, shard);
    if ((status = pp_write_back_draft(&place, chunk_count, bytes, &build->dirty)) != PARAPET_OK)
        return status;
    build->sink = (pp_sink){.append = append, .finish = finish, .discard = discard, .is_overlay = true};
    return find_base(context, build);
}

static void note_outcome(const pp_transfer_context *context, const pp_staged_note *note, uint64_t version,
                         bool is_published)
{
    pp_write_back_place place = place_of(context, note->shard);
    if (!is_published) {
        pp_write_back_note_made(&place, version);
    } else if (note->is_dirty) {
        pp_write_back_note_stored(&place, version);
    } else {
        pp_write_back_drop(&place);
        pp_cache_layer.note_outcome(context, note, version, is_published);
    }
}

const pp_layer pp_write_back_layer = {
    .open_object = pp_shard_open_reader,
    .close_object = pp_reader_free,
    .open = open_shard,
    .read_index = NULL, /* it is read before this layer lies over the shard */
    .find = find,
    .wants_whole = wants_whole,
    .fetch = fetch,
    .begin = begin,
    .note_outcome = note_outcome,
};
