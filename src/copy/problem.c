/* problem.c - what the planner has to know of two layouts. */
#include "copy/problem.h"

#include <string.h>

#include "base/checked.h"
#include "transfer/memory_plan.h"

/* A collective read has a chunk under way, one coming and one going, and the indexes of two shards. */
#define CHUNKS_UNDER_WAY 4
#define SHARDS_OPEN 2
#define INDEX_COPIES 3
#define MESSAGES_UNDER_WAY 4
#define LIST_BYTES ((size_t)2 << 20)

#define UNIT_BYTES_LEAST (INT64_C(1) << 30)

int64_t pp_copy_unit_bytes(int64_t given, int64_t memory_bytes)
{
    return given > 0 ? given : pp_max_i64(UNIT_BYTES_LEAST, memory_bytes);
}

int64_t pp_copy_cooperation_bytes(const pp_layout *source, int ranks)
{
    size_t chunk = pp_chain_scratch_bytes(source->chain) + pp_chain_encoded_bound(source->chain);
    size_t index = INDEX_COPIES * (size_t)source->tiling.chunks.cell_count * sizeof(pp_chunk_entry);
    size_t messages = pp_memory_client_bytes(PP_COPY_MESSAGE_BYTES);
    if (ranks == 1)
        return 0;
    return (int64_t)(CHUNKS_UNDER_WAY * chunk + SHARDS_OPEN * index + MESSAGES_UNDER_WAY * messages + LIST_BYTES);
}

static void describe(const pp_layout *layout, const pp_copy_view *view, pp_rechunk_side *side)
{
    pp_copy_view_side(view, layout, side);
    side->element_bytes = (int64_t)layout->tiling.element_bytes;
    side->encoded_bytes = (int64_t)pp_chain_encoded_bound(layout->chain);
    side->chunk_buffer_bytes = (int64_t)pp_chain_chunk_capacity(layout->chain);
    side->is_sharded = layout->is_sharded;
    side->allows_runs = pp_chain_is_plain(layout->chain);
}

/* The last of several passes looks up in the source what is stored there, with the index of one shard open. */
static int64_t lookup_bytes(const pp_layout *source, bool is_sealed)
{
    size_t entries =
        (size_t)source->tiling.chunks.cell_count * (sizeof(pp_chunk_entry) + (is_sealed ? sizeof(uint32_t) : 0));
    size_t stored = source->is_sharded ? pp_align_up(pp_index_stored_bytes(&source->index), PP_PAGE_BYTES) : 0;
    return (int64_t)(entries + stored);
}

void pp_copy_problem_init(pp_rechunk_problem *problem, const pp_layout *source, const pp_layout *target,
                          const pp_copy_view *view, const pp_copy_means *means)
{
    pp_copy_view whole;
    *problem = (pp_rechunk_problem){
        .ndim = view->ndim,
        .memory_bytes = means->memory_bytes,
        .unit_bytes = means->unit_bytes,
        .cooperation_bytes = means->cooperation_bytes,
        .threads = means->threads,
        .ranks = means->ranks,
        .machine = means->machine,
        .force_passes = means->passes,
        .force_reading = means->reading,
        .force_cooperation = means->cooperation,
    };
    memcpy(problem->shape, view->shape, sizeof problem->shape);
    describe(source, view, &problem->source);
    problem->source.is_sealed = means->is_source_sealed;
    problem->source.is_held_by_seal = problem->source.allows_runs && means->is_source_sealed;
    problem->source.allows_runs = problem->source.allows_runs && !means->is_source_sealed;
    problem->source.scratch_bytes = (int64_t)pp_chain_decoder_bytes(source->chain);
    pp_copy_view_init(&whole, view->ndim, view->shape);
    describe(target, &whole, &problem->target);
    problem->target.scratch_bytes = (int64_t)pp_chain_encoder_bytes(target->chain);
    /* Elements as they are with a checksum behind them: neither way needs memory beside the chunk. */
    problem->between.element_bytes = (int64_t)target->tiling.element_bytes;
    problem->between.scratch_bytes = lookup_bytes(source, means->is_source_sealed);
}
