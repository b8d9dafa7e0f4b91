/* layer.c - the lowest layer: storage, and nothing else. */
#include "transfer/layer.h"

#include "transfer/write_shard.h"

static pp_chunk_place find(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk)
{
    (void)context;
    (void)shard;
    (void)chunk;
    return PP_IN_STORAGE;
}

static bool wants_whole(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk, size_t bytes)
{
    (void)context;
    (void)shard;
    (void)chunk;
    (void)bytes;
    return false;
}

static parapet_status fetch(const pp_transfer_context *context, const pp_shard *shard, const pp_chunk_run *run)
{
    return pp_shard_read(context, shard, run->offset, run->bytes, run->target);
}

static parapet_status begin(const pp_transfer *transfer, pp_write_shard *shard)
{
    (void)transfer;
    (void)shard;
    return PARAPET_OK;
}

static void note_outcome(const pp_transfer_context *context, const pp_staged_note *note, uint64_t version,
                         bool is_published)
{
    (void)context;
    (void)note;
    (void)version;
    (void)is_published;
}

const pp_layer pp_plain_layer = {
    .open_object = pp_shard_open_reader,
    .close_object = pp_reader_free,
    .open = pp_shard_open_stored,
    .read_index = pp_shard_read,
    .find = find,
    .wants_whole = wants_whole,
    .fetch = fetch,
    .begin = begin,
    .note_outcome = note_outcome,
};
