/* pass.h - runs one pass of a copy on this rank: source chunks in, target shards out, within the pass's plan.
 *
 * A rank does whole work units, one after the other. What it has done is durable after every template and written
 * into the journal of the work unit (journal.h), so that a rank that resumes the work unit after a crash continues
 * from there. */
#ifndef PARAPET_COPY_PASS_H
#define PARAPET_COPY_PASS_H

#include "base/ranges.h"
#include "copy/view.h"
#include "rechunk/rechunk.h"
#include "transfer/transfer.h"

typedef struct pp_copy_job {
    const pp_transfer_context *source, *target; /* the target's budget pays for everything */
    const pp_copy_view *view;
    const pp_rechunk_pass *pass;
    const char *state;       /* where journals and unfinished shards are kept: a prefix in the target's store */
    const pp_ranges *stored; /* shards of the source, when it is sparse: nothing else is looked at; else NULL */
    const pp_team *team;     /* cooperating: of the source's ranks; else NULL */
    int rank, rank_count;    /* the rank that does a work unit is its number modulo rank_count, or takes it */
    struct pp_unit_stealing *dealing; /* of the work units, unless the pass cooperates: then NULL */
    /* An intermediate array is stored whole, so that a missing chunk of it is not mistaken for a hole. */
    bool is_source_whole, is_target_whole;
    /* What earlier passes copied: a target chunk of which nothing is stored there stays absent, although the
     * intermediate array has fill value for it. NULL: the source of this pass decides. */
    struct pp_copy_job *origin;
    pp_rechunk_counts done;  /* by this rank; requests of ranks that read together are not counted */
    atomic_llong done_bytes; /* elements of templates finished or under way; read by whoever reports progress */
    int64_t all_done_bytes;  /* cooperating: the same of all ranks */
    parapet_status (*tick)(void *context); /* called now and then on the calling thread; a failure ends the pass */
    void *tick_context;
} pp_copy_job;

/* [collective] Not the same status on every rank: the pass ends with an agreement. After a failure, finished work
 * stays for a later run. */
parapet_status pp_copy_pass_run(pp_copy_job *job);

#endif
