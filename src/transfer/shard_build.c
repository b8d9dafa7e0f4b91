#include "transfer/shard_build.h"

#include "base/checked.h"
#include "base/status.h"
#include "change/registry.h"
#include "codec/crc32c.h"

static parapet_status reserve_entries(pp_shard_build *build, const pp_transfer_context *context)
{
    size_t i, count = (size_t)context->layout->tiling.chunks.cell_count;
    size_t bytes = count * sizeof build->entries[0];
    parapet_status status = pp_budget_reserve(context->budget, bytes, "shard indexes");
    if (status != PARAPET_OK)
        return status;
    build->reserved_bytes = bytes;
    if ((status = pp_allocate_array(&build->entries, count, sizeof build->entries[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < count; i++)
        build->entries[i] = (pp_chunk_entry){PP_CHUNK_ABSENT, PP_CHUNK_ABSENT};
    return PARAPET_OK;
}

parapet_status pp_shard_build_create(pp_shard_build **build, const pp_transfer_context *context, int64_t number,
                                     bool needs_old)
{
    parapet_status status = pp_allocate(build, sizeof **build);
    if (status != PARAPET_OK)
        return status;
    (*build)->number = number;
    (*build)->sink = pp_storage_sink;
    if ((status = reserve_entries(*build, context)) != PARAPET_OK || !needs_old)
        return status;
    (*build)->is_old_open = true;
    return pp_shard_open(context, number, &(*build)->old);
}

void pp_shard_build_free(pp_shard_build *build, const pp_transfer_context *context)
{
    if (build == NULL)
        return;
    build->sink.discard(build);
    if (build->is_old_open)
        pp_shard_close(&build->old);
    pp_free(build->entries);
    pp_shard_tally_clear(&build->tally);
    pp_budget_release(context->budget, build->reserved_bytes);
    pp_free(build);
}

static uint64_t bound_of_shard(const pp_layout *layout)
{
    int64_t bound;
    if (!pp_multiply_fits((int64_t)pp_chain_encoded_bound(layout->chain), layout->tiling.chunks.cell_count, &bound))
        return 0;
    return (uint64_t)bound + (layout->is_sharded ? pp_index_stored_bytes(&layout->index) : 0);
}

size_t pp_shard_build_list_bytes(const pp_layout *layout, bool needs_old)
{
    return (size_t)layout->tiling.chunks.cell_count * sizeof(pp_chunk_entry) * (needs_old ? 2 : 1);
}

static size_t buffer_within_shard(const pp_layout *layout, size_t wanted)
{
    uint64_t bound = bound_of_shard(layout);
    return pp_align_up(bound > 0 && bound < wanted ? (size_t)bound : wanted, PP_PAGE_BYTES);
}

size_t pp_shard_build_write_bytes(const pp_layout *layout)
{
    size_t index = layout->is_sharded ? pp_index_stored_bytes(&layout->index) : 0;
    return buffer_within_shard(layout, PP_LEAST_WRITE_BUFFER_BYTES) + pp_align_up(index, PP_PAGE_BYTES);
}

size_t pp_shard_build_writer_bytes(const pp_layout *layout, bool has_threads)
{
    return buffer_within_shard(layout, has_threads ? 2 * PP_WRITE_PIECE_BYTES : PP_WRITE_PIECE_BYTES);
}

/* Who opens a writer, anew or where an earlier run left it. */
typedef parapet_status (*writer_opener)(const pp_transfer_context *context, const pp_write_request *request,
                                        uint64_t bytes, pp_writer **writer);

static parapet_status begin_writer(const pp_transfer_context *context, const pp_write_request *request,
                                   uint64_t bytes, pp_writer **writer)
{
    (void)bytes;
    return pp_store_begin(context->store, request, writer);
}

static parapet_status resume_writer(const pp_transfer_context *context, const pp_write_request *request,
                                    uint64_t bytes, pp_writer **writer)
{
    return pp_store_resume(context->store, request, bytes, writer);
}

parapet_status pp_shard_build_name(const pp_shard_build *build, char **name)
{
    pp_text text = {0};
    pp_text_add(&text, "shard-%lld", (long long)build->number);
    return pp_text_finish(&text, name);
}

/* Temporary names lie below the array, where no Zarr reader looks. */
static parapet_status place_temporary(const pp_shard_build *build, const pp_transfer_context *context, char **staging,
                                      char **name)
{
    parapet_status status;
    if (build->staging == NULL)
        return pp_own_key(context->path, PP_OWN_TEMPORARIES, staging);
    if ((status = pp_text_duplicate(staging, build->staging)) != PARAPET_OK)
        return status;
    return pp_shard_build_name(build, name);
}

static parapet_status open_writer(pp_shard_build *build, const pp_transfer_context *context, writer_opener open,
                                  uint64_t bytes)
{
    char *key = NULL, *staging = NULL, *name = NULL;
    parapet_status status;
    if ((status = place_temporary(build, context, &staging, &name)) == PARAPET_OK &&
        (status = pp_layout_key(context->layout, context->path, build->number, &key)) == PARAPET_OK)
        status = open(context,
                      &(pp_write_request){
                          .key = key,
                          .staging = staging,
                          .name = name,
                          .bound_bytes = bound_of_shard(context->layout),
                          .budget = context->budget,
                          .buffer_bytes = build->buffer_bytes,
                          .pool = context->pool,
                      },
                      bytes, &build->writer);
    pp_free(key);
    pp_free(staging);
    pp_free(name);
    return status;
}

parapet_status pp_shard_build_resume(pp_shard_build *build, const pp_transfer_context *context, uint64_t bytes)
{
    return open_writer(build, context, resume_writer, bytes);
}

static parapet_status append(pp_shard_build *build, const pp_transfer_context *context, const void *data,
                             size_t bytes)
{
    parapet_status status = PARAPET_OK;
    if (build->writer == NULL && (status = open_writer(build, context, begin_writer, 0)) != PARAPET_OK)
        return status;
    if ((status = pp_writer_append(build->writer, data, bytes)) != PARAPET_OK)
        return status;
    context->counters->written_bytes += (int64_t)bytes;
    return PARAPET_OK;
}

void pp_shard_build_describe(pp_shard_build *build)
{
    build->is_described = true;
}

static parapet_status append_stored(pp_shard_build *build, const pp_transfer_context *context, int64_t chunk,
                                    pp_bytes encoded)
{
    uint64_t offset = build->writer != NULL ? build->writer->bytes : 0;
    parapet_status status;
    if ((status = append(build, context, encoded.data, encoded.bytes)) != PARAPET_OK || chunk == PP_CACHE_INDEX)
        return status;
    build->entries[chunk] = (pp_chunk_entry){.offset = offset, .bytes = encoded.bytes};
    return build->is_described ? pp_shard_tally_add(&build->tally, context->layout->chain, encoded) : PARAPET_OK;
}

parapet_status pp_shard_build_append(pp_shard_build *build, const pp_transfer_context *context, int64_t chunk,
                                     pp_bytes encoded)
{
    return build->sink.append(build, context, chunk, encoded);
}

static parapet_status append_index(pp_shard_build *build, const pp_transfer_context *context)
{
    const pp_index_format *format = &context->layout->index;
    size_t bytes = pp_index_stored_bytes(format);
    pp_buffer stored = {0};
    parapet_status status = pp_buffer_init(&stored, context->budget, bytes, "shard indexes");
    if (status != PARAPET_OK)
        return status;
    pp_index_encode(format, build->entries, stored.data);
    build->index_crc32c = pp_crc32c(0, stored.data, bytes - (format->has_crc32c ? 4 : 0));
    status = build->sink.append(build, context, PP_CACHE_INDEX, (pp_bytes){stored.data, bytes});
    pp_buffer_free(&stored);
    return status;
}

static parapet_status make_room(pp_staged *staged)
{
    size_t capacity = pp_max_size(16, 2 * staged->capacity);
    parapet_status status;
    if (staged->count < staged->capacity)
        return PARAPET_OK;
    if ((status = pp_reallocate(&staged->writers, capacity * sizeof staged->writers[0])) != PARAPET_OK ||
        (status = pp_reallocate(&staged->notes, capacity * sizeof staged->notes[0])) != PARAPET_OK)
        return status;
    staged->capacity = capacity;
    return PARAPET_OK;
}

static pp_staged_note note_of(pp_shard_build *build)
{
    pp_staged_note note = {.target = build->target,
                           .shard = build->number,
                           .record = {.bytes = PP_SHARD_ABSENT},
                           .draft = build->draft,
                           .keeps_old = build->is_old_open && !build->old.replaces_object,
                           .old_version = build->old.reader != NULL ? build->old.reader->version : 0};
    if (!build->is_described || build->tally.is_incomplete)
        return note;
    note.record = (pp_shard_record){.bytes = build->writer->bytes, .index_crc32c = build->index_crc32c};
    pp_shard_tally_finish(&build->tally, &note.record);
    return note;
}

static parapet_status finish_stored(pp_shard_build *build, const pp_transfer_context *context, pp_staged *staged)
{
    parapet_status status;
    if (context->layout->is_sharded && (status = append_index(build, context)) != PARAPET_OK)
        return status;
    if (build->writer == NULL)
        return PARAPET_OK;
    if ((status = pp_writer_stage(build->writer)) != PARAPET_OK || (status = make_room(staged)) != PARAPET_OK)
        return status;
    staged->notes[staged->count] = note_of(build);
    staged->writers[staged->count++] = build->writer;
    build->writer = NULL;
    return PARAPET_OK;
}

static void discard_stored(pp_shard_build *build)
{
    pp_writer_free(build->writer);
}

const pp_sink pp_storage_sink = {.append = append_stored, .finish = finish_stored, .discard = discard_stored};

parapet_status pp_shard_build_finish(pp_shard_build *build, const pp_transfer_context *context, pp_staged *staged)
{
    return build->sink.finish(build, context, staged);
}

static parapet_status check_note(const pp_transfer_context *context, const pp_staged_note *note)
{
    char *key = NULL;
    uint64_t version;
    parapet_status status = pp_shard_read_version(context, note->shard, &key, &version);
    if (status == PARAPET_OK && version != note->old_version)
        status =
            pp_fail(PARAPET_ERR_STALE,
                    "another job has written %s since this call began; nothing was written, repeat the call", key);
    pp_free(key);
    return status;
}

parapet_status pp_staged_check(const pp_transfer_context *contexts, const pp_staged *staged)
{
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < staged->count && status == PARAPET_OK; i++)
        if (staged->notes[i].keeps_old)
            status = check_note(&contexts[staged->notes[i].target], &staged->notes[i]);
    return status;
}

parapet_status pp_staged_show(const pp_transfer_context *context, pp_staged *staged)
{
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < staged->count && status == PARAPET_OK; i++)
        if ((status = pp_writer_publish(staged->writers[i], PP_PUBLISH_REPLACE)) == PARAPET_OK)
            context->counters->objects_written += 1;
    return status;
}

parapet_status pp_staged_publish(const pp_transfer_context *context, pp_staged *staged)
{
    parapet_status status = pp_staged_show(context, staged);
    return status == PARAPET_OK ? pp_store_sync_dirs(context->store) : status;
}

void pp_staged_note_outcome(const pp_transfer_context *contexts, pp_staged *staged, bool is_published)
{
    size_t i;
    for (i = 0; i < staged->count; i++) {
        const pp_transfer_context *context = &contexts[staged->notes[i].target];
        context->layer->note_outcome(context, &staged->notes[i], staged->writers[i]->version, is_published);
    }
    for (i = 0; i < staged->delay_count && is_published; i++)
        pp_write_back_commit(staged->delays[i]);
    staged->delay_count = is_published ? 0 : staged->delay_count;
}

void pp_staged_clear(pp_staged *staged)
{
    size_t i;
    for (i = 0; i < staged->count; i++) {
        pp_writer_free(staged->writers[i]);
        pp_shard_record_clear(&staged->notes[i].record);
    }
    for (i = 0; i < staged->delay_count; i++)
        pp_write_back_discard(staged->delays[i]);
    pp_free(staged->delays);
    pp_free(staged->writers);
    pp_free(staged->notes);
    *staged = (pp_staged){0};
}
