/* sharding_indexed as one codec among others, for shards that come as a whole: nested in another shard, or
 * wrapped in other codecs. Decodes only. A shard that is the stored object itself is read chunk by chunk
 * elsewhere, with shard_index.h. */
#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "codec/internal.h"
#include "codec/shard_index.h"
#include "geometry/strided.h"

typedef struct shard_plan {
    pp_index_format index;
    pp_grid grid;
    pp_chain *chain; /* of one chunk */
    int64_t shard_strides[PARAPET_MAX_NDIM];
    int64_t chunk_strides[PARAPET_MAX_NDIM];
} shard_plan;

typedef struct shard_context {
    pp_chain_scratch *scratch;
    pp_buffer entries;
} shard_context;

static void forget(pp_stage *stage)
{
    shard_plan *plan = stage->plan;
    if (plan == NULL)
        return;
    pp_chain_free(plan->chain);
    pp_free(plan);
    stage->plan = NULL;
}

static parapet_status check_spec(const pp_stage *stage)
{
    const pp_sharding_spec *sharding = stage->spec.sharding;
    if (stage->depth >= PP_MAX_SHARDING_DEPTH)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "sharding_indexed: shards are nested more than %d deep",
                       PP_MAX_SHARDING_DEPTH);
    if (sharding == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "sharding_indexed: has no configuration");
    if (sharding->ndim != stage->before.format.ndim)
        return pp_fail(PARAPET_ERR_FORMAT, "sharding_indexed: chunk_shape has %d dimensions, but the array has %d",
                       sharding->ndim, stage->before.format.ndim);
    if (stage->before.format.fill_value == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "sharding_indexed: no fill value for absent chunks");
    return PARAPET_OK;
}

static parapet_status fill_plan(shard_plan *plan, const pp_stage *stage)
{
    const pp_sharding_spec *sharding = stage->spec.sharding;
    const pp_chunk_format *shard = &stage->before.format;
    pp_chunk_format chunk = *shard;
    parapet_status status;
    if ((status = pp_index_format_init(&plan->index, sharding, shard->shape)) != PARAPET_OK ||
        (status = pp_grid_init(&plan->grid, shard->ndim, shard->shape, sharding->chunk_shape,
                               shard->element_bytes)) != PARAPET_OK)
        return status;
    plan->index.ignore_checksums = shard->ignore_checksums;
    memcpy(chunk.shape, sharding->chunk_shape, sizeof chunk.shape);
    pp_strides_c_order(shard->ndim, shard->shape, shard->element_bytes, plan->shard_strides);
    pp_strides_c_order(shard->ndim, chunk.shape, shard->element_bytes, plan->chunk_strides);
    status = pp_chain_build_inside(&plan->chain, &sharding->codecs, &chunk, stage->depth + 1);
    return status == PARAPET_OK ? status : pp_fail_within(status, "sharding_indexed");
}

static parapet_status prepare(pp_stage *stage)
{
    parapet_status status;
    size_t bound;
    shard_plan *plan;
    if ((status = check_spec(stage)) != PARAPET_OK || (status = pp_allocate(&plan, sizeof *plan)) != PARAPET_OK)
        return status;
    stage->plan = plan;
    if ((status = fill_plan(plan, stage)) != PARAPET_OK)
        return status;
    if (!pp_add_size_fits(stage->before.decode_bytes, pp_index_stored_bytes(&plan->index), &bound))
        return pp_fail(PARAPET_ERR_FORMAT, "sharding_indexed: a shard of %zu bytes is too large",
                       stage->before.decode_bytes);
    stage->after.decode_bytes = bound;
    pp_stage_vary(stage, 0);
    return PARAPET_OK;
}

static size_t entries_bytes(const shard_plan *plan)
{
    return (size_t)plan->index.chunk_count * sizeof(pp_chunk_entry);
}

static size_t context_bytes(const pp_stage *stage)
{
    const shard_plan *plan = stage->plan;
    return pp_align_up(entries_bytes(plan), PP_PAGE_BYTES) + pp_chain_scratch_bytes(plan->chain);
}

static void context_free(void *memory)
{
    shard_context *context = memory;
    if (context == NULL)
        return;
    pp_chain_scratch_free(context->scratch);
    pp_buffer_free(&context->entries);
    pp_free(context);
}

static parapet_status context_build(void **memory, const pp_stage *stage, pp_budget *budget)
{
    const shard_plan *plan = stage->plan;
    shard_context *context;
    parapet_status status = pp_allocate(&context, sizeof *context);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_buffer_init(&context->entries, budget, entries_bytes(plan), "codec buffers")) != PARAPET_OK ||
        (status = pp_chain_scratch_build(&context->scratch, plan->chain, budget)) != PARAPET_OK) {
        context_free(context);
        return status;
    }
    *memory = context;
    return PARAPET_OK;
}

static pp_strided copy_into_place(const pp_stage_run *run, int64_t number)
{
    const shard_plan *plan = run->stage->plan;
    int64_t cell[PARAPET_MAX_NDIM], offset = 0;
    int i;
    pp_grid_cell_position(&plan->grid, number, cell);
    for (i = 0; i < plan->grid.ndim; i++)
        offset += cell[i] * plan->grid.cell_shape[i] * plan->shard_strides[i];
    return (pp_strided){
        .ndim = plan->grid.ndim,
        .element_bytes = run->stage->before.format.element_bytes,
        .count = plan->grid.cell_shape,
        .target = run->output + offset,
        .target_strides = plan->shard_strides,
        .source_strides = plan->chunk_strides,
    };
}

static parapet_status decode_chunk(const pp_stage_run *run, const pp_chunk_entry *entry, int64_t number)
{
    const shard_plan *plan = run->stage->plan;
    shard_context *context = run->context;
    pp_strided copy = copy_into_place(run, number);
    pp_bytes encoded, decoded;
    parapet_status status;
    if (pp_chunk_is_absent(entry)) {
        copy.source = run->stage->before.format.fill_value;
        pp_strided_fill(&copy);
        return PARAPET_OK;
    }
    encoded = (pp_bytes){run->input.data + entry->offset, (size_t)entry->bytes};
    if ((status = pp_chain_decode(plan->chain, context->scratch, encoded, &decoded)) != PARAPET_OK)
        return pp_fail_within(status, "chunk %lld of a shard", (long long)number);
    copy.source = decoded.data;
    pp_strided_copy(&copy);
    return PARAPET_OK;
}

static parapet_status decode(pp_stage_run *run)
{
    const shard_plan *plan = run->stage->plan;
    shard_context *context = run->context;
    pp_chunk_entry *entries = (pp_chunk_entry *)(void *)context->entries.data;
    size_t index_bytes = pp_index_stored_bytes(&plan->index);
    size_t index_offset;
    parapet_status status;
    int64_t i;
    if (run->input.bytes < index_bytes)
        return pp_fail(PARAPET_ERR_CORRUPT, "sharding_indexed: a shard of %zu bytes has no room for its index of %zu",
                       run->input.bytes, index_bytes);
    index_offset = plan->index.is_at_start ? 0 : run->input.bytes - index_bytes;
    status = pp_index_decode(&plan->index, run->input.data + index_offset, run->input.bytes, entries);
    for (i = 0; status == PARAPET_OK && i < plan->index.chunk_count; i++)
        status = decode_chunk(run, &entries[i], i);
    run->result = (pp_bytes){run->output, run->capacity};
    return status;
}

const pp_codec_ops pp_sharding_ops = {
    .traits =
        {
            .name = "sharding_indexed",
            .v3_name = "sharding_indexed",
            .kind = PP_ARRAY_TO_BYTES,
            .role = PP_ROLE_LAYOUT,
            .follows_dimensions = true,
            .carry = pp_carry_nothing, /* what is inside is carried */
        },
    .prepare = prepare,
    .forget = forget,
    .decode = decode,
    .context_bytes = context_bytes,
    .context_build = context_build,
    .context_free = context_free,
};
