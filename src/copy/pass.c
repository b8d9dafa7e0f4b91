/* pass.c - one rank alone: work units, templates, and inside a template the visit of the source chunks.
 *
 *     next (storage thread)     locates the next source chunks and opens the target chunks they touch
 *     fetch (storage thread)    reads them
 *     consume (workers)         decodes them and scatters their elements; encodes the target chunks that are complete
 *     behind (a thread)         writes them
 *
 * Beside other ranks a work unit is done on a thread of its own, and the calling thread answers those who ask for
 * work. */
#include <string.h>

#include "base/clock.h"
#include "copy/cooperative_read.h"
#include "copy/run_in_thread.h"
#include "copy/source.h"
#include "copy/target.h"
#include "copy/unit_stealing.h"
#include "copy/write_behind.h"
#include "geometry/strided.h"
#include "rechunk/count.h"
#include "transfer/pipeline.h"
#include "transfer/requests.h"

/* How often progress is told where there is none. */
#define LOOK_SECONDS 0.1

/* Storage is told of no more source chunks than this ahead, where few of them are stored. */
#define VISITS_AHEAD 1024

typedef struct copy_worker {
    pp_chain_scratch *decoder, *encoder;
} copy_worker;

/* A place in the order in which the source chunks of a template are visited. */
typedef struct visit_order {
    int64_t cell[PARAPET_MAX_NDIM];
    int64_t number; /* of those before it */
    bool is_over;
} visit_order;

typedef struct copy_engine {
    pp_copy_job *job;
    pp_copy_source source;
    pp_copy_target target;
    pp_open_chunks open_chunks;
    pp_write_behind behind; /* not running where there are no threads */
    pp_box box;             /* of the template at work */
    visit_order next;       /* the next source chunk */
    visit_order told;       /* up to where storage knows what will be read */
    int64_t told_bytes;     /* of the last of these that is stored */
    pp_copy_item *items;
    pp_copy_visit *visits; /* of all items */
    copy_worker *workers;
    pp_log *log; /* of finished work units; NULL: none yet */
    int64_t work_unit;
    /* While it is done on a thread of its own: what the calling thread has been told, and when it asked last. */
    bool is_in_thread;
    atomic_bool is_stopped;
    pp_failure stop;
    long long looked_at_bytes;
    double looked_at;
} copy_engine;

/* ---- next ---- */

static void advance(const copy_engine *engine, visit_order *at)
{
    const pp_box *visits = &engine->source.visits;
    int i;
    at->number++;
    for (i = visits->ndim - 1; i >= 0; i--) {
        int d = engine->job->pass->order[i];
        if (++at->cell[d] < visits->start[d] + visits->count[d])
            return;
        at->cell[d] = visits->start[d];
    }
    at->is_over = true;
}

/* How many source chunks of the template have some of a target chunk. */
static int64_t count_visits(const copy_engine *engine, const int64_t *cell)
{
    const pp_rechunk_side *side = &engine->source.side;
    int64_t count = 1;
    pp_box box;
    int d;
    pp_tiling_whole_box_at(&engine->job->target->layout->tiling, cell, &box);
    (void)pp_box_intersect(&box, &engine->box, &box);
    for (d = 0; d < box.ndim; d++) {
        int64_t first = box.start[d] + side->origin[d], last = first + box.count[d] - 1;
        count *= last / side->chunk[d] - first / side->chunk[d] + 1;
    }
    return count;
}

/* False: something has failed meanwhile. */
static bool take_open_chunks(copy_engine *engine, const pp_box *box)
{
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box chunks;
    bool more;
    pp_tiling_chunks_of_box(&engine->job->target->layout->tiling, box, &chunks);
    for (more = pp_box_first(&chunks, cell); more; more = pp_box_next(&chunks, cell))
        if (!pp_open_chunks_open(&engine->open_chunks, cell, count_visits(engine, cell)))
            return false;
    return true;
}

/* More source chunks for an item: they have elements of the target chunks that are open for the first. */
static parapet_status join(copy_engine *engine, pp_copy_item *item)
{
    parapet_status status = PARAPET_OK;
    while (status == PARAPET_OK && !engine->next.is_over &&
           pp_copy_source_joins(&engine->source, engine->next.cell, &engine->box, item)) {
        status = pp_copy_source_locate(&engine->source, engine->next.cell, &engine->box, item);
        advance(engine, &engine->next);
    }
    return status;
}

static parapet_status next_item(void *context, void *place, bool *is_end)
{
    copy_engine *engine = context;
    pp_copy_item *item = place;
    parapet_status status;
    *is_end = engine->next.is_over;
    if (engine->next.is_over)
        return PARAPET_OK;
    /* Given up, others still use what is open of this slab. */
    if (pp_copy_source_leaves_slab(&engine->source, engine->next.cell) &&
        !pp_open_chunks_drain(&engine->open_chunks)) {
        *is_end = true;
        return PARAPET_OK;
    }
    if ((status = pp_copy_source_locate(&engine->source, engine->next.cell, &engine->box, item)) != PARAPET_OK)
        return status;
    if (!take_open_chunks(engine, &item->box)) {
        *is_end = true;
        return PARAPET_OK;
    }
    pp_open_chunks_enter(&engine->open_chunks);
    advance(engine, &engine->next);
    return join(engine, item);
}

/* Storage is told of all of an item, and of those behind it: one alone is often less than what it can do at a time.
 */
static void tell_ahead(copy_engine *engine)
{
    int64_t lead;
    size_t bytes;
    while (!engine->told.is_over && (lead = engine->told.number - engine->next.number) < VISITS_AHEAD &&
           lead * engine->told_bytes < (int64_t)PP_BYTES_AHEAD &&
           pp_copy_source_expect(&engine->source, engine->told.cell, &engine->box, &bytes)) {
        if (bytes > 0)
            engine->told_bytes = (int64_t)bytes;
        advance(engine, &engine->told);
    }
}

static parapet_status fetch(void *context, int worker, void *place)
{
    copy_engine *engine = context;
    pp_copy_item *item = place;
    parapet_status status;
    tell_ahead(engine);
    status = pp_copy_source_fetch(&engine->source, item);
    (void)worker;
    if (status != PARAPET_OK)
        pp_open_chunks_give_up(&engine->open_chunks);
    return status;
}

/* ---- consume ---- */

static parapet_status decode(const copy_engine *engine, const copy_worker *worker, const pp_copy_item *item,
                             const pp_copy_visit *visit, const unsigned char **elements)
{
    const pp_transfer_context *context = engine->job->source;
    const pp_chunk_entry *entry = &visit->shard->entries[visit->chunk];
    pp_bytes decoded, encoded = {item->buffer.data + visit->place, (size_t)entry->bytes};
    parapet_status status;
    *elements = encoded.data;
    if (engine->job->pass->reads_runs)
        return PARAPET_OK;
    if ((status = pp_shard_verify_chunk(context, visit->shard, visit->chunk, encoded)) != PARAPET_OK)
        return status;
    status = pp_chain_decode(context->layout->chain, worker->decoder, encoded, &decoded);
    if (status != PARAPET_OK)
        return pp_fail_within(status, "%s: chunk %lld", visit->shard->key, (long long)visit->chunk);
    context->counters->chunks_decoded += 1;
    *elements = decoded.data;
    return PARAPET_OK;
}

/* Elements that several chunks of an item have are decoded in place, or not at all. */
static parapet_status decode_all(const copy_engine *engine, const copy_worker *worker, pp_copy_item *item,
                                 int64_t *strides)
{
    const unsigned char *decoded;
    parapet_status status = PARAPET_OK;
    int64_t i;
    for (i = 0; i < item->count && status == PARAPET_OK; i++)
        if (item->visits[i].is_stored &&
            (status = decode(engine, worker, item, &item->visits[i], &decoded)) == PARAPET_OK)
            item->visits[i].elements = pp_copy_source_elements(&engine->source, item, i, decoded, strides);
    return status;
}

/* Hands an encoded chunk over to be written, in its own buffer: its elements are not needed any more. */
static void write_behind(copy_engine *engine, pp_open_chunk *open_chunk, pp_bytes encoded)
{
    if (encoded.data != open_chunk->buffer.data)
        memcpy(open_chunk->buffer.data, encoded.data, encoded.bytes);
    pp_write_behind_put(&engine->behind, open_chunk, (pp_bytes){open_chunk->buffer.data, encoded.bytes});
}

static parapet_status store_chunk(copy_engine *engine, const copy_worker *worker, pp_open_chunk *open_chunk,
                                  const int64_t *cell)
{
    const pp_transfer_context *context = engine->job->target;
    pp_bytes encoded;
    parapet_status status;
    bool goes_behind;
    pp_chain_scratch_exchange(worker->encoder, &open_chunk->buffer);
    context->counters->chunks_encoded += 1;
    status = pp_chain_encode(context->layout->chain, worker->encoder, &encoded);
    goes_behind = status == PARAPET_OK && engine->behind.is_running &&
                  encoded.bytes <= pp_chain_chunk_capacity(context->layout->chain);
    if (status == PARAPET_OK && !goes_behind)
        status =
            pp_copy_target_append(&engine->target, cell, encoded, pp_copy_target_checksum(&engine->target, encoded));
    pp_chain_scratch_exchange(worker->encoder, &open_chunk->buffer);
    if (goes_behind)
        write_behind(engine, open_chunk, encoded);
    else
        pp_open_chunks_close(&engine->open_chunks, open_chunk);
    return status;
}

static parapet_status finish_chunk(copy_engine *engine, const copy_worker *worker, pp_open_chunk *open_chunk)
{
    const pp_transfer_context *context = engine->job->target;
    bool is_stored = atomic_load(&open_chunk->has_data) || engine->job->is_target_whole;
    int64_t cell[PARAPET_MAX_NDIM];
    parapet_status status = PARAPET_OK;
    pp_open_chunks_cell(&engine->open_chunks, open_chunk->chunk, cell);
    if (is_stored && context->elides_fill && context->layout->is_sharded)
        is_stored = !pp_layout_is_all_fill(context->layout, open_chunk->buffer.data);
    if (is_stored)
        status = pp_copy_target_wants(&engine->target, cell, &is_stored);
    if (status == PARAPET_OK && is_stored)
        return store_chunk(engine, worker, open_chunk, cell);
    pp_open_chunks_close(&engine->open_chunks, open_chunk);
    return status;
}

/* Chunks of an item whose elements are copied at once. */
typedef struct copy_piece {
    int64_t first, count;
    int64_t distance; /* in bytes, from the elements of one to those of the next */
} copy_piece;

static int64_t distance(const pp_copy_visit *visit)
{
    return visit[1].is_stored ? visit[1].elements - visit[0].elements : 0;
}

/* As many from a first one on as are all stored, at equal distances, or all not stored. */
static copy_piece next_piece(const pp_copy_item *item, int64_t first)
{
    const pp_copy_visit *visits = item->visits;
    copy_piece piece = {.first = first, .count = 1};
    int64_t i;
    for (i = first; i + 1 < item->count && visits[i + 1].is_stored == visits[i].is_stored; i++, piece.count++) {
        if (i == first)
            piece.distance = distance(&visits[i]);
        else if (distance(&visits[i]) != piece.distance)
            break;
    }
    return piece;
}

/* The elements of a piece. */
static pp_box box_of_piece(const pp_copy_item *item, const copy_piece *piece)
{
    pp_box box = item->box;
    if (item->count > 1) {
        int64_t extent = box.count[box.ndim - 1] / item->count;
        box.start[box.ndim - 1] += piece->first * extent;
        box.count[box.ndim - 1] = piece->count * extent;
    }
    return box;
}

/* How elements are copied: counts, and strides on both sides. */
typedef struct copy_steps {
    int ndim;
    int64_t count[PARAPET_MAX_NDIM + 1], to[PARAPET_MAX_NDIM + 1], from[PARAPET_MAX_NDIM + 1];
} copy_steps;

/* Several chunks are one dimension more: along the fastest one, from chunk to chunk, and then inside a chunk. */
static void split_fastest(copy_steps *steps, const copy_piece *piece)
{
    int last = steps->ndim++;
    steps->count[last] = steps->count[last - 1] / piece->count;
    steps->count[last - 1] = piece->count;
    steps->to[last] = steps->to[last - 1];
    steps->to[last - 1] *= steps->count[last];
    steps->from[last] = steps->from[last - 1];
    steps->from[last - 1] = piece->distance;
}

/* Brings what a piece has of one target chunk into its buffer. */
static void scatter(const copy_engine *engine, const pp_copy_item *item, const copy_piece *piece,
                    const int64_t *source_strides, const int64_t *cell, pp_open_chunk *open_chunk)
{
    const pp_layout *layout = engine->job->target->layout;
    const pp_copy_visit *visit = &item->visits[piece->first];
    pp_box whole, common, box = box_of_piece(item, piece);
    copy_steps steps;
    size_t bytes = (size_t)box.ndim * sizeof steps.count[0];
    pp_strided copy = {.element_bytes = layout->tiling.element_bytes,
                       .count = steps.count,
                       .source = layout->fill_value,
                       .source_strides = steps.from,
                       .target_strides = steps.to};
    steps.ndim = box.ndim;
    pp_tiling_whole_box_at(&layout->tiling, cell, &whole);
    (void)pp_box_intersect(&whole, &box, &common);
    memcpy(steps.count, common.count, bytes);
    memcpy(steps.from, source_strides, bytes);
    pp_strides_c_order(box.ndim, whole.count, copy.element_bytes, steps.to);
    copy.target = open_chunk->buffer.data + pp_strides_offset(&whole, steps.to, common.start);
    if (visit->is_stored)
        copy.source = visit->elements + pp_strides_offset(&box, steps.from, common.start);
    if (piece->count > 1)
        split_fastest(&steps, piece);
    copy.ndim = steps.ndim;
    if (!visit->is_stored) {
        pp_strided_fill(&copy);
        return;
    }
    pp_strided_copy(&copy);
    atomic_store(&open_chunk->has_data, true);
}

static parapet_status scatter_all(copy_engine *engine, const copy_worker *worker, pp_copy_item *item)
{
    int64_t strides[PARAPET_MAX_NDIM] = {0}, cell[PARAPET_MAX_NDIM];
    parapet_status status = decode_all(engine, worker, item, strides);
    copy_piece piece;
    pp_box chunks;
    bool more;
    if (status != PARAPET_OK)
        return status;
    pp_tiling_chunks_of_box(&engine->job->target->layout->tiling, &item->box, &chunks);
    for (more = pp_box_first(&chunks, cell); more && status == PARAPET_OK; more = pp_box_next(&chunks, cell)) {
        pp_open_chunk *open_chunk = pp_open_chunks_find(&engine->open_chunks, cell);
        for (piece = next_piece(item, 0); piece.first < item->count;
             piece = next_piece(item, piece.first + piece.count))
            scatter(engine, item, &piece, strides, cell, open_chunk);
        if (atomic_fetch_sub(&open_chunk->missing, item->count) == item->count)
            status = finish_chunk(engine, worker, open_chunk);
    }
    return status;
}

static parapet_status consume(void *context, int worker, void *place)
{
    copy_engine *engine = context;
    pp_copy_item *item = place;
    parapet_status status = scatter_all(engine, &engine->workers[worker], item);
    pp_copy_item_release(item);
    atomic_fetch_add(&engine->job->done_bytes,
                     pp_box_element_count(&item->box) * (int64_t)engine->job->target->layout->tiling.element_bytes);
    if (status != PARAPET_OK)
        pp_open_chunks_give_up(&engine->open_chunks);
    pp_open_chunks_leave(&engine->open_chunks);
    return status;
}

static parapet_status ask_whether_to_stop(copy_engine *engine)
{
    if (engine->is_in_thread)
        return atomic_load(&engine->is_stopped) ? pp_fail(PARAPET_ERR_CANCELLED, "the copy was stopped") : PARAPET_OK;
    pp_unit_stealing_answer(engine->job->dealing);
    return engine->job->tick(engine->job->tick_context);
}

static parapet_status tick(void *context)
{
    copy_engine *engine = context;
    parapet_status status = ask_whether_to_stop(engine);
    if (status != PARAPET_OK)
        pp_open_chunks_give_up(&engine->open_chunks);
    return status;
}

/* ---- Templates and work units ---- */

static void release_items(copy_engine *engine)
{
    int64_t i;
    for (i = 0; i < engine->job->pass->memory.items; i++)
        pp_copy_item_release(&engine->items[i]);
    engine->open_chunks.pending = 0;
}

static parapet_status run_template(copy_engine *engine)
{
    pp_copy_job *job = engine->job;
    pp_pipeline_job pipeline = {
        .context = engine,
        .next = next_item,
        .produce = fetch,
        .consume = consume,
        .tick = tick,
        .items = engine->items,
        .item_bytes = sizeof engine->items[0],
        .slot_count = (int)job->pass->memory.items,
        .worker_count = job->target->threads,
        .workers = PP_PIPELINE_CONSUMES,
        .pool = job->target->pool,
    };
    parapet_status status = pp_copy_source_begin(&engine->source, &engine->box);
    pp_failure failure = {0};
    if (status != PARAPET_OK)
        return status;
    pp_open_chunks_begin(&engine->open_chunks, &engine->box);
    engine->next = (visit_order){0};
    memcpy(engine->next.cell, engine->source.visits.start, sizeof engine->next.cell);
    engine->told = engine->next;
    engine->told_bytes = 0;
    pp_failure_take(&failure, pp_pipeline_run(&pipeline));
    pp_failure_take(&failure, pp_write_behind_drain(&engine->behind));
    release_items(engine);
    return pp_failure_put(&failure);
}

static int64_t box_bytes(const copy_engine *engine, const pp_box *box)
{
    return pp_box_element_count(box) * (int64_t)engine->job->target->layout->tiling.element_bytes;
}

static parapet_status run_blocks(void *context, const pp_box *blocks)
{
    copy_engine *engine = context;
    engine->box = *blocks;
    return run_template(engine);
}

/* The whole of a template, or the blocks of it that have something stored. */
static parapet_status run_stored(copy_engine *engine)
{
    pp_box box = engine->box;
    parapet_status status;
    if (engine->job->stored == NULL)
        return run_template(engine);
    if ((status = tick(engine)) == PARAPET_OK)
        status = pp_copy_sparse_each(&engine->job->dealing->sparse, engine->job, &box, run_blocks, engine);
    engine->box = box;
    return status;
}

static parapet_status run_templates(copy_engine *engine, int64_t work_unit)
{
    const pp_copy_view *view = engine->job->view;
    const pp_rechunk_pass *pass = engine->job->pass;
    int64_t i, count = pp_rechunk_work_unit_template_count(view->ndim, view->shape, pass, work_unit);
    parapet_status status = PARAPET_OK;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        pp_rechunk_template_box(view->ndim, view->shape, pass, work_unit, i, &engine->box);
        if (i < engine->target.templates_done)
            pp_unit_stealing_skip(engine->job->dealing, box_bytes(engine, &engine->box));
        else if ((status = run_stored(engine)) == PARAPET_OK && i + 1 < count)
            status = pp_copy_target_record(&engine->target, &engine->box);
    }
    return status == PARAPET_OK ? pp_copy_target_finish(&engine->target) : status;
}

static parapet_status run_work_unit(void *context)
{
    copy_engine *engine = context;
    pp_copy_job *job = engine->job;
    int64_t work_unit = engine->work_unit;
    parapet_status status = pp_copy_target_open(&engine->target, job, work_unit);
    if (status == PARAPET_OK && engine->log == NULL)
        status = pp_done_log_open(&engine->log, job->target->store, job->state, job->rank);
    if (status == PARAPET_OK && (status = run_templates(engine, work_unit)) == PARAPET_OK &&
        (status = pp_done_log_add(engine->log, work_unit)) == PARAPET_OK && engine->target.templates_done > 0)
        status = pp_journal_remove(job->target->store, job->state, work_unit);
    pp_copy_target_close(&engine->target);
    return status;
}

/* On the calling thread, while a work unit is done on another one. Progress is told when there is some, and now and
 * then when there is none. */
static void look(void *context)
{
    copy_engine *engine = context;
    pp_copy_job *job = engine->job;
    long long bytes = atomic_load(&job->done_bytes);
    double now = pp_clock_seconds();
    pp_unit_stealing_answer(job->dealing);
    if (engine->stop.status != PARAPET_OK ||
        (bytes == engine->looked_at_bytes && now - engine->looked_at < LOOK_SECONDS))
        return;
    engine->looked_at_bytes = bytes;
    engine->looked_at = now;
    pp_failure_take(&engine->stop, job->tick(job->tick_context));
    atomic_store(&engine->is_stopped, engine->stop.status != PARAPET_OK);
}

static parapet_status run_beside_others(copy_engine *engine)
{
    parapet_status status;
    engine->is_in_thread = true;
    status = pp_run_in_thread(&(pp_thread_work){.context = engine, .work = run_work_unit, .look = look});
    engine->is_in_thread = false;
    return engine->stop.status != PARAPET_OK ? pp_failure_put(&engine->stop) : status;
}

static void skip_work_unit(copy_engine *engine, int64_t work_unit)
{
    const pp_copy_view *view = engine->job->view;
    pp_box box;
    pp_rechunk_work_unit_box(view->ndim, view->shape, engine->job->pass, work_unit, &box);
    pp_unit_stealing_skip(engine->job->dealing, box_bytes(engine, &box));
    engine->job->done.templates_resumed +=
        pp_rechunk_work_unit_template_count(view->ndim, view->shape, engine->job->pass, work_unit);
}

static parapet_status run_work_units(copy_engine *engine)
{
    pp_copy_job *job = engine->job;
    bool is_any, has_others = job->rank_count > 1 && job->target->pool != NULL;
    parapet_status status = PARAPET_OK;
    while (status == PARAPET_OK &&
           (status = pp_unit_stealing_next(job->dealing, &engine->work_unit, &is_any)) == PARAPET_OK && is_any) {
        if (pp_done_units_has(&job->dealing->done, engine->work_unit))
            skip_work_unit(engine, engine->work_unit);
        else
            status = has_others ? run_beside_others(engine) : run_work_unit(engine);
    }
    pp_log_close(engine->log);
    return status;
}

/* ---- The pass ---- */

static parapet_status prepare_items(copy_engine *engine)
{
    const pp_rechunk_memory *sizes = &engine->job->pass->memory;
    parapet_status status = pp_allocate_array(&engine->items, (size_t)sizes->items, sizeof engine->items[0]);
    int64_t i;
    if (status != PARAPET_OK ||
        (status = pp_allocate_array(&engine->visits, (size_t)(sizes->items * sizes->item_chunks),
                                    sizeof engine->visits[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < sizes->items; i++)
        engine->items[i].visits = engine->visits + i * sizes->item_chunks;
    return PARAPET_OK;
}

static parapet_status prepare(copy_engine *engine)
{
    const pp_copy_job *job = engine->job;
    int i;
    parapet_status status =
        pp_open_chunks_init(&engine->open_chunks, job->target, job->pass->memory.chunk_buffers,
                            pp_rechunk_template_chunks(job->view->ndim, job->view->shape, job->pass));
    if (status != PARAPET_OK || (status = prepare_items(engine)) != PARAPET_OK ||
        (status = pp_allocate_array(&engine->workers, (size_t)job->target->threads, sizeof engine->workers[0])) !=
            PARAPET_OK)
        return status;
    for (i = 0; i < job->target->threads && status == PARAPET_OK; i++)
        if ((status = pp_chain_decoder_build(&engine->workers[i].decoder, job->source->layout->chain,
                                             job->target->budget)) == PARAPET_OK)
            status =
                pp_chain_encoder_build(&engine->workers[i].encoder, job->target->layout->chain, job->target->budget);
    return status;
}

static void clear_engine(copy_engine *engine)
{
    int64_t i;
    pp_copy_source_close(&engine->source);
    pp_open_chunks_free(&engine->open_chunks);
    for (i = 0; engine->items != NULL && i < engine->job->pass->memory.items; i++)
        pp_buffer_free(&engine->items[i].buffer);
    for (i = 0; engine->workers != NULL && i < engine->job->target->threads; i++) {
        pp_chain_scratch_free(engine->workers[i].decoder);
        pp_chain_scratch_free(engine->workers[i].encoder);
    }
    pp_free(engine->items);
    pp_free(engine->visits);
    pp_free(engine->workers);
}

static parapet_status run_alone(pp_copy_job *job)
{
    copy_engine engine = {.job = job};
    parapet_status status;
    pp_copy_source_init(&engine.source, job);
    pp_counters_plan(job->target->counters, (size_t)job->pass->memory.memory_bytes);
    if ((status = prepare(&engine)) == PARAPET_OK && job->target->pool != NULL)
        status = pp_write_behind_start(&engine.behind, &engine.open_chunks, &engine.target);
    if (status == PARAPET_OK)
        status = run_work_units(&engine);
    pp_write_behind_stop(&engine.behind);
    clear_engine(&engine);
    return status;
}

parapet_status pp_copy_pass_run(pp_copy_job *job)
{
    return job->pass->cooperates ? pp_copy_run_cooperative(job) : run_alone(job);
}
