/* intent.c - what a series is about to change, written down before it does: in a log with a record for each row.
 *
 *     <path>/<dimension>/__parapet/intent
 *
 *     "PPINTENT", steps before, steps after,
 *     the SHA-256 of each document to come: of the arrays, and of the coordinate behind them; CRC-32C of all this
 *
 * It lies with the coordinate and not with the group, because some readers that list a group report folders that
 * are neither arrays nor groups. It is removed when the series is closed and everything is committed. */
#include "series/intent.h"

#include <string.h>

#include "array/array.h"
#include "array/store_queries.h"
#include "base/bytes.h"
#include "change/registry.h"
#include "codec/crc32c.h"
#include "series/series_handle.h"

static const unsigned char magic[8] = {'P', 'P', 'I', 'N', 'T', 'E', 'N', 'T'};

enum { PREFIX_BYTES = 24, SUM_BYTES = 4 };

/* When the log has this many bytes, and all that it announces has been done, it begins anew. */
#define LOG_BYTES ((uint64_t)64 << 10)
/* A log with more records than this is not one of ours. */
#define RECORDS_MOST 4096

static size_t record_bytes(const parapet_series *series)
{
    return PREFIX_BYTES + ((size_t)series->count + 1) * PP_SHA256_BYTES + SUM_BYTES;
}

static parapet_status intent_key(const parapet_series *series, char **key)
{
    return pp_own_key(pp_array_path(series->arrays[series->count]), PP_OWN_INTENT, key);
}

/* ---- Writing ---- */

static void close_log(parapet_series *series)
{
    pp_log_close(series->intents);
    series->intents = NULL;
}

static parapet_status open_log(parapet_series *series)
{
    char *key = NULL;
    parapet_status status;
    if (series->intent_bytes > LOG_BYTES && !series->has_open_intent) {
        close_log(series);
        series->intent_bytes = 0;
    }
    if (series->intents != NULL)
        return PARAPET_OK;
    if ((status = intent_key(series, &key)) == PARAPET_OK)
        status = pp_store_open_log(pp_store_backend(series->store), key, series->intent_bytes, &series->intents);
    pp_free(key);
    return status;
}

static parapet_status add_document(const parapet_array *array, pp_text *record)
{
    unsigned char digest[PP_SHA256_BYTES];
    pp_text text = {0};
    parapet_status status = pp_array_document_print(pp_array_document_of(array), &text);
    if (status == PARAPET_OK) {
        pp_sha256_of(text.data, text.bytes, digest);
        pp_text_add_bytes(record, digest, sizeof digest);
        status = record->status;
    }
    pp_text_free(&text);
    return status;
}

static parapet_status print_record(const parapet_series *series, int64_t steps, pp_text *record)
{
    unsigned char prefix[PREFIX_BYTES], sum[SUM_BYTES];
    parapet_status status = PARAPET_OK;
    int i;
    memcpy(prefix, magic, sizeof magic);
    pp_store_u64le(prefix + 8, (uint64_t)series->steps_committed);
    pp_store_u64le(prefix + 16, (uint64_t)steps);
    pp_text_add_bytes(record, prefix, sizeof prefix);
    for (i = 0; i <= series->count && status == PARAPET_OK; i++)
        status = add_document(series->arrays[i], record);
    if (status == PARAPET_OK) {
        pp_store_u32le(sum, pp_crc32c(0, record->data, record->bytes));
        pp_text_add_bytes(record, sum, sizeof sum);
        status = record->status;
    }
    return status;
}

parapet_status pp_series_intent_note(parapet_series *series, int64_t steps)
{
    pp_text record = {0};
    parapet_status status = print_record(series, steps, &record);
    if (status == PARAPET_OK && (status = open_log(series)) == PARAPET_OK) {
        series->has_open_intent = true;
        if ((status = pp_log_append(series->intents, record.data, record.bytes)) == PARAPET_OK)
            series->intent_bytes = series->intents->bytes;
        else
            close_log(series);
    }
    pp_text_free(&record);
    return status;
}

parapet_status pp_series_intent_forget(parapet_series *series)
{
    pp_store *store = pp_store_backend(series->store);
    char *key = NULL;
    parapet_status status;
    close_log(series);
    series->intent_bytes = 0;
    if ((status = intent_key(series, &key)) == PARAPET_OK)
        status = pp_store_remove(store, key);
    pp_free(key);
    return pp_accept_absence(status);
}

/* ---- Reading ---- */

static bool is_record(const unsigned char *record, size_t bytes)
{
    return memcmp(record, magic, sizeof magic) == 0 &&
           pp_load_u32le(record + bytes - SUM_BYTES) == pp_crc32c(0, record, bytes - SUM_BYTES);
}

parapet_status pp_series_intents_take(pp_series_intents *intents, const parapet_series *series, pp_reader *log)
{
    uint64_t count = log->bytes / record_bytes(series);
    parapet_status status;
    if (count > RECORDS_MOST)
        return pp_fail(PARAPET_ERR_CORRUPT,
                       "%s/__parapet/intent has %llu bytes, more than a series writes; remove it if it is not needed",
                       pp_array_path(series->arrays[series->count]), (unsigned long long)log->bytes);
    intents->record_bytes = record_bytes(series);
    if (count == 0)
        return PARAPET_OK;
    if ((status = pp_buffer_init(&intents->memory, pp_store_budget(series->store),
                                 (size_t)count * intents->record_bytes, "intents of a series")) != PARAPET_OK)
        return status;
    intents->count = (size_t)count;
    return pp_reader_read(log, 0, intents->count * intents->record_bytes, intents->memory.data);
}

parapet_status pp_series_intents_load(pp_series_intents *intents, const parapet_series *series)
{
    pp_reader *reader = NULL;
    char *key = NULL;
    parapet_status status = intent_key(series, &key);
    *intents = (pp_series_intents){0};
    if (status == PARAPET_OK &&
        (status = pp_store_open_object(pp_store_backend(series->store), key, &reader)) == PARAPET_OK)
        status = pp_series_intents_take(intents, series, reader);
    pp_reader_free(reader);
    pp_free(key);
    return pp_accept_absence(status);
}

void pp_series_intents_clear(pp_series_intents *intents)
{
    pp_buffer_free(&intents->memory);
    *intents = (pp_series_intents){0};
}

/* The record, or NULL where it is damaged. */
static const unsigned char *record_at(const pp_series_intents *intents, size_t index)
{
    const unsigned char *record = intents->memory.data + index * intents->record_bytes;
    return is_record(record, intents->record_bytes) ? record : NULL;
}

bool pp_series_intents_lead_to(const pp_series_intents *intents, const parapet_series *series, int64_t steps)
{
    size_t i;
    for (i = 0; i < intents->count; i++) {
        const unsigned char *record = record_at(intents, i);
        if (record != NULL && pp_load_u64le(record + 8) == (uint64_t)series->steps_committed &&
            (steps < 0 || pp_load_u64le(record + 16) == (uint64_t)steps))
            return true;
    }
    return false;
}

bool pp_series_intents_explain(const pp_series_intents *intents, const parapet_series *series, int index)
{
    const parapet_array *array = series->arrays[index];
    uint64_t steps = (uint64_t)pp_array_document_of(array)->shape[0], committed = (uint64_t)series->steps_committed;
    size_t i;
    for (i = 0; i < intents->count; i++) {
        const unsigned char *record = record_at(intents, i);
        uint64_t before, after;
        if (record == NULL)
            continue;
        before = pp_load_u64le(record + 8);
        after = pp_load_u64le(record + 16);
        if (before == committed && after == steps &&
            memcmp(record + PREFIX_BYTES + (size_t)index * PP_SHA256_BYTES, pp_array_document_digest(array),
                   PP_SHA256_BYTES) == 0)
            return true;
        /* The group's document outlived a crash, and this one did not. */
        if (after == committed && before == steps)
            return true;
    }
    return false;
}
