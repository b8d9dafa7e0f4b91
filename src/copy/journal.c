#include "copy/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "codec/crc32c.h"

/* length of the payload, payload, CRC-32C of both */
#define HEAD_BYTES 8
#define TAIL_BYTES 4
#define DONE_BYTES 16
#define SHARD_BYTES 24
#define CHUNK_BYTES 28
#define TEMPLATE_BYTES 16

/* No template has more chunks than this; a length beyond it is not one of ours. */
#define MOST_RECORD_BYTES ((uint64_t)1 << 36)

static parapet_status name_of(char **key, const char *state, const char *kind, int64_t number)
{
    pp_text text = {0};
    pp_text_add(&text, "%s/%s-%" PRId64, state, kind, number);
    return pp_text_finish(&text, key);
}

/* ---- Finished work units ---- */

static void mark_done(pp_done_units *work_units, int64_t work_unit)
{
    int64_t own = work_unit / work_units->rank_count;
    if (work_unit < 0 || work_unit % work_units->rank_count != work_units->rank || own >= work_units->count)
        return;
    work_units->bits[own / 8] = (unsigned char)(work_units->bits[own / 8] | 1u << own % 8);
}

bool pp_done_units_has(const pp_done_units *work_units, int64_t work_unit)
{
    int64_t own = work_unit / work_units->rank_count;
    return (work_units->bits[own / 8] >> own % 8 & 1) != 0;
}

void pp_done_units_clear(pp_done_units *work_units)
{
    pp_free(work_units->bits);
    *work_units = (pp_done_units){0};
}

static bool is_done_record(const unsigned char *record)
{
    return pp_load_u32le(record + 12) == pp_crc32c(0, record, 12);
}

static parapet_status read_done(pp_done_units *work_units, pp_reader *reader)
{
    unsigned char records[256 * DONE_BYTES];
    uint64_t offset = 0, whole = reader->bytes - reader->bytes % DONE_BYTES;
    parapet_status status = PARAPET_OK;
    while (offset < whole && status == PARAPET_OK) {
        size_t i, bytes = (size_t)(whole - offset < sizeof records ? whole - offset : sizeof records);
        if ((status = pp_reader_read(reader, offset, bytes, records)) != PARAPET_OK)
            return status;
        for (i = 0; i < bytes; i += DONE_BYTES)
            if (is_done_record(records + i))
                mark_done(work_units, (int64_t)pp_load_u64le(records + i));
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
        status = read_done(visit->work_units, reader);
    pp_reader_free(reader);
    pp_free(key);
    return status;
}

parapet_status pp_done_units_load(pp_done_units *work_units, pp_store *store, const char *state,
                                  int64_t work_unit_count, int rank, int rank_count)
{
    done_visit visit = {.work_units = work_units, .store = store, .state = state};
    parapet_status status;
    *work_units =
        (pp_done_units){.count = pp_divide_up(work_unit_count, rank_count), .rank = rank, .rank_count = rank_count};
    if ((status = pp_allocate(&work_units->bits, (size_t)work_units->count / 8 + 1)) != PARAPET_OK)
        return status;
    status = pp_store_list(store, state, visit_done, &visit);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
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
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
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

parapet_status pp_journal_record_add_shard(pp_journal_record *record, const pp_journal_shard *shard)
{
    parapet_status status = make_room(record, SHARD_BYTES);
    if (status != PARAPET_OK)
        return status;
    put_u64(record, (uint64_t)shard->shard);
    put_u64(record, shard->bytes);
    put_u64(record, (uint64_t)shard->chunk_count);
    return PARAPET_OK;
}

parapet_status pp_journal_record_add_chunk(pp_journal_record *record, const pp_journal_chunk *chunk)
{
    parapet_status status = make_room(record, CHUNK_BYTES);
    if (status != PARAPET_OK)
        return status;
    put_u64(record, (uint64_t)chunk->chunk);
    put_u64(record, chunk->entry.offset);
    put_u64(record, chunk->entry.bytes);
    pp_store_u32le(record->data + record->bytes, chunk->crc32c);
    record->bytes += 4;
    return PARAPET_OK;
}

parapet_status pp_journal_record_write(pp_journal_record *record, pp_log *log)
{
    parapet_status status = make_room(record, TAIL_BYTES);
    if (status != PARAPET_OK)
        return status;
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
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

/* ---- Reading it ---- */

/* The payload of the record at *offset; NULL data: there is no whole one. */
static parapet_status read_record(pp_reader *reader, uint64_t *offset, pp_journal_record *record)
{
    unsigned char head[HEAD_BYTES];
    uint64_t payload, left = reader->bytes - *offset;
    parapet_status status;
    record->bytes = 0;
    if (left < HEAD_BYTES + TEMPLATE_BYTES + TAIL_BYTES)
        return PARAPET_OK;
    if ((status = pp_reader_read(reader, *offset, HEAD_BYTES, head)) != PARAPET_OK)
        return status;
    payload = pp_load_u64le(head);
    if (payload > MOST_RECORD_BYTES || payload > left - HEAD_BYTES - TAIL_BYTES || payload < TEMPLATE_BYTES)
        return PARAPET_OK;
    if ((status = make_room(record, (size_t)payload + HEAD_BYTES + TAIL_BYTES)) != PARAPET_OK ||
        (status = pp_reader_read(reader, *offset, (size_t)payload + HEAD_BYTES + TAIL_BYTES, record->data)) !=
            PARAPET_OK)
        return status;
    if (pp_load_u32le(record->data + HEAD_BYTES + payload) != pp_crc32c(0, record->data, HEAD_BYTES + payload))
        return PARAPET_OK;
    record->bytes = HEAD_BYTES + (size_t)payload;
    *offset += HEAD_BYTES + payload + TAIL_BYTES;
    return PARAPET_OK;
}

typedef struct record_cursor {
    const unsigned char *data;
    size_t left;
} record_cursor;

static uint64_t take_u64(record_cursor *cursor)
{
    uint64_t value = pp_load_u64le(cursor->data);
    cursor->data += 8;
    cursor->left -= 8;
    return value;
}

static parapet_status refuse_record(void)
{
    return pp_fail(PARAPET_ERR_CORRUPT, "the journal of the copy has a record that makes no sense; start again with "
                                        "overwrite instead of resume");
}

static parapet_status tell_chunks(const pp_journal_reader *reader, const pp_journal_shard *shard,
                                  record_cursor *cursor)
{
    parapet_status status = PARAPET_OK;
    int64_t i;
    for (i = 0; i < shard->chunk_count && status == PARAPET_OK; i++) {
        pp_journal_chunk chunk;
        if (cursor->left < CHUNK_BYTES)
            return refuse_record();
        chunk.chunk = (int64_t)take_u64(cursor);
        chunk.entry.offset = take_u64(cursor);
        chunk.entry.bytes = take_u64(cursor);
        chunk.crc32c = pp_load_u32le(cursor->data);
        cursor->data += 4;
        cursor->left -= 4;
        status = reader->chunk(reader->context, shard, &chunk);
    }
    return status;
}

static parapet_status tell_record(const pp_journal_reader *reader, const pp_journal_record *record,
                                  int64_t template_number)
{
    record_cursor cursor = {record->data + HEAD_BYTES, record->bytes - HEAD_BYTES};
    parapet_status status = PARAPET_OK;
    int64_t i, shard_count;
    if ((int64_t)take_u64(&cursor) != template_number)
        return refuse_record();
    shard_count = (int64_t)take_u64(&cursor);
    for (i = 0; i < shard_count && status == PARAPET_OK; i++) {
        pp_journal_shard shard;
        if (cursor.left < SHARD_BYTES)
            return refuse_record();
        shard.shard = (int64_t)take_u64(&cursor);
        shard.bytes = take_u64(&cursor);
        shard.chunk_count = (int64_t)take_u64(&cursor);
        if ((status = reader->shard(reader->context, template_number, &shard)) == PARAPET_OK)
            status = tell_chunks(reader, &shard, &cursor);
    }
    return status;
}

static parapet_status tell_records(pp_reader *object, const pp_journal_reader *reader, int64_t *template_count,
                                   uint64_t *bytes)
{
    pp_journal_record record = {0};
    parapet_status status;
    while ((status = read_record(object, bytes, &record)) == PARAPET_OK && record.bytes > 0 &&
           (status = tell_record(reader, &record, *template_count)) == PARAPET_OK)
        *template_count += 1;
    pp_journal_record_free(&record);
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
        status = tell_records(object, reader, template_count, bytes);
    pp_reader_free(object);
    pp_free(key);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}
