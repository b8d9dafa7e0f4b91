#include "transfer/shard.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/status.h"
#include "codec/crc32c.h"

/* Less than what goes round the page cache. */
#define SHARED_PIECE_BYTES (PP_DIRECT_READ_BYTES / 2)

bool pp_shard_has_chunk(const pp_shard *shard, int64_t chunk)
{
    return shard->entries != NULL && !pp_chunk_is_absent(&shard->entries[chunk]);
}

pp_chunk_place pp_shard_find(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk)
{
    return shard->layer->find(context, shard, chunk);
}

static parapet_status read_stored(const pp_transfer_context *context, const pp_shard *shard, uint64_t offset,
                                  size_t bytes, void *target)
{
    parapet_status status;
    if ((status = pp_reader_read(shard->reader, offset, bytes, target)) != PARAPET_OK)
        return status;
    context->counters->read_bytes += (int64_t)bytes;
    context->counters->read_requests += 1;
    return PARAPET_OK;
}

/* In pieces that do not go round the page cache. If there are several, storage is told of all of them first. */
static parapet_status read_shared(const pp_transfer_context *context, const pp_shard *shard, uint64_t offset,
                                  size_t bytes, unsigned char *target)
{
    parapet_status status = PARAPET_OK;
    size_t done;
    for (done = 0; done < bytes && bytes > SHARED_PIECE_BYTES; done += SHARED_PIECE_BYTES)
        pp_reader_expect(shard->reader, offset + done, pp_min_size(bytes - done, SHARED_PIECE_BYTES));
    for (done = 0; done < bytes && status == PARAPET_OK; done += SHARED_PIECE_BYTES)
        status =
            read_stored(context, shard, offset + done, pp_min_size(bytes - done, SHARED_PIECE_BYTES), target + done);
    return status;
}

parapet_status pp_shard_read(const pp_transfer_context *context, const pp_shard *shard, uint64_t offset, size_t bytes,
                             void *target)
{
    return shard->is_shared ? read_shared(context, shard, offset, bytes, target)
                            : read_stored(context, shard, offset, bytes, target);
}

parapet_status pp_shard_check_chunk_bytes(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk)
{
    /* Other encoders may stay further from the optimum than ours, but not without limit. */
    uint64_t most = 2 * (uint64_t)pp_chain_encoded_bound(context->layout->chain) + (64 << 10);
    uint64_t bytes = shard->entries[chunk].bytes;
    if (bytes > most)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s: chunk %lld takes %llu bytes, but decodes to %zu", shard->key,
                       (long long)chunk, (unsigned long long)bytes, pp_chain_decoded_bytes(context->layout->chain));
    return PARAPET_OK;
}

static parapet_status reserve_entries(const pp_transfer_context *context, pp_shard *shard)
{
    size_t count = (size_t)context->layout->tiling.chunks.cell_count;
    size_t bytes = count * sizeof shard->entries[0];
    parapet_status status = pp_budget_reserve(context->budget, bytes, "shard indexes");
    if (status != PARAPET_OK)
        return status;
    shard->budget = context->budget;
    shard->reserved_bytes = bytes;
    return pp_allocate_array(&shard->entries, count, sizeof shard->entries[0]);
}

static parapet_status read_index(const pp_transfer_context *context, pp_shard *shard)
{
    const pp_index_format *format = &context->layout->index;
    size_t bytes = pp_index_stored_bytes(format);
    uint64_t object_bytes = shard->reader->bytes, offset = format->is_at_start ? 0 : object_bytes - bytes;
    pp_buffer stored = {0};
    parapet_status status;
    if (object_bytes < bytes)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s has %llu bytes, less than its index of %zu", shard->key,
                       (unsigned long long)object_bytes, bytes);
    if ((status = reserve_entries(context, shard)) != PARAPET_OK ||
        (status = pp_buffer_init(&stored, context->budget, bytes, "shard indexes")) != PARAPET_OK ||
        (status = shard->layer->read_index(context, shard, offset, bytes, stored.data)) != PARAPET_OK)
        goto done;
    /* Without its own checksum: the CRC-32C of bytes and their CRC-32C is the same number for all of them. */
    shard->index_crc32c = pp_crc32c(0, stored.data, bytes - (format->has_crc32c ? 4 : 0));
    if ((status = pp_index_decode(format, stored.data, object_bytes, shard->entries)) != PARAPET_OK)
        status = pp_fail_within(status, "%s", shard->key);
done:
    pp_buffer_free(&stored);
    return status;
}

static parapet_status list_single_chunk(const pp_transfer_context *context, pp_shard *shard)
{
    parapet_status status = reserve_entries(context, shard);
    if (status == PARAPET_OK)
        shard->entries[0] = (pp_chunk_entry){.offset = 0, .bytes = shard->reader->bytes};
    return status;
}

/* Checksums that storage is told of ahead of the one that is read: they lie all over the shard, and one by one they
 * would take as long as the chunks. */
#define CHECKSUMS_AHEAD 64

/* What checksums are computed from where they are not stored. */
#define DESCRIBE_BYTES ((size_t)256 << 10)

static void expect_checksum(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk)
{
    const pp_chunk_entry *entry;
    if (chunk >= context->layout->tiling.chunks.cell_count || !pp_shard_has_chunk(shard, chunk))
        return;
    entry = &shard->entries[chunk];
    if (entry->bytes >= 4)
        pp_reader_expect(shard->reader, entry->offset + entry->bytes - 4, 4);
}

/* The CRC-32C of an encoded chunk without its own: stored behind it, or computed piece by piece. */
static parapet_status read_chunk_crc32c(const pp_transfer_context *context, const pp_shard *shard,
                                        const pp_chunk_entry *entry, pp_buffer *buffer, uint32_t *crc)
{
    uint64_t done = 0;
    unsigned char stored[4];
    parapet_status status;
    *crc = 0;
    if (pp_chain_ends_in_crc32c(context->layout->chain)) {
        if (entry->bytes < sizeof stored)
            return pp_fail(PARAPET_ERR_CORRUPT, "%s has a chunk of %llu bytes, less than its checksum", shard->key,
                           (unsigned long long)entry->bytes);
        status = pp_shard_read(context, shard, entry->offset + entry->bytes - 4, 4, stored);
        *crc = status == PARAPET_OK ? pp_load_u32le(stored) : 0;
        return status;
    }
    while (done < entry->bytes) {
        size_t piece = entry->bytes - done < buffer->capacity ? (size_t)(entry->bytes - done) : buffer->capacity;
        if ((status = pp_shard_read(context, shard, entry->offset + done, piece, buffer->data)) != PARAPET_OK)
            return status;
        *crc = pp_crc32c(*crc, buffer->data, piece);
        done += piece;
    }
    return PARAPET_OK;
}

static parapet_status add_checksum(pp_shard_tally *tally, uint32_t crc32c)
{
    uint32_t capacity = tally->capacity < 8 ? 8 : (uint32_t)pp_min_u64(UINT32_MAX, 2 * (uint64_t)tally->capacity);
    parapet_status status;
    if (tally->chunk_count == tally->capacity) {
        status = pp_reallocate(&tally->checksums, (size_t)capacity * sizeof tally->checksums[0]);
        if (status != PARAPET_OK)
            return status;
        tally->capacity = capacity;
    }
    tally->checksums[tally->chunk_count++] = crc32c;
    return PARAPET_OK;
}

/* false: too short for the checksum that it should end in. */
static bool find_crc32c(const pp_chain *chain, pp_bytes encoded, uint32_t *crc32c)
{
    if (!pp_chain_ends_in_crc32c(chain)) {
        *crc32c = pp_crc32c(0, encoded.data, encoded.bytes);
        return true;
    }
    if (encoded.bytes < 4)
        return false;
    *crc32c = pp_load_u32le(encoded.data + encoded.bytes - 4);
    return true;
}

parapet_status pp_shard_tally_add(pp_shard_tally *tally, const pp_chain *chain, pp_bytes encoded)
{
    uint32_t crc32c;
    if (find_crc32c(chain, encoded, &crc32c))
        return add_checksum(tally, crc32c);
    tally->is_incomplete = true;
    return PARAPET_OK;
}

void pp_shard_tally_finish(pp_shard_tally *tally, pp_shard_record *record)
{
    record->chunk_count = tally->chunk_count;
    record->checksums = tally->checksums;
    *tally = (pp_shard_tally){0};
}

void pp_shard_tally_clear(pp_shard_tally *tally)
{
    pp_free(tally->checksums);
    *tally = (pp_shard_tally){0};
}

void pp_shard_record_clear(pp_shard_record *record)
{
    pp_free(record->checksums);
    *record = (pp_shard_record){.bytes = PP_SHARD_ABSENT};
}

/* What is done with the CRC-32C of each chunk that is stored. */
typedef parapet_status (*checksum_visitor)(void *subject, const pp_shard *shard, int64_t chunk, uint32_t crc32c);

static parapet_status visit_checksums(const pp_transfer_context *context, const pp_shard *shard,
                                      checksum_visitor visit, void *subject)
{
    bool is_stored = pp_chain_ends_in_crc32c(context->layout->chain);
    pp_buffer buffer = {0};
    parapet_status status = PARAPET_OK;
    int64_t chunk;
    uint32_t crc32c;
    if (!is_stored &&
        (status = pp_buffer_init(&buffer, context->budget, DESCRIBE_BYTES, "checksum buffers")) != PARAPET_OK)
        return status;
    for (chunk = 0; is_stored && chunk < CHECKSUMS_AHEAD; chunk++)
        expect_checksum(context, shard, chunk);
    for (chunk = 0; chunk < context->layout->tiling.chunks.cell_count && status == PARAPET_OK; chunk++) {
        if (is_stored)
            expect_checksum(context, shard, chunk + CHECKSUMS_AHEAD);
        if (pp_shard_has_chunk(shard, chunk) &&
            (status = read_chunk_crc32c(context, shard, &shard->entries[chunk], &buffer, &crc32c)) == PARAPET_OK)
            status = visit(subject, shard, chunk, crc32c);
    }
    pp_buffer_free(&buffer);
    return status;
}

static parapet_status note_checksum(void *tally, const pp_shard *shard, int64_t chunk, uint32_t crc32c)
{
    (void)shard;
    (void)chunk;
    return add_checksum(tally, crc32c);
}

parapet_status pp_shard_describe(const pp_transfer_context *context, const pp_shard *shard, pp_shard_record *record)
{
    pp_shard_tally tally = {0};
    parapet_status status;
    *record = (pp_shard_record){.bytes = PP_SHARD_ABSENT};
    if (shard->reader == NULL)
        return PARAPET_OK;
    if ((status = visit_checksums(context, shard, note_checksum, &tally)) != PARAPET_OK) {
        pp_shard_tally_clear(&tally);
        return status;
    }
    *record = (pp_shard_record){.bytes = shard->reader->bytes, .index_crc32c = shard->index_crc32c};
    pp_shard_tally_finish(&tally, record);
    return PARAPET_OK;
}

parapet_status pp_shard_compare(const pp_shard *shard, const pp_shard_record *sealed)
{
    if (shard->reader == NULL)
        return sealed->bytes == PP_SHARD_ABSENT
                   ? PARAPET_OK
                   : pp_fail(PARAPET_ERR_MISSING, "%s is missing: the array was sealed with it", shard->key);
    if (sealed->bytes == PP_SHARD_ABSENT)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s was not there when the array was sealed", shard->key);
    if (sealed->bytes != shard->reader->bytes || sealed->index_crc32c != shard->index_crc32c)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s is not the shard that was sealed: its %s differ", shard->key,
                       sealed->bytes != shard->reader->bytes ? "lengths" : "indexes");
    return PARAPET_OK;
}

/* ---- Comparing chunks with the seal ---- */

/* Of a chunk that waits to be written, the seal knows nothing. */
static bool is_sealed(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk)
{
    return shard->checksums != NULL && pp_shard_find(context, shard, chunk) != PP_WAITING;
}

parapet_status pp_shard_verify_crc32c(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk,
                                      uint32_t crc32c)
{
    if (!is_sealed(context, shard, chunk) || shard->checksums[chunk] == crc32c)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_CORRUPT, "%s is not the shard that was sealed: the contents of chunk %lld differ",
                   shard->key, (long long)chunk);
}

parapet_status pp_shard_verify_chunk(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk,
                                     pp_bytes encoded)
{
    uint32_t crc32c;
    if (!is_sealed(context, shard, chunk))
        return PARAPET_OK;
    if (!find_crc32c(context->layout->chain, encoded, &crc32c))
        return pp_fail(PARAPET_ERR_CORRUPT, "%s has a chunk of %zu bytes, less than its checksum", shard->key,
                       encoded.bytes);
    return pp_shard_verify_crc32c(context, shard, chunk, crc32c);
}

static parapet_status verify_visited(void *subject, const pp_shard *shard, int64_t chunk, uint32_t crc32c)
{
    const pp_transfer_context *const *context = subject;
    return pp_shard_verify_crc32c(*context, shard, chunk, crc32c);
}

parapet_status pp_shard_verify_all(const pp_transfer_context *context, const pp_shard *shard)
{
    return shard->checksums == NULL ? PARAPET_OK : visit_checksums(context, shard, verify_visited, &context);
}

static parapet_status reserve_checksums(const pp_transfer_context *context, pp_shard *shard)
{
    size_t count = (size_t)context->layout->tiling.chunks.cell_count;
    size_t bytes = count * sizeof shard->checksums[0];
    parapet_status status = pp_budget_reserve(context->budget, bytes, "checksums of a seal");
    if (status != PARAPET_OK)
        return status;
    shard->reserved_bytes += bytes;
    return pp_allocate_array(&shard->checksums, count, sizeof shard->checksums[0]);
}

/* One for each chunk of the index, which is the one that was sealed. */
static parapet_status take_checksums(const pp_transfer_context *context, pp_shard *shard,
                                     const pp_shard_record *sealed)
{
    uint32_t taken = 0;
    int64_t chunk;
    parapet_status status = reserve_checksums(context, shard);
    if (status != PARAPET_OK)
        return status;
    for (chunk = 0; chunk < context->layout->tiling.chunks.cell_count; chunk++) {
        if (!pp_shard_has_chunk(shard, chunk))
            continue;
        shard->checksums[chunk] = taken < sealed->chunk_count ? sealed->checksums[taken] : 0;
        taken++;
    }
    if (taken != sealed->chunk_count)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s is not the shard that was sealed: it has %u chunks instead of %u",
                       shard->key, taken, sealed->chunk_count);
    return PARAPET_OK;
}

/* A shard that is compared with the seal. */
typedef struct comparison {
    const pp_transfer_context *context;
    pp_shard *shard;
} comparison;

static parapet_status compare_with_seal(void *subject, const pp_shard_record *sealed)
{
    const comparison *job = subject;
    parapet_status status = pp_shard_compare(job->shard, sealed);
    return status == PARAPET_OK && job->shard->reader != NULL ? take_checksums(job->context, job->shard, sealed)
                                                              : status;
}

static parapet_status check_seal(const pp_transfer_context *context, pp_shard *shard)
{
    comparison job = {context, shard};
    return context->seal != NULL ? context->seal(context->seal_context, shard->number, compare_with_seal, &job)
                                 : PARAPET_OK;
}

parapet_status pp_shard_read_version(const pp_transfer_context *context, int64_t number, char **key,
                                     uint64_t *version)
{
    parapet_status status = pp_layout_key(context->layout, context->path, number, key);
    return status == PARAPET_OK ? pp_store_version(context->store, *key, version) : status;
}

parapet_status pp_shard_open_reader(const pp_transfer_context *context, const pp_shard *shard, pp_reader **reader)
{
    return pp_store_open_object(context->store, shard->key, reader);
}

parapet_status pp_shard_open_object(const pp_transfer_context *context, pp_shard *shard)
{
    parapet_status status = context->layer->open_object(context, shard, &shard->reader);
    shard->close_object = context->layer->close_object;
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

parapet_status pp_shard_list_stored(const pp_transfer_context *context, pp_shard *shard)
{
    parapet_status status = PARAPET_OK;
    if (shard->reader != NULL)
        status = context->layout->is_sharded ? read_index(context, shard) : list_single_chunk(context, shard);
    return status == PARAPET_OK ? check_seal(context, shard) : status;
}

parapet_status pp_shard_open_stored(const pp_transfer_context *context, pp_shard *shard)
{
    parapet_status status = pp_shard_open_object(context, shard);
    return status == PARAPET_OK ? pp_shard_list_stored(context, shard) : status;
}

parapet_status pp_shard_list_none(const pp_transfer_context *context, pp_shard *shard)
{
    parapet_status status = reserve_entries(context, shard);
    int64_t chunk;
    for (chunk = 0; chunk < context->layout->tiling.chunks.cell_count && status == PARAPET_OK; chunk++)
        shard->entries[chunk] = (pp_chunk_entry){PP_CHUNK_ABSENT, PP_CHUNK_ABSENT};
    return status;
}

parapet_status pp_shard_open(const pp_transfer_context *context, int64_t number, pp_shard *shard)
{
    parapet_status status;
    *shard = (pp_shard){.number = number, .layer = context->layer};
    if ((status = pp_layout_key(context->layout, context->path, number, &shard->key)) != PARAPET_OK)
        return status;
    return shard->layer->open(context, shard);
}

void pp_shard_close(pp_shard *shard)
{
    if (shard->reader != NULL)
        shard->close_object(shard->reader);
    pp_free(shard->entries);
    pp_free(shard->checksums);
    pp_free(shard->key);
    if (shard->budget != NULL)
        pp_budget_release(shard->budget, shard->reserved_bytes);
    *shard = (pp_shard){0};
}
