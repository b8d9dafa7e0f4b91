#include "copy/target.h"

#include <string.h>

#include "base/status.h"
#include "codec/crc32c.h"
#include "copy/verify_resumed.h"

static const pp_transfer_context *context_of(const pp_copy_target *target)
{
    return target->job->target;
}

static int64_t chunks_per_shard(const pp_copy_target *target)
{
    return context_of(target)->layout->tiling.chunks.cell_count;
}

/* An unsharded array has one shard per chunk: too many to keep, and each is finished with its chunk. */
static bool keeps_shards(const pp_copy_target *target)
{
    return context_of(target)->layout->is_sharded;
}

static parapet_status build_shard(const pp_copy_target *target, int64_t number, pp_shard_build **build)
{
    parapet_status status = pp_shard_build_create(build, context_of(target), number, false);
    if (status != PARAPET_OK)
        return status;
    (*build)->staging = target->job->state;
    (*build)->buffer_bytes = (size_t)target->job->pass->memory.writer_bytes;
    return PARAPET_OK;
}

static int64_t number_of(const pp_copy_target *target, int64_t index)
{
    int64_t cell[PARAPET_MAX_NDIM];
    int d;
    for (d = target->cells.ndim - 1; d >= 0; d--) {
        cell[d] = target->cells.start[d] + index % target->cells.count[d];
        index /= target->cells.count[d];
    }
    return pp_grid_cell_number(&context_of(target)->layout->tiling.shards, cell);
}

static parapet_status build_shards(pp_copy_target *target)
{
    size_t count = (size_t)target->shard_count, chunks = (size_t)chunks_per_shard(target);
    size_t bytes = count * chunks * sizeof(uint32_t);
    parapet_status status = pp_budget_reserve(context_of(target)->budget, bytes, "checksums of new chunks");
    size_t i;
    if (status != PARAPET_OK)
        return status;
    target->reserved_bytes = bytes;
    if ((status = pp_allocate_array(&target->shards, count, sizeof target->shards[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        if ((status = build_shard(target, number_of(target, (int64_t)i), &target->shards[i].build)) == PARAPET_OK)
            status = pp_allocate_array(&target->shards[i].checksums, chunks, sizeof(uint32_t));
    return status;
}

static pp_copy_shard *find_shard(pp_copy_target *target, int64_t number)
{
    int64_t cell[PARAPET_MAX_NDIM], index = 0;
    int d;
    pp_grid_cell_position(&context_of(target)->layout->tiling.shards, number, cell);
    for (d = 0; d < target->cells.ndim; d++) {
        int64_t inside = cell[d] - target->cells.start[d];
        if (inside < 0 || inside >= target->cells.count[d])
            return NULL;
        index = index * target->cells.count[d] + inside;
    }
    return &target->shards[index];
}

/* ---- Taking up a work unit ---- */

static parapet_status refuse_journal(const pp_copy_target *target)
{
    return pp_fail(
        PARAPET_ERR_CORRUPT,
        "the journal of work unit %lld lists chunks that do not exist; start again with overwrite instead of resume",
        (long long)target->work_unit);
}

static parapet_status adopt_shard(void *context, int64_t template_number, const pp_journal_shard *told)
{
    pp_copy_target *target = context;
    pp_copy_shard *shard;
    (void)template_number;
    if (!keeps_shards(target) || told->shard < 0 ||
        told->shard >= context_of(target)->layout->tiling.shards.cell_count ||
        (shard = find_shard(target, told->shard)) == NULL || told->bytes < shard->durable_bytes)
        return refuse_journal(target);
    shard->durable_bytes = told->bytes;
    return PARAPET_OK;
}

static parapet_status adopt_chunk(void *context, const pp_journal_shard *told, const pp_journal_chunk *chunk)
{
    pp_copy_target *target = context;
    pp_copy_shard *shard = find_shard(target, told->shard);
    if (chunk->chunk < 0 || chunk->chunk >= chunks_per_shard(target) || chunk->entry.bytes > told->bytes ||
        chunk->entry.offset > told->bytes - chunk->entry.bytes)
        return refuse_journal(target);
    shard->build->entries[chunk->chunk] = chunk->entry;
    shard->checksums[chunk->chunk] = chunk->crc32c;
    return PARAPET_OK;
}

static parapet_status is_visible(const pp_copy_target *target, const pp_copy_shard *shard, bool *answer)
{
    const pp_transfer_context *context = context_of(target);
    pp_reader *reader = NULL;
    char *key = NULL;
    parapet_status status = pp_layout_key(context->layout, context->path, shard->build->number, &key);
    if (status == PARAPET_OK)
        status = pp_store_open_object(context->store, key, &reader);
    *answer = status == PARAPET_OK;
    pp_reader_free(reader);
    pp_free(key);
    return pp_accept_absence(status);
}

/* The crash may have come between making one shard of the work unit visible and the next. */
static parapet_status resume_shard(const pp_copy_target *target, pp_copy_shard *shard)
{
    parapet_status status;
    if (shard->durable_bytes == 0)
        return PARAPET_OK;
    status = pp_shard_build_resume(shard->build, context_of(target), shard->durable_bytes);
    if (status == PARAPET_OK)
        return pp_copy_shard_verify_resumed(target, shard);
    if (status != PARAPET_ERR_NOT_FOUND)
        return status;
    if ((status = is_visible(target, shard, &shard->is_published)) != PARAPET_OK)
        return status;
    return shard->is_published ? PARAPET_OK : refuse_journal(target);
}

static parapet_status take_up(pp_copy_target *target)
{
    pp_copy_job *job = target->job;
    const pp_grid *array = &context_of(target)->layout->tiling.shards;
    int64_t templates = pp_rechunk_work_unit_template_count(array->ndim, array->shape, job->pass, target->work_unit);
    int64_t shards = keeps_shards(target) ? target->shard_count : 0, i;
    pp_journal_reader reader = {.context = target,
                                .most_bytes = pp_journal_record_most(shards, shards * chunks_per_shard(target)),
                                .most_templates = templates - 1, /* the last is not recorded */
                                .shard = adopt_shard,
                                .chunk = adopt_chunk};
    parapet_status status = pp_journal_read(context_of(target)->store, job->state, target->work_unit, &reader,
                                            &target->templates_done, &target->journal_bytes);
    for (i = 0; i < shards && status == PARAPET_OK; i++)
        status = resume_shard(target, &target->shards[i]);
    job->done.templates_resumed += target->templates_done;
    return status;
}

parapet_status pp_copy_target_open(pp_copy_target *target, pp_copy_job *job, int64_t work_unit)
{
    const pp_layout *layout = job->target->layout;
    parapet_status status = PARAPET_OK;
    pp_box box;
    *target = (pp_copy_target){.job = job, .work_unit = work_unit};
    (void)pthread_mutex_init(&target->lock, NULL);
    target->has_holes = job->origin != NULL;
    pp_copy_source_init(&target->origin, job->origin != NULL ? job->origin : job);
    pp_rechunk_work_unit_box(layout->tiling.shards.ndim, layout->tiling.shards.shape, job->pass, work_unit, &box);
    pp_grid_cells_of_box(&layout->tiling.shards, &box, &target->cells);
    target->shard_count = pp_box_element_count(&target->cells);
    if (keeps_shards(target))
        status = build_shards(target);
    return status == PARAPET_OK ? take_up(target) : status;
}

/* ---- Appending ---- */

parapet_status pp_copy_target_wants(pp_copy_target *target, const int64_t *cell, bool *wants)
{
    const pp_layout *layout = context_of(target)->layout;
    pp_box box, array = {.ndim = layout->tiling.shards.ndim};
    parapet_status status;
    int d;
    *wants = true;
    if (!target->has_holes)
        return PARAPET_OK;
    for (d = 0; d < array.ndim; d++)
        array.count[d] = layout->tiling.shards.shape[d];
    pp_tiling_whole_box_at(&layout->tiling, cell, &box);
    (void)pp_box_intersect(&box, &array, &box);
    (void)pthread_mutex_lock(&target->lock);
    status = pp_copy_source_has_some(&target->origin, &box, wants);
    (void)pthread_mutex_unlock(&target->lock);
    return status;
}

static parapet_status publish_chunk(pp_copy_target *target, int64_t number, pp_bytes encoded)
{
    const pp_transfer_context *context = context_of(target);
    pp_shard_build *build = NULL;
    pp_staged staged = {0};
    parapet_status status;
    if ((status = build_shard(target, number, &build)) == PARAPET_OK &&
        (status = pp_shard_build_append(build, context, 0, encoded)) == PARAPET_OK &&
        (status = pp_shard_build_finish(build, context, &staged)) == PARAPET_OK &&
        (status = pp_writer_publish(staged.writers[0], PP_PUBLISH_REPLACE)) == PARAPET_OK) {
        context->counters->objects_written += 1;
        target->job->done.shards_written += 1;
    }
    pp_staged_clear(&staged);
    pp_shard_build_free(build, context);
    return status;
}

uint32_t pp_copy_target_checksum(const pp_copy_target *target, pp_bytes encoded)
{
    return keeps_shards(target) ? pp_crc32c(0, encoded.data, encoded.bytes) : 0;
}

static parapet_status append_chunk(pp_copy_target *target, const int64_t *cell, pp_bytes encoded, uint32_t checksum)
{
    int64_t number, chunk;
    pp_copy_shard *shard;
    pp_tiling_find_chunk(&context_of(target)->layout->tiling, cell, &number, &chunk);
    if (!keeps_shards(target))
        return publish_chunk(target, number, encoded);
    shard = find_shard(target, number);
    if (shard->is_published)
        return PARAPET_OK;
    shard->checksums[chunk] = checksum;
    return pp_shard_build_append(shard->build, context_of(target), chunk, encoded);
}

parapet_status pp_copy_target_append(pp_copy_target *target, const int64_t *cell, pp_bytes encoded, uint32_t checksum)
{
    parapet_status status;
    (void)pthread_mutex_lock(&target->lock);
    target->job->done.chunks_written += 1;
    target->job->done.written_bytes += (int64_t)pp_chain_decoded_bytes(context_of(target)->layout->chain);
    status = append_chunk(target, cell, encoded, checksum);
    (void)pthread_mutex_unlock(&target->lock);
    return status;
}

/* ---- Recording ---- */

/* Chunks of the shard that the template has, as positions in the shard; some are in every shard that has news. */
static void chunks_in_template(const pp_copy_target *target, const pp_copy_shard *shard, const pp_box *box,
                               pp_box *chunks)
{
    (void)pp_tiling_chunks_touched(&context_of(target)->layout->tiling, shard->build->number, box, chunks);
}

static bool has_news(const pp_copy_shard *shard)
{
    return !shard->is_published && shard->build->writer != NULL && shard->build->writer->bytes > shard->durable_bytes;
}

static int64_t count_stored(const pp_copy_target *target, const pp_copy_shard *shard, const pp_box *chunks)
{
    int64_t cell[PARAPET_MAX_NDIM], count = 0;
    bool more;
    for (more = pp_box_first(chunks, cell); more; more = pp_box_next(chunks, cell))
        count += !pp_chunk_is_absent(
            &shard->build->entries[pp_grid_cell_number(&context_of(target)->layout->tiling.chunks, cell)]);
    return count;
}

static void note_chunks(pp_copy_target *target, const pp_copy_shard *shard, const pp_box *chunks)
{
    int64_t cell[PARAPET_MAX_NDIM];
    bool more;
    for (more = pp_box_first(chunks, cell); more; more = pp_box_next(chunks, cell)) {
        int64_t chunk = pp_grid_cell_number(&context_of(target)->layout->tiling.chunks, cell);
        const pp_chunk_entry *entry = &shard->build->entries[chunk];
        if (!pp_chunk_is_absent(entry))
            pp_journal_record_add_chunk(
                &target->record,
                &(pp_journal_chunk){.chunk = chunk, .entry = *entry, .crc32c = shard->checksums[chunk]});
    }
}

static parapet_status note_shard(pp_copy_target *target, pp_copy_shard *shard, const pp_box *box)
{
    pp_journal_shard told = {.shard = shard->build->number};
    pp_box chunks;
    parapet_status status;
    if (!has_news(shard))
        return PARAPET_OK;
    chunks_in_template(target, shard, box, &chunks);
    if ((status = pp_writer_sync(shard->build->writer)) != PARAPET_OK)
        return status;
    told.bytes = shard->build->writer->bytes;
    told.chunk_count = count_stored(target, shard, &chunks);
    pp_journal_record_add_shard(&target->record, &told);
    note_chunks(target, shard, &chunks);
    shard->durable_bytes = told.bytes;
    return PARAPET_OK;
}

static parapet_status note_shards(pp_copy_target *target, const pp_box *box)
{
    int64_t i, news = 0, chunk_count = 0;
    parapet_status status;
    pp_box chunks;
    for (i = 0; keeps_shards(target) && i < target->shard_count; i++) {
        if (!has_news(&target->shards[i]))
            continue;
        chunks_in_template(target, &target->shards[i], box, &chunks);
        news += 1;
        chunk_count += pp_box_element_count(&chunks);
    }
    status = pp_journal_record_begin(&target->record, target->templates_done, news, chunk_count);
    for (i = 0; keeps_shards(target) && i < target->shard_count && status == PARAPET_OK; i++)
        status = note_shard(target, &target->shards[i], box);
    return status;
}

parapet_status pp_copy_target_record(pp_copy_target *target, const pp_box *box)
{
    pp_store *store = context_of(target)->store;
    parapet_status status = note_shards(target, box);
    if (status == PARAPET_OK && !keeps_shards(target))
        status = pp_store_sync_dirs(store);
    if (status == PARAPET_OK && target->journal == NULL)
        status =
            pp_journal_open(&target->journal, store, target->job->state, target->work_unit, target->journal_bytes);
    if (status == PARAPET_OK && (status = pp_journal_record_write(&target->record, target->journal)) == PARAPET_OK) {
        target->templates_done += 1;
        target->job->done.templates += 1;
    }
    return status;
}

/* ---- The end ---- */

parapet_status pp_copy_target_finish(pp_copy_target *target)
{
    const pp_transfer_context *context = context_of(target);
    pp_staged staged = {0};
    parapet_status status = PARAPET_OK;
    int64_t i;
    for (i = 0; keeps_shards(target) && i < target->shard_count && status == PARAPET_OK; i++) {
        pp_copy_shard *shard = &target->shards[i];
        if (shard->is_published || shard->build->writer == NULL)
            continue;
        status = pp_shard_build_finish(shard->build, context, &staged);
    }
    if (status == PARAPET_OK && (status = pp_staged_publish(context, &staged)) == PARAPET_OK) {
        target->job->done.shards_written += (int64_t)staged.count;
        target->job->done.templates += 1; /* the last one, of which there is no record */
        target->job->done.work_units += 1;
    }
    pp_staged_clear(&staged);
    return status;
}

void pp_copy_target_close(pp_copy_target *target)
{
    int64_t i;
    for (i = 0; target->shards != NULL && i < target->shard_count; i++) {
        pp_copy_shard *shard = &target->shards[i];
        if (shard->build != NULL && shard->build->writer != NULL) {
            pp_writer_suspend(shard->build->writer);
            shard->build->writer = NULL;
        }
        pp_shard_build_free(shard->build, context_of(target));
        pp_free(shard->checksums);
    }
    pp_free(target->shards);
    pp_budget_release(context_of(target)->budget, target->reserved_bytes);
    pp_copy_source_close(&target->origin);
    pp_log_close(target->journal);
    pp_journal_record_free(&target->record);
    (void)pthread_mutex_destroy(&target->lock);
}
