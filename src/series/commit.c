/* commit.c - how steps become visible: the values of the coordinate, the documents of the arrays, and last, by
 * one rename, the document of the group. The shards are durable by then. */
#include <string.h>

#include "array/array.h"
#include "array/path.h"
#include "series/series.h"
#include "transfer/memory.h"

/* Rank 0 writes the coordinate as if it were alone: no other rank has anything to bring. */
static parapet_status write_coordinate(parapet_series *series)
{
    static const int servers[1] = {0};
    parapet_array *array = series->arrays[series->count];
    int64_t start = series->steps_committed, count = series->steps - series->steps_committed;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = series->coordinates};
    pp_team team = {.comm = series->alone,
                    .servers = servers,
                    .server_count = 1,
                    .fragment_bytes = pp_memory_fragment_bytes(series->store->least_memory_bytes),
                    .ownership = pp_owner_strategy_of(1)};
    pp_transfer_context context;
    pp_parts parts = {0};
    pp_transfer_array coordinate = {.context = &context, .parts = &parts};
    pp_staged staged = {0};
    parapet_status status;
    if ((status = pp_array_transfer_context(array, &context)) != PARAPET_OK ||
        (status = pp_parts_init(&parts, &part, 1, &array->layout, PARAPET_FLOAT64)) != PARAPET_OK)
        return status;
    context.progress = NULL;
    if ((status = pp_transfer_stage(&team, &coordinate, 1, &staged)) == PARAPET_OK)
        status = pp_staged_publish(&context, &staged);
    pp_staged_clear(&staged);
    pp_parts_clear(&parts);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot write array \"%s\"", array->path);
}

/* Not durable yet: if a crash undoes it while the group's document stays, opening the series does it again. */
static parapet_status write_document(parapet_array *array)
{
    parapet_store *store = array->store;
    char *key = NULL, *staging = NULL;
    pp_text text = {0};
    parapet_status status;
    if ((status = pp_array_document_print(&array->document, &text)) == PARAPET_OK &&
        (status = text.status) == PARAPET_OK &&
        (status = pp_path_join(array->path, "zarr.json", &key)) == PARAPET_OK &&
        (status = pp_path_join(array->path, "__parapet/tmp", &staging)) == PARAPET_OK)
        status = pp_store_write_all(
            store->backend,
            &(pp_write_request){.key = key, .staging = staging, .budget = &store->budget, .is_small = true},
            text.data, text.bytes, PP_PUBLISH_REPLACE);
    if (status == PARAPET_OK) {
        pp_sha256_of(text.data, text.bytes, array->document_digest);
        store->counters.written_bytes += (int64_t)text.bytes;
        store->counters.objects_written += 1;
    }
    pp_text_free(&text);
    pp_free(staging);
    pp_free(key);
    return status;
}

static parapet_status commit(void *subject, const void *argument)
{
    parapet_series *series = subject;
    parapet_status status = write_coordinate(series);
    bool was_uncertain = series->is_uncertain;
    int i;
    (void)argument;
    for (i = 0; i <= series->count && status == PARAPET_OK; i++)
        status = write_document(series->arrays[i]);
    if (status != PARAPET_OK)
        return status;
    series->is_uncertain = false;
    if ((status = pp_series_write_group(series, series->steps, NULL)) != PARAPET_OK)
        series->is_uncertain = was_uncertain;
    return status;
}

parapet_status pp_series_commit(parapet_series *series)
{
    parapet_status status = pp_series_rank0_do(series, "committing", commit, NULL);
    series->is_in_doubt = status != PARAPET_OK;
    if (status != PARAPET_OK)
        return pp_fail_within(status, "cannot commit step %lld of \"%s\"", (long long)series->steps - 1,
                              series->path);
    series->is_uncertain = false;
    series->steps_committed = series->steps;
    return PARAPET_OK;
}

static parapet_status announce(void *subject, const void *argument)
{
    parapet_series *series = subject;
    parapet_status status;
    (void)argument;
    series->is_uncertain = true;
    if ((status = pp_series_write_group(series, series->steps_committed, NULL)) != PARAPET_OK)
        series->is_uncertain = false;
    return status;
}

parapet_status pp_series_announce(parapet_series *series)
{
    parapet_status status;
    if (series->is_uncertain || (!series->is_in_doubt && pp_series_row_start(series) >= series->steps_committed))
        return PARAPET_OK;
    status = pp_series_rank0_do(series, "announcing", announce, NULL);
    series->is_uncertain = status == PARAPET_OK;
    return status;
}
