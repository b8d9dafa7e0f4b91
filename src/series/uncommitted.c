/* uncommitted.c - whether a series is as it left itself: what lies beyond the committed steps must be what a record
 * tells of. Everything else is of another program, or damage, and nobody cuts it off unasked (invariants 4 and 8 of
 * docs/design/change.md); on rank 0. */
#include "series/uncommitted.h"

#include "array/array.h"
#include "array/resize.h"
#include "base/status.h"
#include "series/consolidated_copy.h"
#include "series/row_records.h"
#include "series/series_handle.h"

#define DECIDE                                                                                                       \
    "another program has changed the series, or a document is damaged; nothing was changed; call "                   \
    "parapet_series_repair: PARAPET_BEYOND_ADOPT keeps the steps that the arrays have, PARAPET_BEYOND_CUT those "    \
    "that the group states"

static parapet_status check_array(const parapet_series *series, const pp_row_records *records, int index)
{
    const parapet_array *array = series->arrays[index];
    int64_t steps = pp_array_document_of(array)->shape[0], row = pp_array_document_of(array)->grid_shape[0];
    int64_t committed = series->steps_committed;
    bool has_more = false;
    parapet_status status;
    if (steps != committed && !pp_row_records_explain(records, series, index))
        return pp_fail(PARAPET_ERR_FORMAT,
                       "\"%s\" has %lld steps, but the group says that %lld are committed: " DECIDE,
                       pp_array_path(array), (long long)steps, (long long)committed);
    if (steps > committed || pp_row_records_lead_to(records, series, -1))
        return PARAPET_OK;
    if ((status = pp_array_has_layer(array, committed / row + (committed % row != 0), &has_more)) == PARAPET_OK &&
        has_more)
        status = pp_fail(PARAPET_ERR_FORMAT,
                         "\"%s\" has shards beyond step %lld, the last committed one, and the series has left no "
                         "note of them: " DECIDE,
                         pp_array_path(array), (long long)committed - 1);
    return status;
}

static bool is_shown_right(const parapet_series *series, const pp_row_records *records, int64_t steps)
{
    return steps == series->steps_committed || (steps >= 0 && pp_row_records_lead_to(records, series, steps));
}

static parapet_status check_group(const parapet_series *series, const pp_row_records *records)
{
    if (!is_shown_right(series, records, series->steps_shown[0]) ||
        !is_shown_right(series, records, series->steps_shown[1]))
        return pp_fail(
            PARAPET_ERR_FORMAT,
            "the group \"%s\" says that %lld steps are committed, but its consolidated metadata shows %lld to "
            "%lld: " DECIDE,
            series->path, (long long)series->steps_committed, (long long)series->steps_shown[0],
            (long long)series->steps_shown[1]);
    if (series->is_uncertain && !pp_row_records_lead_to(records, series, -1))
        return pp_fail(
            PARAPET_ERR_FORMAT,
            "the group \"%s\" says that a row was being written, but the series has left no note of it: " DECIDE,
            series->path);
    return PARAPET_OK;
}

parapet_status pp_series_check_uncommitted(const parapet_series *series, bool *cuts)
{
    pp_row_records records;
    parapet_status status = pp_row_records_load(&records, series);
    int i;
    if (status == PARAPET_OK)
        status = check_group(series, &records);
    if (status == PARAPET_OK)
        status = pp_series_check_consolidated_copy(series);
    for (i = 0; i <= series->count && status == PARAPET_OK; i++)
        status = check_array(series, &records, i);
    *cuts = pp_row_records_lead_to(&records, series, -1);
    pp_row_records_clear(&records);
    if (status == PARAPET_ERR_FORMAT && pp_series_has_moved(series))
        status = pp_fail(PARAPET_ERR_STALE, "another job has changed the series meanwhile; repeat the call");
    return status;
}

parapet_status pp_series_adopt_uncommitted(parapet_series *series)
{
    int64_t steps = pp_array_document_of(series->arrays[series->count])->shape[0];
    int i;
    for (i = 0; i < series->count; i++) {
        int64_t found = pp_array_document_of(series->arrays[i])->shape[0];
        if (found != steps)
            return pp_fail(PARAPET_ERR_FORMAT,
                           "\"%s\" has %lld steps, but \"%s\" has %lld: the steps beyond the committed ones cannot "
                           "be adopted; complete them, or cut them off with PARAPET_BEYOND_CUT",
                           pp_array_path(series->arrays[i]), (long long)found,
                           pp_array_path(series->arrays[series->count]), (long long)steps);
    }
    series->steps = series->steps_committed = steps;
    series->is_uncertain = false;
    return PARAPET_OK;
}
