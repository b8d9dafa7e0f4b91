#include <string.h>

#include "base/checked.h"
#include "transfer/drive.h"
#include "transfer/memory.h"
#include "transfer/shard_build.h"
#include "transfer/sieve.h"

/* What becomes of a chunk of a new shard. */
typedef enum chunk_fate {
    CHUNK_NEW,   /* all of it is claimed, or there was nothing before */
    CHUNK_MERGE, /* the old elements, with those of the claims over them */
    CHUNK_COPY   /* the old bytes as they are */
} chunk_fate;

typedef struct write_chunk {
    chunk_fate fate;
    bool is_covered; /* every element inside the array is claimed */
    bool is_elided;
    pp_bytes encoded;
} write_chunk;

/* A window of chunks of one shard, or the end of the shard. */
typedef struct write_item {
    pp_shard_build *build;
    bool is_last; /* no chunks: the shard is complete */
    int slot;
    pp_window window;
    write_chunk chunks[PP_WINDOW_CHUNKS];
    pp_chain_scratch *scratch;
    const pp_chain *chain;    /* that the scratch is for */
    pp_buffer input;          /* old encoded bytes */
    pp_buffer output;         /* encoded chunks of a window of several */
    pp_deliveries deliveries; /* pieces that come as messages */
    bool has_pieces;          /* and have come */
} write_item;

typedef struct write_job {
    const pp_session *session; /* NULL: only trim */
    const pp_view *view;
    const pp_transfer_context **contexts; /* one per target */
    pp_staged *staged;
    size_t next_group;
    pp_shard_build *oldest, *current; /* a queue: the current one is the last */
    bool is_current_open;             /* next chunk of the current shard is chunk_cell */
    pp_box inside;                    /* positions of chunks of the current shard that hold elements */
    int64_t chunk_cell[PARAPET_MAX_NDIM];
    bool is_chunk_pending;
    bool keeps_old; /* some shard is only partly covered */
    pp_memory_plan memory;
    write_item *items;
    pp_sieve *sieves; /* one per worker; NULL when alone */
    atomic_llong done_bytes;
    int64_t reported_bytes, total_bytes;
} write_job;

static const pp_transfer_context *context_of(const write_job *job, const pp_shard_build *build)
{
    return job->contexts[build->target];
}

static void free_finished_builds(write_job *job)
{
    while (job->oldest != NULL && job->oldest != job->current && atomic_load(&job->oldest->is_finished)) {
        pp_shard_build *finished = job->oldest;
        job->oldest = finished->following;
        pp_shard_build_free(finished, context_of(job, finished));
    }
}

static bool is_wholly_covered(const write_job *job, size_t first, size_t end)
{
    const pp_work *work = &job->view->list.work[first];
    pp_box box;
    pp_tiling_shard_box(&job->contexts[work->target]->layout->tiling, work->shard, &box);
    return pp_worklist_covered_shard(&job->view->list, &job->view->plan, first, end, &box) ==
           pp_box_element_count(&box);
}

static parapet_status start_next_shard(write_job *job)
{
    pp_shard_build *build = NULL;
    size_t first = job->next_group, end = pp_worklist_group_end(&job->view->list, first);
    const pp_work *work = &job->view->list.work[first];
    const pp_transfer_context *context = job->contexts[work->target];
    parapet_status status = pp_shard_build_create(&build, context, work->shard, !is_wholly_covered(job, first, end));
    if (build == NULL)
        return status;
    build->target = work->target;
    build->first = first;
    build->buffer_bytes = job->memory.writer_bytes;
    build->end = end;
    job->next_group = end;
    if (job->current != NULL)
        job->current->following = build;
    else
        job->oldest = build;
    job->current = build;
    if (status != PARAPET_OK)
        return status;
    if (job->session != NULL)
        pp_shard_build_describe(build);
    if (job->session == NULL && build->old.reader == NULL) {
        atomic_store(&build->is_finished, true);
        return PARAPET_OK;
    }
    pp_tiling_chunks_inside(&context->layout->tiling, build->number, &job->inside);
    job->is_chunk_pending = pp_box_first(&job->inside, job->chunk_cell);
    job->is_current_open = true;
    return PARAPET_OK;
}

static bool reaches_outside(const pp_layout *layout, int64_t shard, int64_t chunk)
{
    pp_box whole, inside;
    pp_tiling_chunk_whole_box(&layout->tiling, shard, chunk, &whole);
    pp_tiling_chunk_box(&layout->tiling, shard, chunk, &inside);
    return !pp_box_equals(&whole, &inside);
}

/* Decides what becomes of a chunk; false when it is and stays absent. */
static bool decide_fate(const write_job *job, int64_t number, write_chunk *chunk)
{
    const pp_shard_build *build = job->current;
    const pp_layout *layout = context_of(job, build)->layout;
    bool has_old = build->is_old_open && pp_shard_has_chunk(&build->old, number);
    pp_box inside;
    int64_t covered;
    pp_tiling_chunk_box(&layout->tiling, build->number, number, &inside);
    covered = pp_worklist_covered(&job->view->list, &job->view->plan, build->first, build->end, number, &inside);
    chunk->is_covered = covered == pp_box_element_count(&inside);
    if (covered == 0 && !has_old)
        return false;
    if (chunk->is_covered || !has_old)
        chunk->fate = CHUNK_NEW;
    else if (covered > 0 || (job->session == NULL && reaches_outside(layout, build->number, number)))
        chunk->fate = CHUNK_MERGE;
    else
        chunk->fate = CHUNK_COPY;
    return true;
}

/* Fills the window with the next chunks of the current shard that are to be stored. */
static void take_window(write_job *job, write_item *item)
{
    const pp_layout *layout = context_of(job, job->current)->layout;
    int most = pp_window_chunk_count(pp_chain_decoded_bytes(layout->chain));
    if (most > job->memory.window_chunks)
        most = job->memory.window_chunks;
    item->window.target = job->current->target;
    item->window.shard = job->current->number;
    item->window.chunk_count = 0;
    while (job->is_chunk_pending && item->window.chunk_count < most) {
        int64_t number = pp_grid_cell_number(&layout->tiling.chunks, job->chunk_cell);
        job->is_chunk_pending = pp_box_next(&job->inside, job->chunk_cell);
        if (decide_fate(job, number, &item->chunks[item->window.chunk_count]))
            item->window.chunks[item->window.chunk_count++] = number;
    }
}

/* A scratch that fits the chain of the item's array. */
static parapet_status ensure_scratch(const write_job *job, write_item *item)
{
    const pp_transfer_context *context = context_of(job, item->build);
    parapet_status status;
    if (item->chain == context->layout->chain)
        return PARAPET_OK;
    pp_chain_scratch_free(item->scratch);
    item->scratch = NULL;
    item->chain = NULL;
    if ((status = pp_chain_scratch_build(&item->scratch, context->layout->chain, context->budget)) == PARAPET_OK)
        item->chain = context->layout->chain;
    return status;
}

/* ---- Pieces of other ranks ---- */

static pp_delivery_case delivery_case_of(const write_job *job, const write_item *item, pp_box *chunk_box)
{
    bool is_one = item->window.chunk_count == 1 && item->chunks[0].fate == CHUNK_NEW && item->chunks[0].is_covered;
    pp_delivery_case delivery_case = {
        .session = job->session,
        .window = &item->window,
        .first = item->build->first,
        .end = item->build->end,
        .tag = item->slot,
    };
    if (is_one) {
        pp_tiling_chunk_whole_box(&context_of(job, item->build)->layout->tiling, item->build->number,
                                  item->window.chunks[0], chunk_box);
        delivery_case.chunk = pp_chain_scratch_chunk(item->scratch);
        delivery_case.chunk_box = chunk_box;
    }
    return delivery_case;
}

static parapet_status find_deliveries(const write_job *job, write_item *item)
{
    pp_box chunk_box;
    pp_delivery_case delivery_case;
    item->has_pieces = false;
    item->deliveries.count = 0;
    if (job->session == NULL || job->session->is_alone)
        return PARAPET_OK;
    delivery_case = delivery_case_of(job, item, &chunk_box);
    return pp_deliveries_build(&item->deliveries, &delivery_case);
}

static bool wants_fetch(void *context, const void *item_pointer)
{
    const write_item *item = item_pointer;
    (void)context;
    return item->deliveries.count > 0 && !item->has_pieces;
}

static pp_deliveries *deliveries_of(void *item)
{
    return &((write_item *)item)->deliveries;
}

static void pieces_arrived(void *item)
{
    ((write_item *)item)->has_pieces = true;
}

static parapet_status next_item(void *context, void *item_pointer, bool *is_end)
{
    write_job *job = context;
    write_item *item = item_pointer;
    parapet_status status;
    while (!job->is_current_open) {
        if (job->next_group == job->view->list.count) {
            *is_end = true;
            return PARAPET_OK;
        }
        free_finished_builds(job);
        if ((status = start_next_shard(job)) != PARAPET_OK)
            return status;
    }
    item->build = job->current;
    item->deliveries.count = 0;
    take_window(job, item);
    item->is_last = !job->is_chunk_pending;
    if (item->is_last)
        job->is_current_open = false;
    if (item->window.chunk_count == 0)
        return PARAPET_OK;
    if ((status = ensure_scratch(job, item)) != PARAPET_OK)
        return status;
    return find_deliveries(job, item);
}

/* ---- Chunks ---- */

static parapet_status read_old(write_job *job, write_item *item, int64_t chunk, pp_bytes *encoded)
{
    const pp_transfer_context *context = context_of(job, item->build);
    pp_shard *old = &item->build->old;
    const pp_chunk_entry *entry = &old->entries[chunk];
    parapet_status status = pp_shard_check_chunk_bytes(context, old, chunk);
    if (status != PARAPET_OK)
        return status;
    item->input.budget = context->budget;
    if ((status = pp_buffer_ensure(&item->input, (size_t)entry->bytes, "buffers for old chunks")) != PARAPET_OK ||
        (status = pp_shard_read(context, old, entry->offset, (size_t)entry->bytes, item->input.data)) != PARAPET_OK)
        return status;
    *encoded = (pp_bytes){item->input.data, (size_t)entry->bytes};
    return PARAPET_OK;
}

static parapet_status decode_old(write_job *job, write_item *item, int64_t chunk)
{
    const pp_transfer_context *context = context_of(job, item->build);
    pp_bytes encoded, decoded;
    parapet_status status = read_old(job, item, chunk, &encoded);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_chain_decode(context->layout->chain, item->scratch, encoded, &decoded)) != PARAPET_OK)
        return pp_fail_within(status, "%s: chunk %lld", item->build->old.key, (long long)chunk);
    context->counters->chunks_decoded += 1;
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
    pp_strides_c_order(whole->ndim, whole->count, layout->tiling.element_bytes, strides);
    for (d = 0; d < whole->ndim; d++) {
        int64_t kept = inside->count[d];
        outside.start[d] = whole->start[d] + kept;
        outside.count[d] = whole->count[d] - kept;
        pp_strided_fill(&(pp_strided){
            .ndim = whole->ndim,
            .element_bytes = layout->tiling.element_bytes,
            .count = outside.count,
            .target = chunk + pp_strides_offset(whole, strides, outside.start),
            .target_strides = strides,
            .source = layout->fill_value,
        });
        outside.start[d] = whole->start[d];
        outside.count[d] = kept;
    }
}

/* What a worker is doing. */
typedef struct chunk_task {
    write_job *job;
    write_item *item;
    int worker;
    int index; /* which chunk of the window */
    pp_box whole, inside;
} chunk_task;

/* One piece that needs no message. false: the system refuses to copy it, and messages must. */
static bool gather_piece(const chunk_task *task, size_t record, const pp_move *move)
{
    const write_job *job = task->job;
    const pp_work *work = &job->view->list.work[record];
    const pp_session *session = job->session;
    pp_box shard_box;
    pp_peer *peer;
    if (session->is_alone || work->rank == pp_comm_rank(session->team->comm)) {
        pp_move_own(move, PP_WRITING);
        return true;
    }
    if (pp_deliveries_has(&task->item->deliveries, work->rank))
        return true;
    peer = pp_peers_find(&session->peers, work->rank);
    pp_tiling_shard_box(&job->contexts[work->target]->layout->tiling, work->shard, &shard_box);
    if (!pp_sieve_gather(&job->sieves[task->worker], &(pp_sieve_piece){.move = move,
                                                                       .process = peer->proof.process,
                                                                       .work = (int64_t)record,
                                                                       .shard_box = &shard_box})) {
        pp_peers_refuse(&session->peers, work->rank);
        return false;
    }
    job->contexts[0]->counters->direct_bytes += pp_box_element_count(move->box) * (int64_t)move->element_bytes;
    return true;
}

static bool gather(const chunk_task *task)
{
    const pp_view *view = task->job->view;
    const write_item *item = task->item;
    int64_t chunk = item->window.chunks[task->index];
    pp_box common;
    pp_move move = {
        .box = &common,
        .ndim_most = view->claims.ndim_most,
        .chunk_box = &task->whole,
        .chunk = pp_chain_scratch_chunk(item->scratch),
        .element_bytes = context_of(task->job, item->build)->layout->tiling.element_bytes,
    };
    size_t i;
    for (i = item->build->first; i < item->build->end; i++) {
        const pp_work *work = &view->list.work[i];
        if (work->claim == PP_NO_CLAIM || chunk < work->first_chunk || chunk > work->last_chunk)
            continue;
        move.claim = pp_claims_at(&view->claims, (size_t)work->claim);
        pp_claim_box(move.claim, move.ndim_most, task->whole.ndim, &common);
        if (pp_box_intersect(&common, &task->inside, &common) && !gather_piece(task, i, &move))
            return false;
    }
    if (item->deliveries.count > 0) {
        pp_box chunk_box;
        pp_delivery_case delivery_case = delivery_case_of(task->job, item, &chunk_box);
        pp_deliveries_move(&task->item->deliveries, &delivery_case, task->index, &task->whole, move.chunk,
                           PP_WRITING);
    }
    return true;
}

/* *is_whole false: a piece has to come as a message first. */
static parapet_status assemble(chunk_task *task, bool *is_whole)
{
    write_job *job = task->job;
    write_item *item = task->item;
    const pp_layout *layout = context_of(job, item->build)->layout;
    const write_chunk *chunk = &item->chunks[task->index];
    unsigned char *elements = pp_chain_scratch_chunk(item->scratch);
    int64_t number = item->window.chunks[task->index];
    parapet_status status = PARAPET_OK;
    pp_tiling_chunk_whole_box(&layout->tiling, item->build->number, number, &task->whole);
    pp_tiling_chunk_box(&layout->tiling, item->build->number, number, &task->inside);
    if (chunk->fate == CHUNK_MERGE)
        status = decode_old(job, item, number);
    else if (!chunk->is_covered)
        pp_fill_elements(elements, pp_box_element_count(&task->whole), layout->tiling.element_bytes,
                         layout->fill_value);
    if (status != PARAPET_OK)
        return status;
    if (!pp_box_equals(&task->whole, &task->inside))
        fill_outside(layout, &task->whole, &task->inside, elements);
    *is_whole = job->session == NULL || gather(task);
    job->done_bytes += pp_box_element_count(&task->inside) * (int64_t)layout->tiling.element_bytes;
    return PARAPET_OK;
}

/* Old chunks of other writers may take more than ours would. */
static parapet_status grow_output(write_item *item, int index, size_t used, size_t bytes)
{
    pp_buffer larger = {0};
    parapet_status status = pp_buffer_init(&larger, item->output.budget, bytes, "buffers for encoded chunks");
    int i;
    if (status != PARAPET_OK)
        return status;
    larger.budget = item->output.budget;
    memcpy(larger.data, item->output.data, used);
    for (i = 0; i < index; i++)
        if (!item->chunks[i].is_elided)
            item->chunks[i].encoded.data = larger.data + (item->chunks[i].encoded.data - item->output.data);
    pp_buffer_free(&item->output);
    item->output = larger;
    return PARAPET_OK;
}

/* Encoded chunks of a window of several wait in the item's own buffer; the scratch is needed for the next. */
static parapet_status keep_encoded(const write_job *job, write_item *item, int index, size_t *used)
{
    const pp_transfer_context *context = context_of(job, item->build);
    size_t bound = pp_chain_encoded_bound(context->layout->chain), count = (size_t)item->window.chunk_count;
    pp_bytes *encoded = &item->chunks[index].encoded;
    parapet_status status;
    if (count == 1)
        return PARAPET_OK;
    item->output.budget = context->budget;
    if (*used == 0 &&
        (status = pp_buffer_ensure(&item->output, count * bound, "buffers for encoded chunks")) != PARAPET_OK)
        return status;
    if (encoded->bytes > item->output.capacity - *used &&
        (status = grow_output(item, index, *used, *used + encoded->bytes + (count - (size_t)index) * bound)) !=
            PARAPET_OK)
        return status;
    memcpy(item->output.data + *used, encoded->data, encoded->bytes);
    encoded->data = item->output.data + *used;
    *used += encoded->bytes;
    return PARAPET_OK;
}

static parapet_status encode_chunk(chunk_task *task, bool *is_whole)
{
    write_item *item = task->item;
    const pp_transfer_context *context = context_of(task->job, item->build);
    write_chunk *chunk = &item->chunks[task->index];
    parapet_status status;
    chunk->is_elided = false;
    *is_whole = true;
    if (chunk->fate == CHUNK_COPY) {
        context->counters->chunks_copied += 1;
        return read_old(task->job, item, item->window.chunks[task->index], &chunk->encoded);
    }
    if ((status = assemble(task, is_whole)) != PARAPET_OK || !*is_whole)
        return status;
    if (context->elides_fill && context->layout->is_sharded &&
        pp_layout_is_all_fill(context->layout, pp_chain_scratch_chunk(item->scratch))) {
        chunk->is_elided = true;
        return PARAPET_OK;
    }
    context->counters->chunks_encoded += 1;
    return pp_chain_encode(context->layout->chain, item->scratch, &chunk->encoded);
}

static parapet_status encode(void *context, int worker, void *item_pointer)
{
    write_job *job = context;
    write_item *item = item_pointer;
    parapet_status status = PARAPET_OK;
    chunk_task task = {.job = job, .item = item, .worker = worker};
    size_t used = 0;
    int index;
    for (index = 0; index < item->window.chunk_count && status == PARAPET_OK; index++) {
        bool is_whole;
        task.index = index;
        if ((status = encode_chunk(&task, &is_whole)) != PARAPET_OK)
            return status;
        if (!is_whole)
            return find_deliveries(job, item); /* and once more from the start, when they have come */
        if (!item->chunks[index].is_elided)
            status = keep_encoded(job, item, index, &used);
    }
    return status;
}

static parapet_status store_item(void *context, int worker, void *item_pointer)
{
    write_job *job = context;
    write_item *item = item_pointer;
    const pp_transfer_context *of = context_of(job, item->build);
    parapet_status status = PARAPET_OK;
    int index;
    (void)worker;
    for (index = 0; index < item->window.chunk_count && status == PARAPET_OK; index++)
        if (!item->chunks[index].is_elided)
            status = pp_shard_build_append(item->build, of, item->window.chunks[index], item->chunks[index].encoded);
    if (status != PARAPET_OK || !item->is_last)
        return status;
    status = pp_shard_build_finish(item->build, of, job->staged);
    atomic_store(&item->build->is_finished, true);
    return status;
}

static parapet_status report_progress(void *context)
{
    write_job *job = context;
    int64_t done = atomic_load(&job->done_bytes);
    if (done == job->reported_bytes)
        return PARAPET_OK;
    job->reported_bytes = done;
    return pp_transfer_report(job->contexts[0], "writing", pp_min_i64(done, job->total_bytes), job->total_bytes);
}

/* ---- The whole ---- */

static bool some_shard_keeps_old(const write_job *job)
{
    const pp_worklist *list = &job->view->list;
    size_t first, end;
    for (first = 0; first < list->count; first = end) {
        end = pp_worklist_group_end(list, first);
        if (!is_wholly_covered(job, first, end))
            return true;
    }
    return false;
}

static parapet_status plan_memory(write_job *job, const pp_layout *const *layouts, int count)
{
    const pp_transfer_context *context = job->contexts[0];
    bool is_alone = job->session == NULL || job->session->is_alone;
    pp_memory_case memory = {
        .available_bytes = pp_budget_available(context->budget),
        .used_bytes = pp_budget_used(context->budget),
        .threads = context->threads,
        .has_threads = context->has_storage_thread,
        .keeps_old = job->keeps_old,
        .has_remote = !is_alone && pp_session_has_remote(job->session),
        .uses_direct = !is_alone && pp_session_uses_direct(job->session),
        .shard_count = (int64_t)pp_worklist_group_count(&job->view->list),
        .rank_most = is_alone ? 0 : pp_session_rank_most(job->session),
        .fragment_bytes = is_alone ? 0 : job->session->team->fragment_bytes,
    };
    parapet_status status;
    pp_counters_plan(context->counters, memory.used_bytes);
    if (memory.shard_count == 0)
        return PARAPET_OK;
    if ((status = pp_memory_plan_write(layouts, count, &memory, &job->memory)) != PARAPET_OK)
        return status;
    pp_counters_plan(context->counters, pp_budget_used(context->budget) + job->memory.planned_bytes);
    context->counters->shards_owned += memory.shard_count;
    return PARAPET_OK;
}

static parapet_status build_sieves(write_job *job)
{
    const pp_transfer_context *context = job->contexts[0];
    parapet_status status;
    int i;
    if (job->session == NULL || job->session->is_alone)
        return PARAPET_OK;
    if ((status = pp_allocate_array(&job->sieves, (size_t)context->threads, sizeof job->sieves[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < context->threads; i++)
        pp_sieve_init(&job->sieves[i], context->budget, job->memory.sieve_bytes, job->view->claims.ndim_most);
    return PARAPET_OK;
}

static parapet_status build_slots(write_job *job)
{
    const pp_layout **layouts = NULL;
    int i, count = job->session != NULL ? job->session->array_count : 1;
    parapet_status status = pp_allocate_array(&layouts, (size_t)count, sizeof layouts[0]);
    for (i = 0; i < count && status == PARAPET_OK; i++)
        layouts[i] = job->contexts[i]->layout;
    job->keeps_old = some_shard_keeps_old(job);
    if (status == PARAPET_OK && (status = plan_memory(job, layouts, count)) == PARAPET_OK)
        status = pp_allocate_array(&job->items, (size_t)job->memory.slot_count, sizeof job->items[0]);
    for (i = 0; status == PARAPET_OK && i < job->memory.slot_count; i++)
        job->items[i].slot = i;
    pp_free(layouts);
    return status == PARAPET_OK ? build_sieves(job) : status;
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
        pp_shard_build_free(job->oldest, context_of(job, job->oldest));
        job->oldest = following;
    }
    for (i = 0; job->items != NULL && i < job->memory.slot_count; i++) {
        pp_chain_scratch_free(job->items[i].scratch);
        pp_buffer_free(&job->items[i].input);
        pp_buffer_free(&job->items[i].output);
        pp_deliveries_free(&job->items[i].deliveries);
    }
    for (i = 0; job->sieves != NULL && i < job->contexts[0]->threads; i++)
        pp_sieve_free(&job->sieves[i]);
    pp_free(job->sieves);
    pp_free(job->items);
    job->items = NULL;
    pp_free(job->contexts);
    job->contexts = NULL;
}

static pp_pipeline_job pipeline_of(write_job *job)
{
    return (pp_pipeline_job){
        .context = job,
        .next = next_item,
        .produce = encode,
        .consume = store_item,
        .wants_fetch = wants_fetch,
        .tick = report_progress,
        .items = job->items,
        .item_bytes = sizeof job->items[0],
        .slot_count = job->memory.slot_count,
        .worker_count = job->contexts[0]->threads,
        .workers = PP_PIPELINE_PRODUCES,
        .has_storage_thread = job->contexts[0]->has_storage_thread,
    };
}

static parapet_status run_alone(write_job *job)
{
    pp_pipeline_job pipeline = pipeline_of(job);
    parapet_status status = job->view->list.count > 0 ? pp_pipeline_run(&pipeline) : PARAPET_OK;
    return status == PARAPET_OK ? report_progress(job) : status;
}

static parapet_status run_together(write_job *job, pp_pull *pull, bool *is_abandoned)
{
    pp_pipeline_job pipeline = pipeline_of(job);
    return pp_drive_run(&(pp_drive){.session = job->session,
                                    .pull = pull,
                                    .job = job->view->list.count > 0 ? &pipeline : NULL,
                                    .phase = "writing",
                                    .deliveries_of = deliveries_of,
                                    .arrived = pieces_arrived},
                        is_abandoned);
}

/* What is claimed of the shards that this rank owns; also what progress is measured by. */
static int64_t claimed_bytes(const write_job *job)
{
    int64_t sum = 0;
    size_t first, end;
    pp_box box;
    for (first = 0; first < job->view->list.count; first = end) {
        const pp_work *work = &job->view->list.work[first];
        const pp_layout *layout = job->contexts[work->target]->layout;
        end = pp_worklist_group_end(&job->view->list, first);
        pp_tiling_shard_box(&layout->tiling, work->shard, &box);
        sum += pp_worklist_covered_shard(&job->view->list, &job->view->plan, first, end, &box) *
               (int64_t)layout->tiling.element_bytes;
    }
    return sum;
}

/* Groups of one array follow each other. */
static parapet_status reserve_notes(const write_job *job)
{
    const pp_worklist *list = &job->view->list;
    size_t first, end, shards = 0;
    parapet_status status = PARAPET_OK;
    for (first = 0; first < list->count && status == PARAPET_OK; first = end) {
        int target = list->work[first].target;
        end = pp_worklist_group_end(list, first);
        shards++;
        if (end < list->count && list->work[end].target == target)
            continue;
        if (job->session->arrays[target].notes != NULL)
            status = pp_shard_notes_reserve(job->session->arrays[target].notes, shards);
        shards = 0;
    }
    return status;
}

/* All that can be refused before anything is written. */
static parapet_status prepare(write_job *job)
{
    const pp_session *session = job->session;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < session->array_count && status == PARAPET_OK; i++)
        status = check_writable(session->arrays[i].context->layout);
    if (status != PARAPET_OK ||
        (status = pp_worklist_check_disjoint(&job->view->list, &job->view->plan,
                                             pp_comm_size(session->team->comm))) != PARAPET_OK)
        return status;
    job->total_bytes = claimed_bytes(job);
    if ((status = reserve_notes(job)) != PARAPET_OK || (status = build_slots(job)) != PARAPET_OK)
        return status;
    return pp_transfer_report(job->contexts[0], "writing", 0, job->total_bytes);
}

static parapet_status list_contexts(write_job *job, const pp_transfer_array *arrays, int count)
{
    parapet_status status = pp_allocate_array(&job->contexts, (size_t)count, sizeof job->contexts[0]);
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        job->contexts[i] = arrays[i].context;
    return status;
}

parapet_status pp_transfer_stage(const pp_team *team, const pp_transfer_array *arrays, int array_count,
                                 pp_staged *staged)
{
    pp_session session;
    pp_messages messages = {0};
    parapet_status status = pp_session_build(&session, team, arrays, array_count);
    write_job job = {.session = &session, .view = pp_session_served(&session), .staged = staged};
    bool is_abandoned = false;
    if (status == PARAPET_OK && (status = pp_messages_build(&messages, &session)) == PARAPET_OK &&
        (status = list_contexts(&job, arrays, array_count)) == PARAPET_OK)
        status = prepare(&job);
    status = pp_comm_agree(team->comm, "planning", status);
    if (status == PARAPET_OK)
        status = session.is_alone ? run_alone(&job) : run_together(&job, messages.pull, &is_abandoned);
    if (is_abandoned)
        return status;
    clear_job(&job);
    pp_messages_clear(&messages);
    pp_session_clear(&session);
    return status;
}

parapet_status pp_transfer_stage_trimmed(const pp_transfer_context *context, const bool *is_shrunk, pp_staged *staged)
{
    pp_transfer_array array = {.context = context};
    pp_target target = {.tiling = &context->layout->tiling};
    pp_view view = {.plan = {.targets = &target, .target_count = 1}};
    write_job job = {.view = &view, .staged = staged};
    parapet_status status;
    pp_claims_init(&view.claims, context->layout->tiling.shards.ndim, context->budget);
    view.plan.claims = &view.claims;
    if ((status = check_writable(context->layout)) == PARAPET_OK &&
        (status = pp_worklist_build_edge(&view.list, &context->layout->tiling.shards, is_shrunk, context->budget)) ==
            PARAPET_OK &&
        (status = list_contexts(&job, &array, 1)) == PARAPET_OK && (status = build_slots(&job)) == PARAPET_OK)
        status = run_alone(&job);
    clear_job(&job);
    pp_worklist_clear(&view.list);
    return status;
}
