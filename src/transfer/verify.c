#include "transfer/transfer.h"

#include "base/status.h"

static parapet_status verify_chunk(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk,
                                   pp_chain_scratch *scratch, pp_buffer *buffer)
{
    const pp_chunk_entry *entry = &shard->entries[chunk];
    pp_bytes decoded;
    parapet_status status = pp_shard_check_chunk_bytes(context, shard, chunk);
    if (status != PARAPET_OK ||
        (status = pp_buffer_ensure(buffer, (size_t)entry->bytes, "buffers to check chunks")) != PARAPET_OK ||
        (status = pp_shard_read(context, shard, entry->offset, (size_t)entry->bytes, buffer->data)) != PARAPET_OK ||
        (status = pp_shard_verify_chunk(context, shard, chunk, (pp_bytes){buffer->data, (size_t)entry->bytes})) !=
            PARAPET_OK)
        return status;
    context->counters->chunks_decoded += 1;
    status =
        pp_chain_decode(context->layout->chain, scratch, (pp_bytes){buffer->data, (size_t)entry->bytes}, &decoded);
    return status == PARAPET_OK ? status : pp_fail_within(status, "chunk %lld", (long long)chunk);
}

parapet_status pp_transfer_verify(const pp_transfer_context *context, const pp_shard *shard)
{
    pp_chain_scratch *scratch = NULL;
    pp_buffer buffer = {.budget = context->budget};
    int64_t chunk;
    parapet_status status = pp_chain_scratch_build(&scratch, context->layout->chain, context->budget);
    for (chunk = 0; chunk < context->layout->tiling.chunks.cell_count && status == PARAPET_OK; chunk++)
        if (pp_shard_has_chunk(shard, chunk))
            status = verify_chunk(context, shard, chunk, scratch, &buffer);
    pp_buffer_free(&buffer);
    pp_chain_scratch_free(scratch);
    return status;
}
