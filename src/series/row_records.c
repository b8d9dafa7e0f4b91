/* row_records.c - the log of what a series is about to change: see row_records.h.
 *
 * All whole records count, not only the last: after a commit that failed, 10 to 15 and 10 to 20 may both be true. A
 * torn one announces nothing, and nothing was done then. */
#include "series/row_records.h"

#include "array/array.h"
#include "array/store_queries.h"
#include "array/stored_document.h"
#include "base/status.h"
#include "change/registry.h"
#include "series/series_handle.h"

/* When the log has this many bytes, and all that it announces has been done, it begins anew. */
#define LOG_BYTES ((uint64_t)192 << 10)

/* What records take once parsed, with their text, as a multiple of that. */
enum { MEMORY_PER_BYTE = 4 };

static parapet_status log_key(const parapet_series *series, char **key)
{
    return pp_own_key(pp_array_path(series->arrays[series->count]), PP_OWN_CHANGES, key);
}

/* ---- Writing ---- */

static void close_log(parapet_series *series)
{
    pp_log_close(series->records);
    series->records = NULL;
}

static parapet_status open_log(parapet_series *series)
{
    char *key = NULL;
    parapet_status status;
    if (series->record_bytes > LOG_BYTES && !series->has_open_record) {
        close_log(series);
        series->record_bytes = 0;
    }
    if (series->records != NULL)
        return PARAPET_OK;
    if ((status = log_key(series, &key)) == PARAPET_OK)
        status = pp_store_open_log(pp_store_backend(series->store), key, series->record_bytes, &series->records);
    pp_free(key);
    return status;
}

static const char *name_of(const parapet_series *series, int index)
{
    return index < series->count ? series->names[index] : series->dimension;
}

static parapet_status print_record(const parapet_series *series, int64_t steps, pp_text *text)
{
    pp_change change = {0};
    parapet_status status = pp_change_begin(&change, series->dimension, series->steps_committed, steps);
    int i;
    for (i = 0; i <= series->count && status == PARAPET_OK; i++) {
        unsigned char digest[PP_SHA256_BYTES];
        if ((status = pp_array_digest_extended(series->arrays[i], steps, digest)) == PARAPET_OK)
            status = pp_change_add_array(&change, name_of(series, i), digest);
    }
    if (status == PARAPET_OK)
        status = pp_change_print(&change, text);
    pp_change_clear(&change);
    return status;
}

parapet_status pp_row_records_add(parapet_series *series, int64_t steps)
{
    pp_text record = {0};
    parapet_status status = print_record(series, steps, &record);
    if (status == PARAPET_OK && (status = open_log(series)) == PARAPET_OK) {
        series->has_open_record = true;
        if ((status = pp_log_append(series->records, record.data, record.bytes)) == PARAPET_OK)
            series->record_bytes = series->records->bytes;
        else
            close_log(series);
    }
    pp_text_free(&record);
    return status;
}

parapet_status pp_row_records_forget(parapet_series *series)
{
    char *key = NULL;
    parapet_status status;
    close_log(series);
    series->record_bytes = 0;
    if ((status = log_key(series, &key)) == PARAPET_OK)
        status = pp_store_remove(pp_store_backend(series->store), key);
    pp_free(key);
    return pp_accept_absence(status);
}

/* ---- Reading ---- */

static parapet_status parse_log(pp_row_records *records, pp_reader *log)
{
    size_t bytes = (size_t)log->bytes;
    char *text = NULL;
    parapet_status status = pp_allocate_array(&text, bytes + 1, 1);
    if (status == PARAPET_OK && (status = pp_reader_read(log, 0, bytes, text)) == PARAPET_OK)
        status = pp_change_log_parse(&records->log, text);
    pp_free(text);
    return status;
}

parapet_status pp_row_records_take(pp_row_records *records, const parapet_series *series, pp_reader *log)
{
    pp_budget *budget = pp_store_budget(series->store);
    size_t needed;
    parapet_status status;
    if (log->bytes > PP_CHANGE_BYTES_MOST)
        return pp_fail(
            PARAPET_ERR_CORRUPT,
            "%s/__parapet/changes has %llu bytes, more than a series writes; remove it if it is not needed",
            pp_array_path(series->arrays[series->count]), (unsigned long long)log->bytes);
    needed = MEMORY_PER_BYTE * (size_t)log->bytes;
    if ((status = pp_budget_reserve(budget, needed, "records of a series")) != PARAPET_OK)
        return status;
    records->budget = budget;
    records->reserved_bytes = needed;
    return parse_log(records, log);
}

parapet_status pp_row_records_load(pp_row_records *records, const parapet_series *series)
{
    pp_reader *reader = NULL;
    char *key = NULL;
    parapet_status status = log_key(series, &key);
    *records = (pp_row_records){0};
    if (status == PARAPET_OK &&
        (status = pp_store_open_object(pp_store_backend(series->store), key, &reader)) == PARAPET_OK)
        status = pp_row_records_take(records, series, reader);
    pp_reader_free(reader);
    pp_free(key);
    return pp_accept_absence(status);
}

void pp_row_records_clear(pp_row_records *records)
{
    pp_change_log_clear(&records->log);
    if (records->budget != NULL)
        pp_budget_release(records->budget, records->reserved_bytes);
    *records = (pp_row_records){0};
}

bool pp_row_records_lead_to(const pp_row_records *records, const parapet_series *series, int64_t steps)
{
    size_t i;
    for (i = 0; i < records->log.count; i++) {
        const pp_change *record = &records->log.records[i];
        if (record->before == series->steps_committed && (steps < 0 || record->after == steps))
            return true;
    }
    return false;
}

bool pp_row_records_explain(const pp_row_records *records, const parapet_series *series, int index)
{
    const parapet_array *array = series->arrays[index];
    int64_t steps = pp_array_document_of(array)->shape[0];
    size_t i;
    for (i = 0; i < records->log.count; i++)
        if (pp_change_explains(&records->log.records[i], index, series->steps_committed, steps,
                               pp_array_document_digest(array)))
            return true;
    return false;
}
