/* progress.h - how far a copy is, and what it has done so far. */
#ifndef PARAPET_COPY_PROGRESS_H
#define PARAPET_COPY_PROGRESS_H

#include "rechunk/rechunk.h"

typedef struct pp_copy_progress {
    int64_t done_bytes, total_bytes; /* of all arrays and passes; done before the current pass */
} pp_copy_progress;

/* What a copy has done so far, as in parapet_copy_result: on this rank, until all ranks are added up (copy.c). */
typedef struct pp_copy_totals {
    pp_rechunk_counts done; /* of all passes of all arrays */
    int64_t arrays, groups, passes;
    int64_t array_bytes, verified_bytes;
    int64_t memory_peak_bytes, memory_planned_bytes;
    double planned_seconds, seconds;
    int64_t extent_before, extent_after, repaired; /* of an append */
    uint32_t shape;                                /* of the last array: as in pp_copy_surveyed */
} pp_copy_totals;

#endif
