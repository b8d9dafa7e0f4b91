#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "transfer/drive.h"
#include "transfer/memory.h"
#include "transfer/sieve.h"

/* Chunks that lie closer together than this are fetched by one request. */
#define READ_GAP_BYTES (64u << 10)
/* A request smaller than this is not ended early. */
#define ROW_LEAST_BYTES (1u << 20)

/* One shard on its way to the claims. Lives until its last item is consumed. */
typedef struct read_shard {
    pp_shard shard;
    int target;
    size_t first, end;         /* its group in the worklist */
    unsigned char *is_touched; /* one per chunk: some claim wants it */
    int64_t *wanted;           /* stored chunks that a claim touches, in the order of their offsets */
    int64_t wanted_count, next_wanted;
    int64_t next_absent; /* chunks from this one on may be touched and not stored */
    bool is_told_absent; /* of a shard that is not stored: handed out */
    pp_budget *budget;
    size_t reserved_bytes;
    atomic_int pending;
    struct read_shard *following;
} read_shard;

/* Some chunks of one shard: read by one request, or not stored. */
typedef struct read_item {
    read_shard *shard;
    int slot;
    pp_window_news news;
    pp_window window;                   /* the chunks, where other ranks are to be told of them */
    int64_t first_wanted, wanted_count; /* PP_WINDOW_DATA */
    uint64_t offset;
    size_t bytes;
    pp_buffer buffer;
    pp_deliveries deliveries; /* what goes to other ranks by messages */
} read_item;

typedef struct read_worker {
    pp_chain_scratch *scratch;
    const pp_chain *chain; /* that the scratch is for */
    pp_sieve sieve;
} read_worker;

typedef struct read_job {
    const pp_session *session;
    const pp_view *view;
    size_t next_group;
    read_shard *oldest, *current; /* a queue: the current one is the last */
    pp_memory_plan memory;
    read_item *items;
    read_worker *workers;
    atomic_llong done_bytes;
    int64_t reported_bytes, total_bytes;
} read_job;

static const pp_transfer_context *context_of(const read_job *job, int target)
{
    return job->session->arrays[target].context;
}

static void free_shard(read_shard *shard)
{
    if (shard == NULL)
        return;
    pp_shard_close(&shard->shard);
    pp_free(shard->wanted);
    pp_free(shard->is_touched);
    if (shard->budget != NULL)
        pp_budget_release(shard->budget, shard->reserved_bytes);
    pp_free(shard);
}

static void free_finished_shards(read_job *job)
{
    while (job->oldest != NULL && job->oldest != job->current && atomic_load(&job->oldest->pending) == 0) {
        read_shard *finished = job->oldest;
        job->oldest = finished->following;
        free_shard(finished);
    }
}

static int compare_offsets(const void *left, const void *right, void *entries)
{
    const pp_chunk_entry *table = entries;
    uint64_t a = table[*(const int64_t *)left].offset, b = table[*(const int64_t *)right].offset;
    return (a > b) - (a < b);
}

static const int64_t *claim_of(const read_job *job, size_t work)
{
    return pp_claims_at(&job->view->claims, (size_t)job->view->list.work[work].claim);
}

/* What a claim and a box have in common. */
static bool meets(const read_job *job, size_t work, const pp_box *box, pp_box *common)
{
    pp_claim_box(claim_of(job, work), job->view->claims.ndim_most, box->ndim, common);
    return pp_box_intersect(common, box, common);
}

/* Chunk positions of the shard that a claim touches. */
static void chunks_of_claim(const read_job *job, const read_shard *shard, size_t work, pp_box *chunks)
{
    const pp_tiling *tiling = &context_of(job, shard->target)->layout->tiling;
    pp_box claimed;
    pp_claim_box(claim_of(job, work), job->view->claims.ndim_most, tiling->shards.ndim, &claimed);
    (void)pp_tiling_chunks_touched(tiling, shard->shard.number, &claimed, chunks);
}

static void mark_chunks(const read_job *job, read_shard *shard)
{
    const pp_grid *grid = &context_of(job, shard->target)->layout->tiling.chunks;
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box chunks;
    bool more;
    size_t i;
    for (i = shard->first; i < shard->end; i++) {
        chunks_of_claim(job, shard, i, &chunks);
        for (more = pp_box_first(&chunks, cell); more; more = pp_box_next(&chunks, cell))
            shard->is_touched[pp_grid_cell_number(grid, cell)] = 1;
    }
}

/* The wanted chunks, in the order of their offsets, must lie one behind the other. */
static parapet_status check_apart(const read_shard *shard)
{
    const pp_chunk_entry *entries = shard->shard.entries;
    int64_t i;
    for (i = 1; i < shard->wanted_count; i++) {
        const pp_chunk_entry *before = &entries[shard->wanted[i - 1]];
        if (before->offset + before->bytes > entries[shard->wanted[i]].offset)
            return pp_fail(PARAPET_ERR_CORRUPT, "%s: chunks %lld and %lld overlap", shard->shard.key,
                           (long long)shard->wanted[i - 1], (long long)shard->wanted[i]);
    }
    return PARAPET_OK;
}

static parapet_status list_wanted(const read_job *job, read_shard *shard)
{
    const pp_transfer_context *context = context_of(job, shard->target);
    size_t count = (size_t)context->layout->tiling.chunks.cell_count;
    size_t bytes = count * (sizeof shard->wanted[0] + 1);
    parapet_status status;
    int64_t chunk;
    if ((status = pp_budget_reserve(context->budget, bytes, "lists of chunks")) != PARAPET_OK)
        return status;
    shard->budget = context->budget;
    shard->reserved_bytes = bytes;
    if ((status = pp_allocate_array(&shard->wanted, count, sizeof shard->wanted[0])) != PARAPET_OK ||
        (status = pp_allocate(&shard->is_touched, count)) != PARAPET_OK)
        return status;
    mark_chunks(job, shard);
    for (chunk = 0; chunk < (int64_t)count && status == PARAPET_OK; chunk++) {
        if (!shard->is_touched[chunk] || !pp_shard_has_chunk(&shard->shard, chunk))
            continue;
        status = pp_shard_check_chunk_bytes(context, &shard->shard, chunk);
        shard->wanted[shard->wanted_count++] = chunk;
    }
    qsort_r(shard->wanted, (size_t)shard->wanted_count, sizeof shard->wanted[0], compare_offsets,
            shard->shard.entries);
    return status == PARAPET_OK ? check_apart(shard) : status;
}

static parapet_status open_next_shard(read_job *job)
{
    const pp_work *work = &job->view->list.work[job->next_group];
    read_shard *shard;
    parapet_status status = pp_allocate(&shard, sizeof *shard);
    if (status != PARAPET_OK)
        return status;
    shard->target = work->target;
    shard->first = job->next_group;
    shard->end = pp_worklist_group_end(&job->view->list, shard->first);
    job->next_group = shard->end;
    if (job->current != NULL)
        job->current->following = shard;
    else
        job->oldest = shard;
    job->current = shard;
    if ((status = pp_shard_open(context_of(job, shard->target), work->shard, &shard->shard)) != PARAPET_OK ||
        shard->shard.reader == NULL)
        return status;
    return list_wanted(job, shard);
}

/* Whole pages, as far as there is an object: what direct I/O wants. */
static void round_to_pages(const read_shard *shard, read_item *item, uint64_t end)
{
    uint64_t object_end = shard->shard.reader->bytes;
    item->offset -= item->offset % PP_PAGE_BYTES;
    end += (PP_PAGE_BYTES - end % PP_PAGE_BYTES) % PP_PAGE_BYTES;
    item->bytes = (size_t)((end < object_end ? end : object_end) - item->offset);
}

/* A run that other ranks are told of has as many chunks as fit a window and its staging buffer. */
static int64_t most_chunks(const read_job *job, const read_shard *shard)
{
    size_t chunk_bytes = pp_chain_decoded_bytes(context_of(job, shard->target)->layout->chain);
    if (job->session->is_alone)
        return INT64_MAX;
    return pp_max_i64(1, pp_min_i64(PP_WINDOW_CHUNKS, (int64_t)(job->memory.batch_bytes / chunk_bytes)));
}

/* Whether the next chunk begins another row of chunks: what ends here can be written to other ranks row by row. */
static bool is_row_complete(const read_job *job, const read_shard *shard, uint64_t taken_bytes)
{
    const pp_grid *chunks = &context_of(job, shard->target)->layout->tiling.chunks;
    int64_t row = chunks->ndim > 0 ? chunks->cells[chunks->ndim - 1] : 1;
    if (job->memory.sieve_bytes == 0 || taken_bytes < ROW_LEAST_BYTES)
        return false;
    return shard->wanted[shard->next_wanted] / row != shard->wanted[shard->next_wanted - 1] / row;
}

/* Takes as many of the wanted chunks as lie together and fit one request. */
static void take_run(read_job *job, read_shard *shard, read_item *item)
{
    const pp_chunk_entry *entries = shard->shard.entries;
    const pp_chunk_entry *entry = &entries[shard->wanted[shard->next_wanted]];
    uint64_t end = entry->offset + entry->bytes;
    int64_t most = most_chunks(job, shard);
    item->news = PP_WINDOW_DATA;
    item->first_wanted = shard->next_wanted++;
    item->offset = entry->offset;
    while (shard->next_wanted < shard->wanted_count && shard->next_wanted - item->first_wanted < most &&
           !is_row_complete(job, shard, end - item->offset)) {
        entry = &entries[shard->wanted[shard->next_wanted]];
        uint64_t next_end = entry->offset + entry->bytes > end ? entry->offset + entry->bytes : end;
        if (entry->offset > end + READ_GAP_BYTES ||
            next_end - item->offset > job->memory.batch_bytes - 2 * PP_PAGE_BYTES)
            break;
        end = next_end;
        shard->next_wanted++;
    }
    item->wanted_count = shard->next_wanted - item->first_wanted;
    round_to_pages(shard, item, end);
}

/* Takes the next chunks that are touched and not stored; false: none left. */
static bool take_absent(read_job *job, read_shard *shard, read_item *item)
{
    int64_t count = context_of(job, shard->target)->layout->tiling.chunks.cell_count;
    item->window.chunk_count = 0;
    if (shard->shard.reader == NULL) {
        bool is_new = !shard->is_told_absent;
        shard->is_told_absent = true;
        item->news = PP_WINDOW_FILL_SHARD;
        return is_new;
    }
    item->news = PP_WINDOW_FILL;
    for (; shard->next_absent < count && item->window.chunk_count < PP_WINDOW_CHUNKS; shard->next_absent++)
        if (shard->is_touched[shard->next_absent] && !pp_shard_has_chunk(&shard->shard, shard->next_absent))
            item->window.chunks[item->window.chunk_count++] = shard->next_absent;
    return item->window.chunk_count > 0;
}

static bool take_item(read_job *job, read_shard *shard, read_item *item)
{
    if (shard == NULL)
        return false;
    item->shard = shard;
    item->deliveries.count = 0;
    item->wanted_count = 0;
    item->window.target = shard->target;
    item->window.shard = shard->shard.number;
    if (take_absent(job, shard, item))
        return true;
    if (shard->next_wanted == shard->wanted_count)
        return false;
    take_run(job, shard, item);
    return true;
}

static parapet_status next_item(void *context, void *item_pointer, bool *is_end)
{
    read_job *job = context;
    read_item *item = item_pointer;
    parapet_status status;
    while (!take_item(job, job->current, item)) {
        if (job->next_group == job->view->list.count) {
            *is_end = true;
            return PARAPET_OK;
        }
        free_finished_shards(job);
        if ((status = open_next_shard(job)) != PARAPET_OK)
            return status;
    }
    atomic_fetch_add(&job->current->pending, 1);
    return PARAPET_OK;
}

static parapet_status fetch(void *context, int worker, void *item_pointer)
{
    read_job *job = context;
    read_item *item = item_pointer;
    size_t batch = job->memory.batch_bytes;
    /* Small reads take a small buffer; others one that serves all requests after it. */
    size_t bytes = item->bytes <= batch / 4 ? item->bytes : pp_max_size(item->bytes, batch);
    const pp_transfer_context *of = context_of(job, item->shard->target);
    parapet_status status;
    (void)worker;
    if (item->news != PP_WINDOW_DATA)
        return PARAPET_OK;
    item->buffer.budget = of->budget;
    item->buffer.wants_huge_pages = bytes >= batch;
    if ((status = pp_buffer_ensure(&item->buffer, bytes, "read buffers")) != PARAPET_OK)
        return status;
    return pp_shard_read(of, &item->shard->shard, item->offset, item->bytes, item->buffer.data);
}

/* ---- Delivering ---- */

static pp_delivery_case delivery_case_of(const read_job *job, const read_item *item)
{
    return (pp_delivery_case){
        .session = job->session,
        .window = &item->window,
        .first = item->shard->first,
        .end = item->shard->end,
        .tag = item->slot,
        .is_offer = true,
        .news = item->news,
    };
}

static parapet_status find_deliveries(const read_job *job, read_item *item)
{
    pp_delivery_case delivery_case;
    int64_t i;
    item->deliveries.count = 0;
    if (job->session->is_alone)
        return PARAPET_OK;
    if (item->news == PP_WINDOW_DATA) {
        item->window.chunk_count = (int32_t)item->wanted_count;
        for (i = 0; i < item->wanted_count; i++)
            item->window.chunks[i] = item->shard->wanted[item->first_wanted + i];
    }
    delivery_case = delivery_case_of(job, item);
    return pp_deliveries_build(&item->deliveries, &delivery_case);
}

static bool is_own(const read_job *job, const pp_work *work)
{
    return job->session->is_alone || work->rank == pp_comm_rank(job->session->team->comm);
}

static pp_move move_of(const read_job *job, const read_shard *shard, size_t work, const pp_box *common)
{
    return (pp_move){
        .box = common,
        .claim = claim_of(job, work),
        .ndim_most = job->view->claims.ndim_most,
        .element_bytes = context_of(job, shard->target)->layout->tiling.element_bytes,
    };
}

/* Sets what this rank's own claims have of a box. */
static void fill_box(read_job *job, const read_shard *shard, const pp_box *box)
{
    pp_box common;
    size_t i;
    for (i = shard->first; i < shard->end; i++) {
        pp_move move = move_of(job, shard, i, &common);
        if (!meets(job, i, box, &common))
            continue;
        if (is_own(job, &job->view->list.work[i]))
            pp_move_fill(&move, context_of(job, shard->target)->layout->fill_value);
        job->done_bytes += pp_box_element_count(&common) * (int64_t)move.element_bytes;
    }
}

/* Chunks of a shard that is not stored which some claim touches, each counted once. */
static int64_t count_touched(const read_job *job, const read_shard *shard)
{
    const pp_layout *layout = context_of(job, shard->target)->layout;
    int64_t cell[PARAPET_MAX_NDIM], count = 0;
    pp_box chunks, box, common;
    size_t i;
    bool more;
    if (shard->end - shard->first == 1) {
        chunks_of_claim(job, shard, shard->first, &chunks);
        return pp_box_element_count(&chunks);
    }
    pp_tiling_chunks_inside(&layout->tiling, shard->shard.number, &chunks);
    for (more = pp_box_first(&chunks, cell); more; more = pp_box_next(&chunks, cell)) {
        pp_tiling_chunk_box(&layout->tiling, shard->shard.number, pp_grid_cell_number(&layout->tiling.chunks, cell),
                            &box);
        for (i = shard->first; i < shard->end && !meets(job, i, &box, &common); i++)
            continue;
        count += i < shard->end;
    }
    return count;
}

static void fill_absent(read_job *job, const read_item *item)
{
    const pp_transfer_context *context = context_of(job, item->shard->target);
    int64_t shard = item->shard->shard.number;
    pp_box box;
    int i;
    if (item->news == PP_WINDOW_FILL_SHARD) {
        context->counters->chunks_missing += count_touched(job, item->shard);
        pp_tiling_shard_box(&context->layout->tiling, shard, &box);
        fill_box(job, item->shard, &box);
    }
    for (i = 0; i < item->window.chunk_count; i++) {
        context->counters->chunks_missing += 1;
        pp_tiling_chunk_box(&context->layout->tiling, shard, item->window.chunks[i], &box);
        fill_box(job, item->shard, &box);
    }
}

/* The system refuses to copy to one of the ranks that share the run: from now on all of them get messages. */
static void refuse_direct(const read_job *job, const read_item *item)
{
    size_t i;
    for (i = item->shard->first; i < item->shard->end; i++) {
        if (i == item->shard->first || job->view->list.work[i].rank != job->view->list.work[i - 1].rank)
            pp_peers_refuse(&job->session->peers, job->view->list.work[i].rank);
    }
}

/* One piece that needs no message. false: the system refuses to copy it, and messages must. */
static bool scatter_piece(const read_job *job, read_worker *worker, const read_item *item, size_t record,
                          const pp_move *move)
{
    const pp_work *work = &job->view->list.work[record];
    pp_box shard_box;
    pp_peer *peer;
    if (is_own(job, work)) {
        pp_move_own(move, PP_READING);
        return true;
    }
    if (pp_deliveries_has(&item->deliveries, work->rank))
        return true;
    peer = pp_peers_find(&job->session->peers, work->rank);
    pp_tiling_shard_box(&context_of(job, work->target)->layout->tiling, work->shard, &shard_box);
    if (!pp_sieve_scatter(&worker->sieve, &(pp_sieve_piece){.move = move,
                                                            .process = peer->proof.process,
                                                            .work = (int64_t)record,
                                                            .shard_box = &shard_box})) {
        refuse_direct(job, item);
        return false;
    }
    context_of(job, work->target)->counters->direct_bytes +=
        pp_box_element_count(move->box) * (int64_t)move->element_bytes;
    return true;
}

static bool scatter(read_job *job, read_worker *worker, read_item *item, int index, const unsigned char *elements)
{
    const read_shard *shard = item->shard;
    const pp_layout *layout = context_of(job, shard->target)->layout;
    int64_t chunk = shard->wanted[item->first_wanted + index];
    pp_box whole, inside, common;
    size_t i;
    pp_tiling_chunk_whole_box(&layout->tiling, shard->shard.number, chunk, &whole);
    pp_tiling_chunk_box(&layout->tiling, shard->shard.number, chunk, &inside);
    for (i = shard->first; i < shard->end; i++) {
        const pp_work *work = &job->view->list.work[i];
        pp_move move = move_of(job, shard, i, &common);
        if (chunk < work->first_chunk || chunk > work->last_chunk || !meets(job, i, &inside, &common))
            continue;
        move.chunk_box = &whole;
        move.chunk = (void *)(uintptr_t)elements;
        if (!scatter_piece(job, worker, item, i, &move))
            return false;
        job->done_bytes += pp_box_element_count(&common) * (int64_t)layout->tiling.element_bytes;
    }
    if (item->deliveries.count > 0) {
        pp_delivery_case delivery_case = delivery_case_of(job, item);
        pp_deliveries_move(&item->deliveries, &delivery_case, index, &whole, (void *)(uintptr_t)elements, PP_READING);
    }
    return true;
}

static parapet_status ensure_scratch(read_worker *worker, const pp_transfer_context *context)
{
    parapet_status status;
    if (worker->chain == context->layout->chain)
        return PARAPET_OK;
    pp_chain_scratch_free(worker->scratch);
    worker->scratch = NULL;
    worker->chain = NULL;
    if ((status = pp_chain_scratch_build(&worker->scratch, context->layout->chain, context->budget)) == PARAPET_OK)
        worker->chain = context->layout->chain;
    return status;
}

static parapet_status deliver_chunk(read_job *job, read_worker *worker, read_item *item, int index, bool *is_whole)
{
    const pp_transfer_context *context = context_of(job, item->shard->target);
    int64_t chunk = item->shard->wanted[item->first_wanted + index];
    const pp_chunk_entry *entry = &item->shard->shard.entries[chunk];
    pp_bytes decoded, encoded = {item->buffer.data + (entry->offset - item->offset), (size_t)entry->bytes};
    parapet_status status = pp_chain_decode(context->layout->chain, worker->scratch, encoded, &decoded);
    if (status != PARAPET_OK)
        return pp_fail_within(status, "%s: chunk %lld", item->shard->shard.key, (long long)chunk);
    context->counters->chunks_decoded += 1;
    *is_whole = scatter(job, worker, item, index, decoded.data);
    return PARAPET_OK;
}

/* Once more from the start whenever the system refuses to copy to a rank that it copied to before. */
static parapet_status deliver_run(read_job *job, read_worker *worker, read_item *item)
{
    parapet_status status;
    bool is_whole;
    int64_t i;
    do {
        if ((status = find_deliveries(job, item)) != PARAPET_OK)
            return status;
        is_whole = true;
        for (i = 0; i < item->wanted_count && is_whole && status == PARAPET_OK; i++)
            status = deliver_chunk(job, worker, item, (int)i, &is_whole);
        if (!is_whole || status != PARAPET_OK)
            pp_sieve_forget(&worker->sieve);
        else if (!pp_sieve_flush(&worker->sieve)) {
            refuse_direct(job, item);
            is_whole = false;
        }
    } while (status == PARAPET_OK && !is_whole);
    return status;
}

static parapet_status deliver(void *context, int worker, void *item_pointer)
{
    read_job *job = context;
    read_item *item = item_pointer;
    read_worker *self = &job->workers[worker];
    parapet_status status = ensure_scratch(self, context_of(job, item->shard->target));
    if (status == PARAPET_OK && item->news == PP_WINDOW_DATA) {
        status = deliver_run(job, self, item);
    } else if (status == PARAPET_OK) {
        fill_absent(job, item);
        status = find_deliveries(job, item);
    }
    atomic_fetch_sub(&item->shard->pending, 1);
    return status;
}

static bool wants_send(void *context, const void *item)
{
    (void)context;
    return ((const read_item *)item)->deliveries.count > 0;
}

static pp_deliveries *deliveries_of(void *item)
{
    return &((read_item *)item)->deliveries;
}

static void pieces_left(void *item)
{
    ((read_item *)item)->deliveries.count = 0;
}

static parapet_status report_progress(void *context)
{
    read_job *job = context;
    int64_t done = atomic_load(&job->done_bytes);
    if (done == job->reported_bytes)
        return PARAPET_OK;
    job->reported_bytes = done;
    return pp_transfer_report(context_of(job, 0), "reading", pp_min_i64(done, job->total_bytes), job->total_bytes);
}

/* ---- The whole ---- */

static int64_t claimed_bytes(const read_job *job)
{
    int64_t sum = 0;
    size_t i;
    for (i = 0; i < job->view->list.count; i++) {
        const pp_work *work = &job->view->list.work[i];
        const pp_layout *layout = context_of(job, work->target)->layout;
        pp_box box, common;
        pp_tiling_shard_box(&layout->tiling, work->shard, &box);
        (void)meets(job, i, &box, &common);
        sum += pp_box_element_count(&common) * (int64_t)layout->tiling.element_bytes;
    }
    return sum;
}

static parapet_status plan_memory(read_job *job)
{
    const pp_transfer_context *context = context_of(job, 0);
    const pp_layout **layouts = NULL;
    pp_memory_case memory = {
        .available_bytes = pp_budget_available(context->budget),
        .used_bytes = pp_budget_used(context->budget),
        .threads = context->threads,
        .has_threads = context->has_storage_thread,
        .has_remote = !job->session->is_alone && pp_session_has_remote(job->session),
        .uses_direct = !job->session->is_alone && pp_session_uses_direct(job->session),
        .shard_count = pp_session_shard_count(job->session),
        .rank_most = job->session->is_alone ? 0 : pp_session_rank_most(job->session),
        .fragment_bytes = job->session->is_alone ? 0 : job->session->team->fragment_bytes,
    };
    int i, count = job->session->array_count;
    parapet_status status;
    pp_counters_plan(context->counters, memory.used_bytes);
    if (memory.shard_count == 0)
        return PARAPET_OK;
    status = pp_allocate_array(&layouts, (size_t)count, sizeof layouts[0]);
    for (i = 0; i < count && status == PARAPET_OK; i++)
        layouts[i] = context_of(job, i)->layout;
    if (status == PARAPET_OK)
        status = pp_memory_plan_read(layouts, count, &memory, &job->memory);
    pp_free(layouts);
    if (status != PARAPET_OK)
        return status;
    pp_counters_plan(context->counters, pp_budget_used(context->budget) + job->memory.planned_bytes);
    context->counters->shards_owned += memory.shard_count;
    return PARAPET_OK;
}

static parapet_status prepare(read_job *job)
{
    const pp_transfer_context *context = context_of(job, 0);
    parapet_status status = plan_memory(job);
    int i;
    if (status != PARAPET_OK ||
        (status = pp_allocate_array(&job->workers, (size_t)context->threads, sizeof job->workers[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&job->items, (size_t)job->memory.slot_count, sizeof job->items[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < job->memory.slot_count; i++)
        job->items[i].slot = i;
    for (i = 0; i < context->threads; i++)
        pp_sieve_init(&job->workers[i].sieve, context->budget, job->memory.sieve_bytes, job->view->claims.ndim_most);
    job->total_bytes = claimed_bytes(job);
    return pp_transfer_report(context, "reading", 0, job->total_bytes);
}

static void clear_job(read_job *job)
{
    int i;
    job->current = NULL;
    while (job->oldest != NULL) {
        read_shard *following = job->oldest->following;
        free_shard(job->oldest);
        job->oldest = following;
    }
    for (i = 0; job->items != NULL && i < job->memory.slot_count; i++) {
        pp_buffer_free(&job->items[i].buffer);
        pp_deliveries_free(&job->items[i].deliveries);
    }
    for (i = 0; job->workers != NULL && i < context_of(job, 0)->threads; i++) {
        pp_chain_scratch_free(job->workers[i].scratch);
        pp_sieve_free(&job->workers[i].sieve);
    }
    pp_free(job->items);
    pp_free(job->workers);
}

static pp_pipeline_job pipeline_of(read_job *job)
{
    return (pp_pipeline_job){
        .context = job,
        .next = next_item,
        .produce = fetch,
        .consume = deliver,
        .wants_send = wants_send,
        .tick = report_progress,
        .items = job->items,
        .item_bytes = sizeof job->items[0],
        .slot_count = job->memory.slot_count,
        .worker_count = context_of(job, 0)->threads,
        .workers = PP_PIPELINE_CONSUMES,
        .has_storage_thread = context_of(job, 0)->has_storage_thread,
    };
}

static parapet_status run_alone(read_job *job)
{
    pp_pipeline_job pipeline = pipeline_of(job);
    parapet_status status = job->view->list.count > 0 ? pp_pipeline_run(&pipeline) : PARAPET_OK;
    return status == PARAPET_OK ? report_progress(job) : status;
}

static parapet_status run_together(read_job *job, pp_pull *pull, bool *is_abandoned)
{
    pp_pipeline_job pipeline = pipeline_of(job);
    return pp_drive_run(&(pp_drive){.session = job->session,
                                    .pull = pull,
                                    .job = job->view->list.count > 0 ? &pipeline : NULL,
                                    .phase = "reading",
                                    .deliveries_of = deliveries_of,
                                    .arrived = pieces_left},
                        is_abandoned);
}

parapet_status pp_transfer_read(const pp_team *team, const pp_transfer_array *arrays, int array_count)
{
    pp_session session;
    pp_messages messages = {0};
    parapet_status status = pp_session_build(&session, team, arrays, array_count);
    read_job job = {.session = &session, .view = pp_session_served(&session)};
    bool is_abandoned = false;
    if (status == PARAPET_OK && (status = pp_messages_build(&messages, &session)) == PARAPET_OK)
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
