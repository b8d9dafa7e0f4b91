/* plan_digest.c - what a plan tells ranks to do, as one number that anybody who plans again can compare. Estimates
 * and what was weighed are not in it. */
#include "base/cursor.h"
#include "rechunk/rechunk.h"

static void add_numbers(pp_text *bytes, const int64_t *numbers, int count)
{
    int i;
    for (i = 0; i < count; i++)
        pp_bytes_add_u64(bytes, (uint64_t)numbers[i]);
}

static void add_side(pp_text *bytes, const pp_rechunk_side *side, int ndim)
{
    add_numbers(bytes, side->chunk, ndim);
    add_numbers(bytes, side->shard, ndim);
    add_numbers(bytes, side->origin, ndim);
    pp_bytes_add_u64(bytes, (uint64_t)side->element_bytes);
    pp_bytes_add_u64(bytes, side->is_sharded);
}

static void add_memory(pp_text *bytes, const pp_rechunk_memory *memory)
{
    const int64_t numbers[] = {memory->open_chunks, memory->chunk_buffers,  memory->items,
                               memory->item_chunks, memory->source_indexes, memory->target_indexes,
                               memory->writers,     memory->writer_bytes,   memory->memory_bytes};
    add_numbers(bytes, numbers, (int)(sizeof numbers / sizeof numbers[0]));
}

static void add_pass(pp_text *bytes, const pp_rechunk_pass *pass, int ndim)
{
    int d;
    add_side(bytes, &pass->source, ndim);
    add_side(bytes, &pass->target, ndim);
    add_numbers(bytes, pass->template_shape, ndim);
    add_numbers(bytes, pass->work_unit_shape, ndim);
    for (d = 0; d < ndim; d++)
        pp_bytes_add_u64(bytes, (uint64_t)pass->order[d]);
    pp_bytes_add_u64(bytes, pass->reads_runs);
    pp_bytes_add_u64(bytes, pass->cooperates);
    if (pass->cooperates)
        add_numbers(bytes, pass->group, ndim);
    add_memory(bytes, &pass->memory);
}

parapet_status pp_rechunk_plan_digest(const pp_rechunk_plan *plan, unsigned char digest[PP_SHA256_BYTES])
{
    pp_text bytes = {0};
    parapet_status status;
    int i;
    pp_bytes_add_u64(&bytes, (uint64_t)plan->ndim);
    add_numbers(&bytes, plan->shape, plan->ndim);
    pp_bytes_add_u64(&bytes, (uint64_t)plan->pass_count);
    for (i = 0; i < plan->pass_count; i++)
        add_pass(&bytes, &plan->passes[i], plan->ndim);
    if ((status = bytes.status) == PARAPET_OK)
        pp_sha256_of(bytes.data, bytes.bytes, digest);
    pp_text_free(&bytes);
    return status;
}
