#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "plan/worklist.h"
#include "transfer/pipeline.h"
#include "transfer/transfer.h"

/* Chunks that lie closer together than this are fetched by one request. */
#define READ_GAP_BYTES (64u << 10)
/* Requests of this size keep a disk busy. */
#define READ_BATCH_BYTES (4u << 20)
#define READ_SLOTS_MOST 16

/* One shard on its way to the parts. Lives until its last item is consumed. */
typedef struct read_shard {
    pp_shard shard;
    size_t first, end; /* its group in the worklist */
    int64_t *wanted;   /* stored chunks that a part touches, in the order of their offsets */
    int64_t wanted_count, next_wanted;
    bool has_absent;
    pp_budget *budget;
    size_t reserved_bytes;
    atomic_int pending;
    struct read_shard *following;
} read_shard;

typedef struct read_item {
    read_shard *shard;
    int64_t first_wanted, wanted_count; /* 0 wanted: fill the absent chunks */
    uint64_t offset;
    size_t bytes;
    pp_buffer buffer;
} read_item;

typedef struct read_job {
    const pp_transfer_context *context;
    const pp_parts *parts;
    pp_worklist list;
    size_t next_group;
    read_shard *oldest, *current; /* a queue: the current one is the last */
    read_item items[READ_SLOTS_MOST];
    int slot_count;
    size_t batch_bytes;
    pp_chain_scratch **scratches; /* one per worker */
    atomic_llong done_elements;
    int64_t total_elements;
} read_job;

static void free_shard(read_shard *shard)
{
    if (shard == NULL)
        return;
    pp_shard_close(&shard->shard);
    pp_free(shard->wanted);
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

/* Chunk positions of the shard that part touches. */
static void chunks_of_part(const read_job *job, const read_shard *shard, int64_t part, pp_box *chunks)
{
    const pp_layout *layout = job->context->layout;
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box common;
    int d;
    pp_layout_shard_box(layout, shard->shard.number, &common);
    (void)pp_box_intersect(&common, &job->parts->boxes[part], &common);
    pp_grid_cell_position(&layout->shards, shard->shard.number, cell);
    for (d = 0; d < common.ndim; d++)
        common.start[d] -= cell[d] * layout->shards.cell_shape[d];
    pp_grid_cells_of_box(&layout->chunks, &common, chunks);
}

static void mark_chunks(const read_job *job, read_shard *shard, unsigned char *is_touched)
{
    const pp_grid *grid = &job->context->layout->chunks;
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box chunks;
    bool more;
    size_t i;
    for (i = shard->first; i < shard->end; i++) {
        chunks_of_part(job, shard, job->list.work[i].part, &chunks);
        for (more = pp_box_first(&chunks, cell); more; more = pp_box_next(&chunks, cell))
            is_touched[pp_grid_cell_number(grid, cell)] = 1;
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
    size_t count = (size_t)job->context->layout->chunks.cell_count;
    size_t bytes = count * (sizeof shard->wanted[0] + 1);
    unsigned char *is_touched = NULL;
    parapet_status status;
    int64_t chunk;
    if ((status = pp_budget_reserve(job->context->budget, bytes, "lists of chunks")) != PARAPET_OK)
        return status;
    shard->budget = job->context->budget;
    shard->reserved_bytes = bytes;
    if ((status = pp_allocate_array(&shard->wanted, count, sizeof shard->wanted[0])) != PARAPET_OK ||
        (status = pp_allocate(&is_touched, count)) != PARAPET_OK)
        return status;
    mark_chunks(job, shard, is_touched);
    for (chunk = 0; chunk < (int64_t)count && status == PARAPET_OK; chunk++) {
        if (!is_touched[chunk])
            continue;
        if (!pp_shard_has_chunk(&shard->shard, chunk)) {
            shard->has_absent = true;
            continue;
        }
        status = pp_shard_check_chunk_bytes(job->context, &shard->shard, chunk);
        shard->wanted[shard->wanted_count++] = chunk;
    }
    pp_free(is_touched);
    qsort_r(shard->wanted, (size_t)shard->wanted_count, sizeof shard->wanted[0], compare_offsets,
            shard->shard.entries);
    return status == PARAPET_OK ? check_apart(shard) : status;
}

static parapet_status open_next_shard(read_job *job)
{
    read_shard *shard;
    parapet_status status = pp_allocate(&shard, sizeof *shard);
    if (status != PARAPET_OK)
        return status;
    shard->first = job->next_group;
    shard->end = pp_worklist_group_end(&job->list, shard->first);
    job->next_group = shard->end;
    if (job->current != NULL)
        job->current->following = shard;
    else
        job->oldest = shard;
    job->current = shard;
    if ((status = pp_shard_open(job->context, job->list.work[shard->first].shard, &shard->shard)) != PARAPET_OK)
        return status;
    if (shard->shard.reader == NULL) {
        shard->has_absent = true;
        return PARAPET_OK;
    }
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

/* Takes as many of the wanted chunks as lie together and fit one request. */
static void take_run(read_job *job, read_shard *shard, read_item *item)
{
    const pp_chunk_entry *entries = shard->shard.entries;
    const pp_chunk_entry *entry = &entries[shard->wanted[shard->next_wanted]];
    uint64_t end = entry->offset + entry->bytes;
    item->first_wanted = shard->next_wanted++;
    item->offset = entry->offset;
    while (shard->next_wanted < shard->wanted_count) {
        entry = &entries[shard->wanted[shard->next_wanted]];
        uint64_t next_end = entry->offset + entry->bytes > end ? entry->offset + entry->bytes : end;
        if (entry->offset > end + READ_GAP_BYTES || next_end - item->offset > job->batch_bytes - 2 * PP_PAGE_BYTES)
            break;
        end = next_end;
        shard->next_wanted++;
    }
    item->wanted_count = shard->next_wanted - item->first_wanted;
    round_to_pages(shard, item, end);
}

static parapet_status next_item(void *context, void *item_pointer, bool *is_end)
{
    read_job *job = context;
    read_item *item = item_pointer;
    parapet_status status;
    while (job->current == NULL ||
           (job->current->next_wanted == job->current->wanted_count && !job->current->has_absent)) {
        if (job->next_group == job->list.count) {
            *is_end = true;
            return PARAPET_OK;
        }
        free_finished_shards(job);
        if ((status = open_next_shard(job)) != PARAPET_OK)
            return status;
    }
    item->shard = job->current;
    item->wanted_count = 0;
    if (job->current->has_absent)
        job->current->has_absent = false;
    else
        take_run(job, job->current, item);
    atomic_fetch_add(&job->current->pending, 1);
    return PARAPET_OK;
}

static parapet_status fetch(void *context, int worker, void *item_pointer)
{
    read_job *job = context;
    read_item *item = item_pointer;
    /* Small reads take a small buffer; others one that serves all requests after it. */
    size_t bytes = item->bytes <= job->batch_bytes / 4 ? item->bytes : pp_max_size(item->bytes, job->batch_bytes);
    parapet_status status;
    (void)worker;
    if (item->wanted_count == 0)
        return PARAPET_OK;
    item->buffer.budget = job->context->budget;
    item->buffer.wants_huge_pages = bytes >= job->batch_bytes;
    status = pp_buffer_ensure(&item->buffer, bytes, "read buffers");
    if (status != PARAPET_OK)
        return status;
    return pp_shard_read(job->context, &item->shard->shard, item->offset, item->bytes, item->buffer.data);
}

static parapet_status fill_box(read_job *job, const read_shard *shard, const pp_box *box)
{
    size_t i;
    for (i = shard->first; i < shard->end; i++)
        job->done_elements += pp_parts_fill(job->parts, job->list.work[i].part, box, job->context->layout->fill_value,
                                            job->context->layout->element_bytes);
    return PARAPET_OK;
}

static bool is_touched(const read_job *job, const read_shard *shard, const pp_box *box)
{
    pp_box common;
    size_t i;
    for (i = shard->first; i < shard->end; i++)
        if (pp_box_intersect(&job->parts->boxes[job->list.work[i].part], box, &common))
            return true;
    return false;
}

/* Chunks of the shard that some part touches, each counted once. */
static int64_t count_touched(const read_job *job, const read_shard *shard)
{
    const pp_layout *layout = job->context->layout;
    int64_t cell[PARAPET_MAX_NDIM], count = 0;
    pp_box chunks, box;
    bool more;
    if (shard->end - shard->first == 1) {
        chunks_of_part(job, shard, job->list.work[shard->first].part, &chunks);
        return pp_box_element_count(&chunks);
    }
    pp_layout_chunks_inside(layout, shard->shard.number, &chunks);
    for (more = pp_box_first(&chunks, cell); more; more = pp_box_next(&chunks, cell)) {
        pp_layout_chunk_box(layout, shard->shard.number, pp_grid_cell_number(&layout->chunks, cell), &box);
        count += is_touched(job, shard, &box);
    }
    return count;
}

static parapet_status fill_absent(read_job *job, const read_shard *shard)
{
    const pp_layout *layout = job->context->layout;
    int64_t chunk;
    pp_box box;
    if (shard->shard.reader == NULL) {
        job->context->counters->chunks_missing += count_touched(job, shard);
        pp_layout_shard_box(layout, shard->shard.number, &box);
        return fill_box(job, shard, &box);
    }
    for (chunk = 0; chunk < layout->chunks.cell_count; chunk++) {
        if (pp_shard_has_chunk(&shard->shard, chunk))
            continue;
        pp_layout_chunk_box(layout, shard->shard.number, chunk, &box);
        if (pp_box_is_empty(&box) || !is_touched(job, shard, &box))
            continue;
        job->context->counters->chunks_missing += 1;
        (void)fill_box(job, shard, &box);
    }
    return PARAPET_OK;
}

static void scatter(read_job *job, const read_shard *shard, int64_t chunk, const unsigned char *elements)
{
    pp_box whole, inside;
    size_t i;
    pp_layout_chunk_whole_box(job->context->layout, shard->shard.number, chunk, &whole);
    pp_layout_chunk_box(job->context->layout, shard->shard.number, chunk, &inside);
    for (i = shard->first; i < shard->end; i++) {
        job->done_elements += pp_parts_move_run(&(pp_parts_move){
            .parts = job->parts,
            .part = job->list.work[i].part,
            .chunk_box = &whole,
            .limit = &inside,
            .element_bytes = job->context->layout->element_bytes,
            .direction = PP_SCATTER,
            .chunk = (void *)(uintptr_t)elements,
        });
    }
}

static parapet_status deliver_chunk(read_job *job, int worker, const read_item *item, int64_t chunk)
{
    const pp_chunk_entry *entry = &item->shard->shard.entries[chunk];
    pp_bytes decoded, encoded = {item->buffer.data + (entry->offset - item->offset), (size_t)entry->bytes};
    parapet_status status = pp_chain_decode(job->context->layout->chain, job->scratches[worker], encoded, &decoded);
    if (status != PARAPET_OK)
        return pp_fail_within(status, "%s: chunk %lld", item->shard->shard.key, (long long)chunk);
    job->context->counters->chunks_decoded += 1;
    scatter(job, item->shard, chunk, decoded.data);
    return PARAPET_OK;
}

static parapet_status deliver(void *context, int worker, void *item_pointer)
{
    read_job *job = context;
    read_item *item = item_pointer;
    parapet_status status = PARAPET_OK;
    int64_t i;
    if (item->wanted_count == 0)
        status = fill_absent(job, item->shard);
    for (i = 0; i < item->wanted_count && status == PARAPET_OK; i++)
        status = deliver_chunk(job, worker, item, item->shard->wanted[item->first_wanted + i]);
    atomic_fetch_sub(&item->shard->pending, 1);
    return status;
}

static parapet_status report_progress(void *context)
{
    const read_job *job = context;
    return pp_transfer_report(job->context, "reading", job->done_elements, job->total_elements);
}

/* What a read takes of the budget besides the scratch of its workers. */
typedef struct read_needs {
    size_t chunk_bytes; /* the smallest buffer for requests */
    size_t shard_bytes; /* an open shard: its index as a list, and which chunks are wanted */
    size_t index_bytes; /* while a shard is being opened */
    size_t more_bytes;  /* with every slot: what it is about may be another shard */
} read_needs;

static read_needs find_needs(const read_job *job)
{
    const pp_layout *layout = job->context->layout;
    size_t chunks = (size_t)layout->chunks.cell_count;
    bool is_single = pp_worklist_group_end(&job->list, 0) == job->list.count;
    read_needs needs = {
        .chunk_bytes = pp_align_up(pp_chain_encoded_bound(layout->chain), PP_PAGE_BYTES) + PP_PAGE_BYTES,
        .shard_bytes = chunks * (sizeof(pp_chunk_entry) + sizeof(int64_t) + 1),
        .index_bytes = layout->is_sharded ? pp_align_up(pp_index_stored_bytes(&layout->index), PP_PAGE_BYTES) : 0,
    };
    needs.more_bytes = is_single ? 0 : needs.shard_bytes;
    return needs;
}

static parapet_status check_needs(const read_job *job, const read_needs *needs)
{
    size_t scratch_bytes = (size_t)job->context->threads * pp_chain_scratch_bytes(job->context->layout->chain);
    return pp_budget_check(job->context->budget,
                           scratch_bytes + needs->shard_bytes + needs->index_bytes + needs->more_bytes +
                               needs->chunk_bytes,
                           "buffers to read a chunk");
}

/* Requests and slots as large as pays, and as small as the budget wants. */
static void size_buffers(read_job *job, const read_needs *needs)
{
    size_t available = pp_budget_available(job->context->budget);
    size_t wanted = job->context->has_storage_thread ? (size_t)job->context->threads + 3 : 1;
    available = pp_min_size(available - needs->shard_bytes - needs->index_bytes, available / 2);
    job->batch_bytes = pp_max_size(needs->chunk_bytes, READ_BATCH_BYTES);
    if (job->batch_bytes * 2 > available)
        job->batch_bytes = pp_max_size(needs->chunk_bytes, available / 4);
    wanted = pp_min_size(wanted, READ_SLOTS_MOST);
    job->slot_count = (int)pp_min_size(wanted, pp_max_size(1, available / (job->batch_bytes + needs->more_bytes)));
}

static parapet_status prepare(read_job *job)
{
    int i, threads = job->context->threads;
    read_needs needs;
    parapet_status status = pp_worklist_build(&job->list, &job->context->layout->shards, job->parts->boxes,
                                              job->parts->count, job->context->budget);
    if (status != PARAPET_OK)
        return status;
    needs = find_needs(job);
    if ((status = check_needs(job, &needs)) != PARAPET_OK ||
        (status = pp_allocate_array(&job->scratches, (size_t)threads, sizeof job->scratches[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < threads; i++) {
        status = pp_chain_scratch_build(&job->scratches[i], job->context->layout->chain, job->context->budget);
        if (status != PARAPET_OK)
            return status;
    }
    size_buffers(job, &needs);
    return PARAPET_OK;
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
    for (i = 0; i < READ_SLOTS_MOST; i++)
        pp_buffer_free(&job->items[i].buffer);
    for (i = 0; job->scratches != NULL && i < job->context->threads; i++)
        pp_chain_scratch_free(job->scratches[i]);
    pp_free(job->scratches);
    pp_worklist_clear(&job->list);
}

parapet_status pp_transfer_read(const pp_transfer_context *context, const pp_parts *parts)
{
    read_job job = {.context = context, .parts = parts, .total_elements = pp_parts_element_count(parts)};
    parapet_status status = prepare(&job);
    if (status == PARAPET_OK)
        status = pp_pipeline_run(&(pp_pipeline_job){
            .context = &job,
            .next = next_item,
            .produce = fetch,
            .consume = deliver,
            .tick = report_progress,
            .items = job.items,
            .item_bytes = sizeof job.items[0],
            .slot_count = job.slot_count,
            .worker_count = context->threads,
            .workers = PP_PIPELINE_CONSUMES,
            .has_storage_thread = context->has_storage_thread,
        });
    if (status == PARAPET_OK)
        status = report_progress(&job);
    clear_job(&job);
    return status;
}
