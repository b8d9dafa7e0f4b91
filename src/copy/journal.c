/* journal.c - records of finished work units and templates: journal.h has the files, and what a torn record is.
 *
 *     a work unit: nothing --pp_journal_record_write--> n templates --pp_done_log_add--> done; pp_journal_remove
 *
 * Invariants:
 *
 *  1. A record comes after its data: shards are synced before their template is recorded
 *     (pp_copy_target_record), and have their names, durably, before their work unit is (run_work_unit in
 *     copy/pass.c).
 *  2. A work unit is recorded as done before its journal is removed. A crash in between leaves a journal that
 *     is never read; the other way round, the work unit would be done again from its first template.
 *  3. Logs only grow, and are continued after their last whole record. Records of a journal differ in length,
 *     so that it ends at the first that is damaged. Those of finished work units do not, and one that is
 *     damaged is passed over: its work unit is done again, and recorded once more.
 *  4. What a record says is bounded before it is used, and no memory is allocated for what it claims
 *     (find_record, take). That the chunks are what it says is verified later, by their checksums.
 *
 * docs/design/copy.md, "What a kill leaves". The option unit_bytes limits what a kill costs. */
#include "copy/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/status.h"
#include "codec/crc32c.h"

/* A record: length of the payload, payload, CRC-32C of both. */
#define HEAD_BYTES 8
#define TAIL_BYTES 4
#define DONE_BYTES 16
#define DONE_SPARE 128
#define SHARD_BYTES 24
#define CHUNK_BYTES 28
#define TEMPLATE_BYTES 16

/* Records are read through a window of this size, whatever length they claim. */
#define WINDOW_BYTES ((size_t)16 << 10)

static parapet_status name_of(char **key, const char *state, const char *kind, int64_t number)
{
    pp_text text = {0};
    pp_text_add(&text, "%s/%s-%" PRId64, state, kind, number);
    return pp_text_finish(&text, key);
}

/* ---- Finished work units ---- */

static parapet_status mark_done(pp_done_units *work_units, int64_t work_unit)
{
    if (work_unit < 0 || work_unit >= work_units->count)
        return PARAPET_OK;
    return pp_ranges_add(&work_units->numbers, work_unit, work_unit);
}

bool pp_done_units_has(const pp_done_units *work_units, int64_t work_unit)
{
    return pp_ranges_has(&work_units->numbers, work_unit);
}

void pp_done_units_clear(pp_done_units *work_units)
{
    pp_ranges_clear(&work_units->numbers);
    *work_units = (pp_done_units){0};
}

static bool is_done_record(const unsigned char *record)
{
    return pp_load_u32le(record + 12) == pp_crc32c(0, record, 12);
}

/* A work unit is recorded once, or again if its record was damaged: a log of more is not one of ours. */
static parapet_status check_length(const pp_done_units *work_units, const pp_reader *reader)
{
    uint64_t work_unit_count = (uint64_t)work_units->count;
    if (reader->bytes / DONE_BYTES / 2 <= work_unit_count + DONE_SPARE)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_CORRUPT,
                   "a log of finished work units has %" PRIu64 " bytes, more than %" PRIu64 " work units can need; "
                   "start again with overwrite instead of resume",
                   reader->bytes, work_unit_count);
}

parapet_status pp_done_units_take(pp_done_units *work_units, pp_reader *reader)
{
    unsigned char records[256 * DONE_BYTES];
    uint64_t offset = 0, whole = reader->bytes - reader->bytes % DONE_BYTES;
    parapet_status status = check_length(work_units, reader);
    while (offset < whole && status == PARAPET_OK) {
        size_t i, bytes = (size_t)(whole - offset < sizeof records ? whole - offset : sizeof records);
        if ((status = pp_reader_read(reader, offset, bytes, records)) != PARAPET_OK)
            return status;
        for (i = 0; i < bytes && status == PARAPET_OK; i += DONE_BYTES)
            if (is_done_record(records + i))
                status = mark_done(work_units, (int64_t)pp_load_u64le(records + i));
        offset += bytes;
    }
    return status;
}

typedef struct done_visit {
    pp_done_units *work_units;
    pp_store *store;
    const char *state;
} done_visit;

static parapet_status visit_done(void *context, const pp_listed *listed)
{
    const done_visit *visit = context;
    pp_reader *reader = NULL;
    pp_text text = {0};
    char *key = NULL;
    parapet_status status;
    if (listed->is_prefix || strncmp(listed->name, "done-", 5) != 0)
        return PARAPET_OK;
    pp_text_add(&text, "%s/%s", visit->state, listed->name);
    if ((status = pp_text_finish(&text, &key)) == PARAPET_OK &&
        (status = pp_store_open_object(visit->store, key, &reader)) == PARAPET_OK)
        status = pp_done_units_take(visit->work_units, reader);
    pp_reader_free(reader);
    pp_free(key);
    return status;
}

parapet_status pp_done_units_load(pp_done_units *work_units, pp_store *store, const char *state,
                                  int64_t work_unit_count)
{
    done_visit visit = {.work_units = work_units, .store = store, .state = state};
    parapet_status status;
    *work_units = (pp_done_units){.count = work_unit_count};
    status = pp_store_list(store, state, visit_done, &visit);
    pp_ranges_sort(&work_units->numbers);
    return pp_accept_absence(status);
}

/* Bytes of a log that are whole records. */
static parapet_status whole_bytes(pp_store *store, const char *key, uint64_t *bytes)
{
    pp_reader *reader = NULL;
    parapet_status status = pp_store_open_object(store, key, &reader);
    *bytes = 0;
    if (status == PARAPET_OK)
        *bytes = reader->bytes - reader->bytes % DONE_BYTES;
    pp_reader_free(reader);
    return pp_accept_absence(status);
}

parapet_status pp_done_log_open(pp_log **log, pp_store *store, const char *state, int rank)
{
    char *key = NULL;
    uint64_t bytes;
    parapet_status status = name_of(&key, state, "done", rank);
    if (status == PARAPET_OK && (status = whole_bytes(store, key, &bytes)) == PARAPET_OK)
        status = pp_store_open_log(store, key, bytes, log);
    pp_free(key);
    return status;
}

parapet_status pp_done_log_add(pp_log *log, int64_t work_unit)
{
    unsigned char record[DONE_BYTES] = {0};
    pp_store_u64le(record, (uint64_t)work_unit);
    pp_store_u32le(record + 12, pp_crc32c(0, record, 12));
    return pp_log_append(log, record, sizeof record);
}

/* ---- Writing the journal of a work unit ---- */

static parapet_status make_room(pp_journal_record *record, size_t bytes)
{
    parapet_status status;
    if (record->bytes + bytes <= record->capacity)
        return PARAPET_OK;
    if ((status = pp_reallocate(&record->data, record->bytes + bytes)) == PARAPET_OK)
        record->capacity = record->bytes + bytes;
    return status;
}

static void put_u64(pp_journal_record *record, uint64_t value)
{
    pp_store_u64le(record->data + record->bytes, value);
    record->bytes += 8;
}

parapet_status pp_journal_record_begin(pp_journal_record *record, int64_t template_number, int64_t shard_count,
                                       int64_t chunk_count)
{
    size_t bytes = (size_t)shard_count * SHARD_BYTES + (size_t)chunk_count * CHUNK_BYTES;
    parapet_status status;
    record->bytes = 0;
    if ((status = make_room(record, HEAD_BYTES + TEMPLATE_BYTES + bytes + TAIL_BYTES)) != PARAPET_OK)
        return status;
    put_u64(record, 0); /* the length, when it is known */
    put_u64(record, (uint64_t)template_number);
    put_u64(record, (uint64_t)shard_count);
    return PARAPET_OK;
}

void pp_journal_record_add_shard(pp_journal_record *record, const pp_journal_shard *shard)
{
    put_u64(record, (uint64_t)shard->shard);
    put_u64(record, shard->bytes);
    put_u64(record, (uint64_t)shard->chunk_count);
}

void pp_journal_record_add_chunk(pp_journal_record *record, const pp_journal_chunk *chunk)
{
    put_u64(record, (uint64_t)chunk->chunk);
    put_u64(record, chunk->entry.offset);
    put_u64(record, chunk->entry.bytes);
    pp_store_u32le(record->data + record->bytes, chunk->crc32c);
    record->bytes += 4;
}

parapet_status pp_journal_record_write(pp_journal_record *record, pp_log *log)
{
    parapet_status status;
    pp_store_u64le(record->data, record->bytes - HEAD_BYTES);
    pp_store_u32le(record->data + record->bytes, pp_crc32c(0, record->data, record->bytes));
    status = pp_log_append(log, record->data, record->bytes + TAIL_BYTES);
    record->bytes = 0;
    return status;
}

void pp_journal_record_free(pp_journal_record *record)
{
    pp_free(record->data);
    *record = (pp_journal_record){0};
}

parapet_status pp_journal_open(pp_log **log, pp_store *store, const char *state, int64_t work_unit, uint64_t bytes)
{
    char *key = NULL;
    parapet_status status = name_of(&key, state, "lot", work_unit);
    if (status == PARAPET_OK)
        status = pp_store_open_log(store, key, bytes, log);
    pp_free(key);
    return status;
}

parapet_status pp_journal_remove(pp_store *store, const char *state, int64_t work_unit)
{
    char *key = NULL;
    parapet_status status = name_of(&key, state, "lot", work_unit);
    if (status == PARAPET_OK)
        status = pp_store_remove(store, key);
    pp_free(key);
    return pp_accept_absence(status);
}

/* ---- Reading it ---- */

uint64_t pp_journal_record_most(int64_t shard_count, int64_t chunk_count)
{
    uint64_t shards, chunks, most;
    if (__builtin_mul_overflow((uint64_t)shard_count, SHARD_BYTES, &shards) ||
        __builtin_mul_overflow((uint64_t)chunk_count, CHUNK_BYTES, &chunks) ||
        !pp_add_u64_fits(shards, chunks, &most) || !pp_add_u64_fits(most, TEMPLATE_BYTES, &most))
        return UINT64_MAX;
    return most;
}

/* A record, read from front to back. */
typedef struct record_cursor {
    pp_reader *object;
    uint64_t offset, left; /* of what is not in the window yet */
    size_t next, filled;   /* in the window */
    unsigned char window[WINDOW_BYTES];
} record_cursor;

/* The window stays as it is: clearing it would take longer than reading most records. */
static void begin_record(record_cursor *cursor, pp_reader *object, uint64_t offset, uint64_t bytes)
{
    cursor->object = object;
    cursor->offset = offset;
    cursor->left = bytes;
    cursor->next = cursor->filled = 0;
}

static parapet_status fill_window(record_cursor *cursor)
{
    size_t kept = cursor->filled - cursor->next, more = (size_t)pp_min_u64(cursor->left, WINDOW_BYTES - kept);
    parapet_status status;
    memmove(cursor->window, cursor->window + cursor->next, kept);
    cursor->next = 0;
    cursor->filled = kept;
    if ((status = pp_reader_read(cursor->object, cursor->offset, more, cursor->window + kept)) != PARAPET_OK)
        return status;
    cursor->offset += more;
    cursor->left -= more;
    cursor->filled += more;
    return PARAPET_OK;
}

static parapet_status refuse_record(void)
{
    return pp_fail(PARAPET_ERR_CORRUPT, "the journal of the copy has a record that makes no sense; start again with "
                                        "overwrite instead of resume");
}

/* The next bytes of the record, side by side; bytes is much less than the window. */
static parapet_status take(record_cursor *cursor, size_t bytes, const unsigned char **data)
{
    parapet_status status;
    if (cursor->filled - cursor->next < bytes && (status = fill_window(cursor)) != PARAPET_OK)
        return status;
    if (cursor->filled - cursor->next < bytes)
        return refuse_record();
    *data = cursor->window + cursor->next;
    cursor->next += bytes;
    return PARAPET_OK;
}

static parapet_status sum_record(record_cursor *cursor, uint32_t *crc32c)
{
    parapet_status status = PARAPET_OK;
    while (cursor->left > 0 && status == PARAPET_OK) {
        if ((status = fill_window(cursor)) == PARAPET_OK)
            *crc32c = pp_crc32c(*crc32c, cursor->window, cursor->filled);
        cursor->next = cursor->filled;
    }
    return status;
}

/* The length of the payload of the record at offset; 0: there is no whole one. */
static parapet_status find_record(record_cursor *cursor, pp_reader *object, uint64_t offset, uint64_t most,
                                  uint64_t *payload)
{
    unsigned char head[HEAD_BYTES], tail[TAIL_BYTES];
    uint64_t claimed, left = object->bytes - offset;
    uint32_t crc32c = 0;
    parapet_status status;
    *payload = 0;
    if (left < HEAD_BYTES + TEMPLATE_BYTES + TAIL_BYTES)
        return PARAPET_OK;
    if ((status = pp_reader_read(object, offset, HEAD_BYTES, head)) != PARAPET_OK)
        return status;
    claimed = pp_load_u64le(head);
    if (claimed > most || claimed > left - HEAD_BYTES - TAIL_BYTES || claimed < TEMPLATE_BYTES)
        return PARAPET_OK;
    begin_record(cursor, object, offset, HEAD_BYTES + claimed);
    if ((status = sum_record(cursor, &crc32c)) != PARAPET_OK ||
        (status = pp_reader_read(object, offset + HEAD_BYTES + claimed, TAIL_BYTES, tail)) != PARAPET_OK)
        return status;
    if (pp_load_u32le(tail) == crc32c)
        *payload = claimed;
    return PARAPET_OK;
}

static parapet_status tell_chunks(const pp_journal_reader *reader, const pp_journal_shard *shard,
                                  record_cursor *cursor)
{
    parapet_status status = PARAPET_OK;
    const unsigned char *data;
    int64_t i;
    for (i = 0; i < shard->chunk_count && status == PARAPET_OK; i++) {
        pp_journal_chunk chunk;
        if ((status = take(cursor, CHUNK_BYTES, &data)) != PARAPET_OK)
            return status;
        chunk.chunk = (int64_t)pp_load_u64le(data);
        chunk.entry.offset = pp_load_u64le(data + 8);
        chunk.entry.bytes = pp_load_u64le(data + 16);
        chunk.crc32c = pp_load_u32le(data + 24);
        status = reader->chunk(reader->context, shard, &chunk);
    }
    return status;
}

static parapet_status tell_record(const pp_journal_reader *reader, record_cursor *cursor, int64_t template_number)
{
    const unsigned char *data;
    parapet_status status;
    int64_t i, shard_count;
    if ((status = take(cursor, TEMPLATE_BYTES, &data)) != PARAPET_OK)
        return status;
    if ((int64_t)pp_load_u64le(data) != template_number)
        return refuse_record();
    shard_count = (int64_t)pp_load_u64le(data + 8);
    for (i = 0; i < shard_count && status == PARAPET_OK; i++) {
        pp_journal_shard shard;
        if ((status = take(cursor, SHARD_BYTES, &data)) != PARAPET_OK)
            return status;
        shard.shard = (int64_t)pp_load_u64le(data);
        shard.bytes = pp_load_u64le(data + 8);
        shard.chunk_count = (int64_t)pp_load_u64le(data + 16);
        if ((status = reader->shard(reader->context, template_number, &shard)) == PARAPET_OK)
            status = tell_chunks(reader, &shard, cursor);
    }
    return status == PARAPET_OK && (cursor->left > 0 || cursor->next < cursor->filled) ? refuse_record() : status;
}

parapet_status pp_journal_tell(pp_reader *object, const pp_journal_reader *reader, int64_t *template_count,
                               uint64_t *bytes)
{
    record_cursor cursor;
    uint64_t payload;
    parapet_status status;
    *template_count = 0;
    *bytes = 0;
    while ((status = find_record(&cursor, object, *bytes, reader->most_bytes, &payload)) == PARAPET_OK &&
           payload > 0) {
        if (*template_count == reader->most_templates)
            return refuse_record();
        /* This is the second time that it is read, after its checksum was computed. Should the file have changed in
         * between, every number still has its bounds. */
        begin_record(&cursor, object, *bytes + HEAD_BYTES, payload);
        if ((status = tell_record(reader, &cursor, *template_count)) != PARAPET_OK)
            return status;
        *template_count += 1;
        *bytes += HEAD_BYTES + payload + TAIL_BYTES;
    }
    return status;
}

parapet_status pp_journal_read(pp_store *store, const char *state, int64_t work_unit, const pp_journal_reader *reader,
                               int64_t *template_count, uint64_t *bytes)
{
    pp_reader *object = NULL;
    char *key = NULL;
    parapet_status status = name_of(&key, state, "lot", work_unit);
    *template_count = 0;
    *bytes = 0;
    if (status == PARAPET_OK && (status = pp_store_open_object(store, key, &object)) == PARAPET_OK)
        status = pp_journal_tell(object, reader, template_count, bytes);
    pp_reader_free(object);
    pp_free(key);
    return pp_accept_absence(status);
}
