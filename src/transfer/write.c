#include <string.h>

#include "base/checked.h"
#include "plan/worklist.h"
#include "transfer/pipeline.h"
#include "transfer/shard_build.h"

#define WRITE_SLOTS_MOST 64

/* What becomes of a chunk of a new shard. */
typedef enum chunk_fate {
    CHUNK_NEW,   /* all of it is given by parts, or there was nothing before */
    CHUNK_MERGE, /* the old elements, with those of the parts over them */
    CHUNK_COPY   /* the old bytes as they are */
} chunk_fate;

typedef struct write_item {
    pp_shard_build *build;
    bool is_last; /* no chunk: the shard is complete */
    int64_t chunk;
    chunk_fate fate;
    pp_chain_scratch *scratch;
    pp_buffer input; /* old encoded bytes */
    pp_bytes encoded;
    bool is_elided;
} write_item;

typedef struct write_job {
    const pp_transfer_context *context;
    const pp_parts *parts; /* NULL: only trim */
    pp_staged *staged;
    pp_worklist list;
    size_t next_group;
    pp_shard_build *oldest, *current; /* a queue: the current one is the last */
    bool is_current_open;             /* next chunk of the current shard is chunk_cell */
    pp_box inside;                    /* positions of chunks of the current shard that hold elements */
    int64_t chunk_cell[PARAPET_MAX_NDIM];
    bool is_chunk_pending;
    bool keeps_old; /* some shard is only partly covered */
    write_item items[WRITE_SLOTS_MOST];
    int slot_count;
    size_t buffer_bytes; /* of the one writer at a time */
    atomic_llong done_elements;
    int64_t total_elements;
} write_job;

static void free_finished_builds(write_job *job)
{
    while (job->oldest != NULL && job->oldest != job->current && atomic_load(&job->oldest->is_finished)) {
        pp_shard_build *finished = job->oldest;
        job->oldest = finished->following;
        pp_shard_build_free(finished, job->context);
    }
}

static int64_t covered_elements(const write_job *job, size_t first, size_t end, const pp_box *box)
{
    return job->parts == NULL ? 0 : pp_worklist_covered(&job->list, first, end, job->parts->boxes, box);
}

static bool is_wholly_covered(const write_job *job, size_t first, size_t end)
{
    pp_box box;
    pp_layout_shard_box(job->context->layout, job->list.work[first].shard, &box);
    return covered_elements(job, first, end, &box) == pp_box_element_count(&box);
}

static parapet_status start_next_shard(write_job *job)
{
    pp_shard_build *build = NULL;
    size_t first = job->next_group, end = pp_worklist_group_end(&job->list, first);
    bool needs_old = !is_wholly_covered(job, first, end);
    parapet_status status = pp_shard_build_create(&build, job->context, job->list.work[first].shard, needs_old);
    if (build == NULL)
        return status;
    build->first = first;
    build->buffer_bytes = job->buffer_bytes;
    build->end = end;
    job->next_group = end;
    if (job->current != NULL)
        job->current->following = build;
    else
        job->oldest = build;
    job->current = build;
    if (status != PARAPET_OK)
        return status;
    if (job->parts == NULL && build->old.reader == NULL) {
        atomic_store(&build->is_finished, true);
        return PARAPET_OK;
    }
    pp_layout_chunks_inside(job->context->layout, build->number, &job->inside);
    job->is_chunk_pending = pp_box_first(&job->inside, job->chunk_cell);
    job->is_current_open = true;
    return PARAPET_OK;
}

static bool reaches_outside(const pp_layout *layout, int64_t shard, int64_t chunk)
{
    pp_box whole, inside;
    pp_layout_chunk_whole_box(layout, shard, chunk, &whole);
    pp_layout_chunk_box(layout, shard, chunk, &inside);
    return !pp_box_equals(&whole, &inside);
}

/* Decides what becomes of a chunk; false when it is and stays absent. */
static bool decide_fate(const write_job *job, int64_t chunk, chunk_fate *fate)
{
    const pp_shard_build *build = job->current;
    bool has_old = build->is_old_open && pp_shard_has_chunk(&build->old, chunk);
    pp_box inside;
    int64_t covered;
    pp_layout_chunk_box(job->context->layout, build->number, chunk, &inside);
    covered = covered_elements(job, build->first, build->end, &inside);
    if (covered == 0 && !has_old)
        return false;
    if (covered == pp_box_element_count(&inside) || !has_old)
        *fate = CHUNK_NEW;
    else if (covered > 0 || (job->parts == NULL && reaches_outside(job->context->layout, build->number, chunk)))
        *fate = CHUNK_MERGE;
    else
        *fate = CHUNK_COPY;
    return true;
}

/* Fills item with the next chunk of the current shard that is to be stored; false when there is none left. */
static bool take_chunk(write_job *job, write_item *item)
{
    while (job->is_chunk_pending) {
        int64_t chunk = pp_grid_cell_number(&job->context->layout->chunks, job->chunk_cell);
        job->is_chunk_pending = pp_box_next(&job->inside, job->chunk_cell);
        if (decide_fate(job, chunk, &item->fate)) {
            item->chunk = chunk;
            return true;
        }
    }
    return false;
}

static parapet_status next_item(void *context, void *item_pointer, bool *is_end)
{
    write_job *job = context;
    write_item *item = item_pointer;
    parapet_status status;
    while (!job->is_current_open) {
        if (job->next_group == job->list.count) {
            *is_end = true;
            return PARAPET_OK;
        }
        free_finished_builds(job);
        if ((status = start_next_shard(job)) != PARAPET_OK)
            return status;
    }
    item->build = job->current;
    item->is_last = !take_chunk(job, item);
    if (item->is_last)
        job->is_current_open = false;
    return PARAPET_OK;
}

static parapet_status read_old(write_job *job, write_item *item, pp_bytes *encoded)
{
    pp_shard *old = &item->build->old;
    const pp_chunk_entry *entry = &old->entries[item->chunk];
    parapet_status status = pp_shard_check_chunk_bytes(job->context, old, item->chunk);
    if (status != PARAPET_OK)
        return status;
    item->input.budget = job->context->budget;
    if ((status = pp_buffer_ensure(&item->input, (size_t)entry->bytes, "buffers for old chunks")) != PARAPET_OK ||
        (status = pp_shard_read(job->context, old, entry->offset, (size_t)entry->bytes, item->input.data)) !=
            PARAPET_OK)
        return status;
    *encoded = (pp_bytes){item->input.data, (size_t)entry->bytes};
    return PARAPET_OK;
}

static parapet_status decode_old(write_job *job, write_item *item)
{
    const pp_chain *chain = job->context->layout->chain;
    pp_bytes encoded, decoded;
    parapet_status status = read_old(job, item, &encoded);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_chain_decode(chain, item->scratch, encoded, &decoded)) != PARAPET_OK)
        return pp_fail_within(status, "%s: chunk %lld", item->build->old.key, (long long)item->chunk);
    job->context->counters->chunks_decoded += 1;
    memmove(pp_chain_scratch_chunk(item->scratch), decoded.data, decoded.bytes);
    return PARAPET_OK;
}

/* Sets what lies outside the array to the fill value: for each dimension the slab beyond the inside, over the
 * inside of the dimensions before it, so that no element is set twice. */
static void fill_outside(const pp_layout *layout, const pp_box *whole, const pp_box *inside, unsigned char *chunk)
{
    int64_t strides[PARAPET_MAX_NDIM];
    pp_box outside = *whole;
    int d;
    pp_strides_c_order(whole->ndim, whole->count, layout->element_bytes, strides);
    for (d = 0; d < whole->ndim; d++) {
        int64_t kept = inside->count[d];
        outside.start[d] = whole->start[d] + kept;
        outside.count[d] = whole->count[d] - kept;
        pp_copy_fill(&(pp_copy){
            .ndim = whole->ndim,
            .element_bytes = layout->element_bytes,
            .count = outside.count,
            .target = chunk + pp_strides_offset(whole, strides, outside.start),
            .target_strides = strides,
            .source = layout->fill_value,
        });
        outside.start[d] = whole->start[d];
        outside.count[d] = kept;
    }
}

static void gather(write_job *job, write_item *item, const pp_box *whole, const pp_box *inside)
{
    size_t i;
    for (i = item->build->first; job->parts != NULL && i < item->build->end; i++) {
        job->done_elements += pp_parts_move_run(&(pp_parts_move){
            .parts = job->parts,
            .part = job->list.work[i].part,
            .chunk_box = whole,
            .limit = inside,
            .element_bytes = job->context->layout->element_bytes,
            .direction = PP_GATHER,
            .chunk = pp_chain_scratch_chunk(item->scratch),
        });
    }
}

static bool is_all_fill(const pp_layout *layout, const unsigned char *chunk)
{
    size_t bytes = pp_chain_decoded_bytes(layout->chain), element_bytes = layout->element_bytes;
    if (memcmp(chunk, layout->fill_value, element_bytes) != 0)
        return false;
    return bytes == element_bytes || memcmp(chunk, chunk + element_bytes, bytes - element_bytes) == 0;
}

static parapet_status assemble(write_job *job, write_item *item)
{
    const pp_layout *layout = job->context->layout;
    unsigned char *chunk = pp_chain_scratch_chunk(item->scratch);
    parapet_status status = PARAPET_OK;
    pp_box whole, inside;
    pp_layout_chunk_whole_box(layout, item->build->number, item->chunk, &whole);
    pp_layout_chunk_box(layout, item->build->number, item->chunk, &inside);
    if (item->fate == CHUNK_MERGE)
        status = decode_old(job, item);
    else if (covered_elements(job, item->build->first, item->build->end, &inside) < pp_box_element_count(&inside))
        pp_fill_elements(chunk, pp_box_element_count(&whole), layout->element_bytes, layout->fill_value);
    if (status != PARAPET_OK)
        return status;
    if (!pp_box_equals(&whole, &inside))
        fill_outside(layout, &whole, &inside, chunk);
    gather(job, item, &whole, &inside);
    return PARAPET_OK;
}

static parapet_status encode(void *context, int worker, void *item_pointer)
{
    write_job *job = context;
    write_item *item = item_pointer;
    const pp_layout *layout = job->context->layout;
    parapet_status status;
    (void)worker;
    item->is_elided = false;
    if (item->is_last)
        return PARAPET_OK;
    if (item->fate == CHUNK_COPY) {
        job->context->counters->chunks_copied += 1;
        return read_old(job, item, &item->encoded);
    }
    if ((status = assemble(job, item)) != PARAPET_OK)
        return status;
    if (job->context->elides_fill && layout->is_sharded &&
        is_all_fill(layout, pp_chain_scratch_chunk(item->scratch))) {
        item->is_elided = true;
        return PARAPET_OK;
    }
    job->context->counters->chunks_encoded += 1;
    return pp_chain_encode(layout->chain, item->scratch, &item->encoded);
}

static parapet_status store_item(void *context, int worker, void *item_pointer)
{
    write_job *job = context;
    write_item *item = item_pointer;
    parapet_status status;
    (void)worker;
    if (!item->is_last)
        return item->is_elided ? PARAPET_OK
                               : pp_shard_build_append(item->build, job->context, item->chunk, item->encoded);
    status = pp_shard_build_finish(item->build, job->context, job->staged);
    atomic_store(&item->build->is_finished, true);
    return status;
}

static parapet_status report_progress(void *context)
{
    const write_job *job = context;
    return pp_transfer_report(job->context, "writing", job->done_elements, job->total_elements);
}

static bool some_shard_keeps_old(const write_job *job)
{
    size_t first = 0;
    while (first < job->list.count) {
        size_t end = pp_worklist_group_end(&job->list, first);
        if (!is_wholly_covered(job, first, end))
            return true;
        first = end;
    }
    return false;
}

/* Four slots per thread keep everybody busy while storage lags; what the budget cannot give is done without, down to
 * one slot. Every chunk on its way may be of another shard, and one more shard is begun before the last one is given
 * back. */
static parapet_status count_slots(write_job *job, size_t slot_bytes)
{
    const pp_transfer_context *context = job->context;
    bool is_single = pp_worklist_group_end(&job->list, 0) == job->list.count;
    size_t list_bytes = pp_shard_build_list_bytes(context, job->keeps_old);
    size_t fixed_bytes = list_bytes + pp_shard_build_write_bytes(context);
    size_t available = pp_budget_available(context->budget);
    size_t wanted = context->has_storage_thread ? 4 * (size_t)context->threads : 1;
    parapet_status status;
    slot_bytes += is_single ? 0 : list_bytes;
    if ((status = pp_budget_check(context->budget, fixed_bytes + slot_bytes, "buffers to write a chunk")) !=
        PARAPET_OK)
        return status;
    available = pp_min_size(available - fixed_bytes, available / 4 * 3);
    job->slot_count = (int)pp_min_size(pp_min_size(wanted, WRITE_SLOTS_MOST), pp_max_size(1, available / slot_bytes));
    job->buffer_bytes = PP_LEAST_WRITE_BUFFER_BYTES + pp_budget_available(context->budget) - fixed_bytes -
                        (size_t)job->slot_count * slot_bytes;
    return PARAPET_OK;
}

static parapet_status build_slots(write_job *job)
{
    const pp_chain *chain = job->context->layout->chain;
    size_t old_bytes = job->keeps_old ? pp_chain_encoded_bound(chain) + PP_PAGE_BYTES : 0;
    parapet_status status = count_slots(job, pp_chain_scratch_bytes(chain) + pp_align_up(old_bytes, PP_PAGE_BYTES));
    int i;
    for (i = 0; i < job->slot_count && status == PARAPET_OK; i++) {
        write_item *item = &job->items[i];
        if ((status = pp_chain_scratch_build(&item->scratch, chain, job->context->budget)) == PARAPET_OK &&
            job->keeps_old)
            status = pp_buffer_init(&item->input, job->context->budget, old_bytes, "buffers for old chunks");
    }
    return status;
}

static parapet_status check_writable(const pp_layout *layout)
{
    if (!pp_chain_can_encode(layout->chain))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: this chain can be read, but not written");
    if (layout->is_sharded && layout->index.is_at_start)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "index_location \"start\" can be read, but not written");
    return PARAPET_OK;
}

static void clear_job(write_job *job)
{
    int i;
    job->current = NULL;
    while (job->oldest != NULL) {
        pp_shard_build *following = job->oldest->following;
        pp_shard_build_free(job->oldest, job->context);
        job->oldest = following;
    }
    for (i = 0; i < WRITE_SLOTS_MOST; i++) {
        pp_chain_scratch_free(job->items[i].scratch);
        pp_buffer_free(&job->items[i].input);
    }
    pp_worklist_clear(&job->list);
}

static parapet_status run_job(write_job *job)
{
    parapet_status status;
    job->keeps_old = some_shard_keeps_old(job);
    if ((status = build_slots(job)) != PARAPET_OK)
        return status;
    status = pp_pipeline_run(&(pp_pipeline_job){
        .context = job,
        .next = next_item,
        .produce = encode,
        .consume = store_item,
        .tick = report_progress,
        .items = job->items,
        .item_bytes = sizeof job->items[0],
        .slot_count = job->slot_count,
        .worker_count = job->context->threads,
        .workers = PP_PIPELINE_PRODUCES,
        .has_storage_thread = job->context->has_storage_thread,
    });
    return status == PARAPET_OK ? report_progress(job) : status;
}

parapet_status pp_transfer_stage(const pp_transfer_context *context, const pp_parts *parts, pp_staged *staged)
{
    write_job job = {
        .context = context, .parts = parts, .staged = staged, .total_elements = pp_parts_element_count(parts)};
    parapet_status status;
    if ((status = check_writable(context->layout)) != PARAPET_OK ||
        (status = pp_worklist_build(&job.list, &context->layout->shards, parts->boxes, parts->count,
                                    context->budget)) != PARAPET_OK)
        return status;
    if ((status = pp_worklist_check_disjoint(&job.list, parts->boxes)) == PARAPET_OK)
        status = run_job(&job);
    clear_job(&job);
    return status;
}

parapet_status pp_transfer_stage_trimmed(const pp_transfer_context *context, const bool *is_shrunk, pp_staged *staged)
{
    write_job job = {.context = context, .staged = staged};
    parapet_status status;
    if ((status = check_writable(context->layout)) != PARAPET_OK ||
        (status = pp_worklist_build_edge(&job.list, &context->layout->shards, is_shrunk, context->budget)) !=
            PARAPET_OK)
        return status;
    status = run_job(&job);
    clear_job(&job);
    return status;
}
