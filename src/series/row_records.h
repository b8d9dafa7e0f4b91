/* row_records.h - what a series is about to change, written down before it does: a log with a record
 * (change/change_record.h) for each row; on rank 0 alone.
 *
 *     <path>/<dimension>/__parapet/changes
 *
 * It lies with the coordinate and not with the group, because some readers that list a group report folders that are
 * neither arrays nor groups. It is removed when the series is closed and everything is committed. */
#ifndef PARAPET_SERIES_ROW_RECORDS_H
#define PARAPET_SERIES_ROW_RECORDS_H

#include <parapet_arrays.h>

#include "change/change_record.h"
#include "store/store.h"

/* Notes that the arrays are about to get the steps that their handles have. */
parapet_status pp_row_records_add(parapet_series *series, int64_t steps);

/* Removes the log, when nothing that it announces is under way. */
parapet_status pp_row_records_forget(parapet_series *series);

/* The records of an earlier run. */
typedef struct pp_row_records {
    pp_change_log log;
    pp_budget *budget; /* pays for them */
    size_t reserved_bytes;
} pp_row_records;

/* The arrays must be open. Clear them even after a failure. */
parapet_status pp_row_records_load(pp_row_records *records, const parapet_series *series);

/* The same from a log that is open; records is all zero. */
parapet_status pp_row_records_take(pp_row_records *records, const parapet_series *series, pp_reader *log);
void pp_row_records_clear(pp_row_records *records);

/* Whether the series was about to go from the committed steps to this number; steps < 0: to any number. */
bool pp_row_records_lead_to(const pp_row_records *records, const parapet_series *series, int64_t steps);

/* Whether the document of an array whose steps differ from the committed ones is one that the series was about to
 * write. */
bool pp_row_records_explain(const pp_row_records *records, const parapet_series *series, int index);

#endif
