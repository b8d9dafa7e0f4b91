/* problem.h - what the planner has to know about two layouts. */
#ifndef PARAPET_COPY_PROBLEM_H
#define PARAPET_COPY_PROBLEM_H

#include "copy/view.h"

/* unit_bytes as given or, for 0, the default: 1 GiB, or memory_bytes if that is more. */
int64_t pp_copy_unit_bytes(int64_t given, int64_t memory_bytes);

/* What the ranks of a copy may use, and what the request prescribes. */
typedef struct pp_copy_means {
    int64_t memory_bytes, unit_bytes, cooperation_bytes; /* as in pp_rechunk_problem */
    int threads, ranks;
    bool is_source_sealed;
    int passes; /* 0: chosen */
    parapet_reading reading;
    parapet_cooperation cooperation;
    pp_rechunk_machine machine;
} pp_copy_means;

/* Bytes of a message between ranks that read together. The size is fixed, because otherwise the smallest limit would
 * depend on it. */
#define PP_COPY_MESSAGE_BYTES ((size_t)128 << 10)

/* What a collective read takes on every rank in addition to the template; 0: there is only one rank. */
int64_t pp_copy_cooperation_bytes(const pp_layout *source, int ranks);

/* What the planner has to know about two layouts. */
void pp_copy_problem_init(pp_rechunk_problem *problem, const pp_layout *source, const pp_layout *target,
                          const pp_copy_view *view, const pp_copy_means *means);

#endif
