#include "copy/source.h"

#include "base/checked.h"
#include "base/status.h"
#include "geometry/strided.h"
#include "transfer/requests.h"

/* Every object that is open is a descriptor, of which a process has some thousand. */
#define READERS_MOST 256

void pp_copy_source_init(pp_copy_source *source, pp_copy_job *job)
{
    *source = (pp_copy_source){.job = job, .side = job->pass->source};
}

static int slowest(const pp_copy_source *source)
{
    return source->job->pass->order[0];
}

/* Positions of the cells of a grid with that origin which a box touches. */
static void cells_touched(const int64_t *cell_shape, const int64_t *origin, const pp_box *box, pp_box *cells)
{
    int d;
    cells->ndim = box->ndim;
    for (d = 0; d < box->ndim; d++) {
        int64_t first = (box->start[d] + origin[d]) / cell_shape[d];
        int64_t last = (box->start[d] + box->count[d] - 1 + origin[d]) / cell_shape[d];
        cells->start[d] = first;
        cells->count[d] = last - first + 1;
    }
}

static void close_slab(pp_copy_source *source)
{
    int64_t i;
    for (i = 0; i < source->shard_count; i++)
        pp_shard_close(&source->shards[i]);
}

void pp_copy_source_close(pp_copy_source *source)
{
    close_slab(source);
    pp_free(source->shards);
    pp_free(source->objects);
    source->shards = NULL;
    source->objects = NULL;
    source->shard_count = 0;
}

parapet_status pp_copy_source_begin(pp_copy_source *source, const pp_box *template_box)
{
    parapet_status status;
    int64_t count;
    pp_copy_source_close(source);
    cells_touched(source->side.chunk, source->side.origin, template_box, &source->visits);
    cells_touched(source->side.shard, source->side.origin, template_box, &source->slab);
    if (!source->side.is_sharded)
        return PARAPET_OK;
    if (source->slab.ndim > 0)
        source->slab.count[slowest(source)] = 1;
    count = pp_box_element_count(&source->slab);
    source->keeps_readers = count <= READERS_MOST;
    if ((status = pp_allocate_array(&source->shards, (size_t)count, sizeof source->shards[0])) != PARAPET_OK)
        return status;
    source->shard_count = count;
    return source->keeps_readers ? PARAPET_OK
                                 : pp_allocate_array(&source->objects, (size_t)count, sizeof source->objects[0]);
}

static int64_t chunks_per_shard(const pp_copy_source *source, int d)
{
    return source->side.shard[d] / source->side.chunk[d];
}

bool pp_copy_source_leaves_slab(const pp_copy_source *source, const int64_t *cell)
{
    int d;
    if (!source->side.is_sharded || source->slab.ndim == 0)
        return false;
    d = slowest(source);
    return cell[d] / chunks_per_shard(source, d) != source->slab.start[d];
}

/* The position of a cell in the source's own grid: a reversed dimension counts from the far end. */
static int64_t own_position(const pp_copy_source *source, int d, int64_t cell)
{
    const pp_copy_view *view = source->job->view;
    int64_t origin = source->side.origin[d], extent = source->side.chunk[d];
    if (!view->is_reversed[d])
        return (view->start[d] - origin) / extent + cell;
    return (view->start[d] + view->shape[d] + origin) / extent - 1 - cell;
}

static void find_chunk(const pp_copy_source *source, const int64_t *cell, int64_t *shard, int64_t *chunk)
{
    int64_t own_cell[PARAPET_MAX_NDIM];
    int d;
    for (d = 0; d < source->job->view->ndim; d++)
        own_cell[source->job->view->axis[d]] = own_position(source, d, cell[d]);
    pp_tiling_find_chunk(&source->job->source->layout->tiling, own_cell, shard, chunk);
}

static pp_shard *find_in_slab(pp_copy_source *source, const int64_t *cell)
{
    int64_t index = 0;
    int d;
    for (d = 0; d < source->slab.ndim; d++) {
        int64_t position = cell[d] / chunks_per_shard(source, d) - source->slab.start[d];
        index = index * source->slab.count[d] + position;
    }
    return &source->shards[index];
}

static pp_copy_identity identity_of(const pp_reader *reader)
{
    return reader != NULL ? (pp_copy_identity){reader->bytes, reader->version} : (pp_copy_identity){0};
}

/* Opens the object again that a kept index is of: no other one goes with it. */
static parapet_status reopen(pp_copy_source *source, const pp_shard *kept, pp_reader **reader)
{
    pp_copy_identity before = source->objects[kept - source->shards], now;
    parapet_status status = pp_store_open_object(source->job->source->store, kept->key, reader);
    if (status != PARAPET_OK && status != PARAPET_ERR_NOT_FOUND)
        return status;
    now = identity_of(*reader);
    if (now.bytes == before.bytes && now.version == before.version)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_STALE, "another job has replaced or removed %s while it was being copied; copy again",
                   kept->key);
}

/* A shard whose index is kept and whose object is not: it is opened again for this visit. */
static parapet_status borrow_index(pp_copy_source *source, pp_copy_visit *visit)
{
    const pp_shard *kept = visit->shard;
    visit->own =
        (pp_shard){.number = kept->number, .key = kept->key, .entries = kept->entries, .checksums = kept->checksums};
    visit->is_lent = true;
    visit->shard = &visit->own;
    if (kept->entries == NULL)
        return PARAPET_OK;
    return reopen(source, kept, &visit->own.reader);
}

static parapet_status open_shard(pp_copy_source *source, const int64_t *cell, int64_t number, pp_copy_visit *visit)
{
    parapet_status status;
    if (!source->side.is_sharded) {
        visit->shard = &visit->own;
        return pp_shard_open(source->job->source, number, visit->shard);
    }
    if (pp_copy_source_leaves_slab(source, cell)) {
        int d = slowest(source);
        close_slab(source);
        source->slab.start[d] = cell[d] / chunks_per_shard(source, d);
    }
    visit->shard = find_in_slab(source, cell);
    if (visit->shard->key != NULL)
        return source->keeps_readers ? PARAPET_OK : borrow_index(source, visit);
    source->job->done.index_reads += 1;
    if ((status = pp_shard_open(source->job->source, number, visit->shard)) != PARAPET_OK || source->keeps_readers)
        return status;
    source->objects[visit->shard - source->shards] = identity_of(visit->shard->reader);
    pp_reader_free(visit->shard->reader);
    visit->shard->reader = NULL;
    return borrow_index(source, visit);
}

static void bound_visit(const pp_copy_source *source, const int64_t *cell, const pp_box *template_box, pp_box *box)
{
    int d;
    box->ndim = template_box->ndim;
    for (d = 0; d < box->ndim; d++) {
        box->start[d] = cell[d] * source->side.chunk[d] - source->side.origin[d];
        box->count[d] = source->side.chunk[d];
    }
    (void)pp_box_intersect(box, template_box, box);
}

/* Items begin at multiples of what one has at most, so that they fill lines of the cache and share none. */
bool pp_copy_source_joins(const pp_copy_source *source, const int64_t *cell, const pp_box *template_box,
                          const pp_copy_item *item)
{
    const pp_rechunk_pass *pass = source->job->pass;
    int last = template_box->ndim - 1, d;
    int64_t extent, most = pass->memory.item_chunks;
    pp_box box;
    if (item->count == most || pp_copy_source_leaves_slab(source, cell))
        return false;
    bound_visit(source, cell, template_box, &box);
    for (d = 0; d < last; d++)
        if (box.start[d] != item->box.start[d])
            return false;
    extent = source->side.chunk[last];
    return box.count[last] == extent && item->box.count[last] == item->count * extent &&
           box.start[last] == item->box.start[last] + item->box.count[last] &&
           box.start[last] % (most * extent) != 0 &&
           item->box.start[last] / pass->target.chunk[last] ==
               (box.start[last] + extent - 1) / pass->target.chunk[last];
}

parapet_status pp_copy_source_locate(pp_copy_source *source, const int64_t *cell, const pp_box *template_box,
                                     pp_copy_item *item)
{
    const pp_transfer_context *context = source->job->source;
    pp_copy_visit *visit = &item->visits[item->count];
    int64_t shard;
    parapet_status status;
    pp_box box;
    bound_visit(source, cell, template_box, &box);
    if (item->count == 0)
        item->box = box;
    else
        item->box.count[box.ndim - 1] += box.count[box.ndim - 1];
    item->count += 1;
    find_chunk(source, cell, &shard, &visit->chunk);
    if ((status = open_shard(source, cell, shard, visit)) != PARAPET_OK)
        return status;
    visit->is_stored = pp_shard_has_chunk(visit->shard, visit->chunk);
    if (!visit->is_stored && source->job->is_source_whole)
        return pp_fail(PARAPET_ERR_MISSING,
                       "%s: chunk %lld, which an earlier pass of the copy wrote, is gone: something has removed it "
                       "while the copy was running; copy again",
                       visit->shard->key, (long long)visit->chunk);
    if (!visit->is_stored) {
        context->counters->chunks_missing += 1;
        return PARAPET_OK;
    }
    source->job->done.chunk_reads += 1;
    return pp_shard_check_chunk_bytes(context, visit->shard, visit->chunk);
}

/* ---- Reading ---- */

/* Where a chunk lies in its object: whole pages, as far as there is an object, which is what direct I/O wants. */
static void find_pages(const pp_copy_visit *visit, uint64_t *offset, uint64_t *end)
{
    const pp_chunk_entry *entry = &visit->shard->entries[visit->chunk];
    *offset = entry->offset - entry->offset % PP_PAGE_BYTES;
    *end = entry->offset + entry->bytes;
    *end = pp_min_u64(*end + (PP_PAGE_BYTES - *end % PP_PAGE_BYTES) % PP_PAGE_BYTES, visit->shard->reader->bytes);
}

static parapet_status fetch_whole(pp_copy_source *source, pp_copy_item *item)
{
    const pp_transfer_context *context = source->job->source;
    parapet_status status;
    uint64_t offset, end;
    size_t bytes = 0;
    int64_t i;
    for (i = 0; i < item->count; i++)
        if (item->visits[i].is_stored) {
            pp_copy_visit *visit = &item->visits[i];
            find_pages(visit, &offset, &end);
            visit->place = bytes + (size_t)(visit->shard->entries[visit->chunk].offset - offset);
            bytes += pp_align_up((size_t)(end - offset), PP_PAGE_BYTES);
        }
    status = bytes > 0 ? pp_buffer_ensure(&item->buffer, bytes, "source chunks") : PARAPET_OK;
    for (i = 0; i < item->count && status == PARAPET_OK; i++)
        if (item->visits[i].is_stored) {
            const pp_copy_visit *visit = &item->visits[i];
            find_pages(visit, &offset, &end);
            source->job->done.read_requests += 1;
            source->job->done.decoded_bytes += (int64_t)pp_chain_decoded_bytes(context->layout->chain);
            status = pp_shard_read(context, visit->shard, offset, (size_t)(end - offset),
                                   item->buffer.data + visit->place - visit->place % PP_PAGE_BYTES);
        }
    return status;
}

/* What the template has of a chunk, counted from the chunk's first element, in the source's dimensions; and the whole
 * chunk. */
static void part_of_chunk(const pp_copy_source *source, const pp_copy_item *item, int64_t number, pp_box *part,
                          pp_box *chunk)
{
    const pp_copy_visit *visit = &item->visits[number];
    int last = item->box.ndim - 1, d;
    pp_box box = item->box;
    if (item->count > 1) {
        box.count[last] /= item->count;
        box.start[last] += number * box.count[last];
    }
    pp_tiling_chunk_whole_box(&source->job->source->layout->tiling, visit->shard->number, visit->chunk, chunk);
    pp_copy_view_box(source->job->view, &box, part);
    for (d = 0; d < part->ndim; d++)
        part->start[d] -= chunk->start[d];
}

/* The dimension from which on, with the ones behind it, a run is contiguous: the last that is not covered in full. */
static int first_of_run(const pp_box *chunk, const pp_box *part)
{
    int d = part->ndim - 1;
    while (d > 0 && part->count[d] == chunk->count[d])
        d--;
    return d > 0 ? d : 0;
}

/* The contiguous runs of the visits of an item, one after the other; they go one behind the other. */
typedef struct run_walk {
    const pp_copy_source *source;
    const pp_copy_item *item;
    int64_t number; /* of the next visit */
    const pp_copy_visit *visit;
    pp_box runs; /* of this one */
    int64_t strides[PARAPET_MAX_NDIM], cell[PARAPET_MAX_NDIM];
    size_t run_bytes, filled;
    bool more;
} run_walk;

/* The runs of the next visit that is stored. False: there is none. */
static bool begin_runs(run_walk *walk)
{
    const pp_copy_item *item = walk->item;
    pp_box part, chunk;
    int d;
    while (walk->number < item->count && !item->visits[walk->number].is_stored)
        walk->number++;
    if (walk->number == item->count)
        return false;
    part_of_chunk(walk->source, item, walk->number, &part, &chunk);
    walk->visit = &item->visits[walk->number++];
    walk->runs = part;
    walk->run_bytes = walk->source->job->source->layout->tiling.element_bytes;
    walk->filled = walk->visit->place;
    pp_strides_c_order(part.ndim, chunk.count, walk->run_bytes, walk->strides);
    for (d = first_of_run(&chunk, &part); d < part.ndim; d++) {
        walk->run_bytes *= (size_t)part.count[d];
        walk->runs.count[d] = 1;
    }
    return pp_box_first(&walk->runs, walk->cell);
}

static bool next_run(void *context, pp_request *request)
{
    run_walk *walk = context;
    int d;
    if (!walk->more && !begin_runs(walk))
        return false;
    *request = (pp_request){.shard = walk->visit->shard,
                            .offset = walk->visit->shard->entries[walk->visit->chunk].offset,
                            .bytes = walk->run_bytes,
                            .place = walk->filled};
    for (d = 0; d < walk->runs.ndim; d++)
        request->offset += (uint64_t)(walk->cell[d] * walk->strides[d]);
    walk->filled += walk->run_bytes;
    walk->more = pp_box_next(&walk->runs, walk->cell);
    return true;
}

static parapet_status check_bytes(const pp_copy_source *source, const pp_copy_visit *visit)
{
    size_t decoded = pp_chain_decoded_bytes(source->job->source->layout->chain);
    uint64_t bytes = visit->shard->entries[visit->chunk].bytes;
    if (bytes == decoded)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_CORRUPT, "%s: chunk %lld has %llu bytes instead of %zu", visit->shard->key,
                   (long long)visit->chunk, (unsigned long long)bytes, decoded);
}

/* Whether the shards of the slab stay open, so that storage can be told of more than one item. */
static bool can_expect(const pp_copy_source *source)
{
    return source->side.is_sharded && source->keeps_readers;
}

/* All parts of chunks have the same extents, and lie at equal distances. */
static parapet_status fetch_runs(pp_copy_source *source, pp_copy_item *item)
{
    int64_t all = pp_box_element_count(&item->box) * (int64_t)source->job->source->layout->tiling.element_bytes;
    int64_t part = all / item->count, stored = 0, count, i;
    run_walk walk = {.source = source, .item = item}, ahead = walk;
    parapet_status status = PARAPET_OK;
    for (i = 0; i < item->count && status == PARAPET_OK; i++)
        if (item->visits[i].is_stored) {
            item->visits[i].place = (size_t)(i * part);
            status = check_bytes(source, &item->visits[i]);
            stored += 1;
        }
    if (status != PARAPET_OK || stored == 0 ||
        (status = pp_buffer_ensure(&item->buffer, (size_t)all, "parts of source chunks")) != PARAPET_OK)
        return status;
    status = pp_requests_read(
        source->job->source,
        &(pp_request_walk){.next = next_run, .walk = &walk, .ahead = can_expect(source) ? NULL : &ahead},
        item->buffer.data, &count);
    source->job->done.read_requests += count;
    source->job->done.decoded_bytes += stored * part;
    return status;
}

static size_t expect_runs(const pp_copy_source *source, const pp_copy_item *item)
{
    run_walk walk = {.source = source, .item = item};
    size_t bytes = 0;
    pp_request request;
    while (next_run(&walk, &request)) {
        pp_reader_expect(request.shard->reader, request.offset, request.bytes);
        bytes += request.bytes;
    }
    return bytes;
}

static size_t expect_whole(const pp_copy_visit *visit)
{
    uint64_t offset, end;
    if (!visit->is_stored)
        return 0;
    find_pages(visit, &offset, &end);
    pp_reader_expect(visit->shard->reader, offset, (size_t)(end - offset));
    return (size_t)(end - offset);
}

bool pp_copy_source_expect(pp_copy_source *source, const int64_t *cell, const pp_box *template_box, size_t *bytes)
{
    pp_copy_visit visit = {0};
    pp_copy_item item = {.count = 1, .visits = &visit};
    int64_t shard;
    if (!can_expect(source) || pp_copy_source_leaves_slab(source, cell))
        return false;
    visit.shard = find_in_slab(source, cell);
    if (visit.shard->key == NULL)
        return false;
    find_chunk(source, cell, &shard, &visit.chunk);
    visit.is_stored = pp_shard_has_chunk(visit.shard, visit.chunk);
    bound_visit(source, cell, template_box, &item.box);
    *bytes = source->job->pass->reads_runs ? expect_runs(source, &item) : expect_whole(&visit);
    return true;
}

parapet_status pp_copy_source_fetch(pp_copy_source *source, pp_copy_item *item)
{
    item->buffer.budget = source->job->target->budget;
    return source->job->pass->reads_runs ? fetch_runs(source, item) : fetch_whole(source, item);
}

/* ---- Elements ---- */

const unsigned char *pp_copy_source_elements(const pp_copy_source *source, const pp_copy_item *item, int64_t number,
                                             const unsigned char *decoded, int64_t *strides)
{
    const pp_copy_view *view = source->job->view;
    int64_t own[PARAPET_MAX_NDIM];
    pp_box part, chunk;
    int d;
    part_of_chunk(source, item, number, &part, &chunk);
    if (source->job->pass->reads_runs) {
        pp_strides_c_order(part.ndim, part.count, source->job->source->layout->tiling.element_bytes, own);
        for (d = 0; d < part.ndim; d++)
            part.start[d] = 0;
    } else {
        pp_strides_c_order(part.ndim, chunk.count, source->job->source->layout->tiling.element_bytes, own);
    }
    for (d = 0; d < part.ndim; d++) {
        int axis = view->axis[d];
        int64_t first = view->is_reversed[d] ? part.start[axis] + part.count[axis] - 1 : part.start[axis];
        decoded += first * own[axis];
        strides[d] = view->is_reversed[d] ? -own[axis] : own[axis];
    }
    return decoded;
}

static void release_visit(pp_copy_visit *visit)
{
    if (visit->is_lent) {
        pp_reader_free(visit->own.reader);
        visit->own = (pp_shard){0};
    }
    if (visit->shard == &visit->own)
        pp_shard_close(&visit->own);
    visit->is_lent = false;
}

void pp_copy_item_release(pp_copy_item *item)
{
    for (; item->count > 0; item->count--)
        release_visit(&item->visits[item->count - 1]);
}

parapet_status pp_copy_source_has_some(pp_copy_source *source, const pp_box *box, bool *has_some)
{
    int64_t cell[PARAPET_MAX_NDIM], shard, chunk;
    parapet_status status = PARAPET_OK;
    pp_box cells;
    bool more;
    *has_some = false;
    cells_touched(source->side.chunk, source->side.origin, box, &cells);
    for (more = pp_box_first(&cells, cell); more && !*has_some && status == PARAPET_OK;
         more = pp_box_next(&cells, cell)) {
        find_chunk(source, cell, &shard, &chunk);
        if (source->shard_count == 0 || source->shards[0].number != shard) {
            pp_copy_source_close(source);
            if ((status = pp_allocate(&source->shards, sizeof source->shards[0])) != PARAPET_OK)
                return status;
            source->shard_count = 1;
            status = pp_shard_open(source->job->source, shard, &source->shards[0]);
        }
        *has_some = status == PARAPET_OK && pp_shard_has_chunk(&source->shards[0], chunk);
    }
    return status;
}
