/* pipeline.h - overlaps storage with encoding or decoding: items pass from producers to consumers through a ring
 * of slots.
 *
 *     next --> | slot | slot | slot | --> consume        writing: workers produce, one storage thread consumes
 *              produce ^                                 reading: one storage thread produces, workers consume
 *
 * Items are handed out in order on both sides, so that a single consumer sees them in order. The calling thread
 * takes part; others are started for one run and joined before it ends. With one thread and no helper, the same
 * job runs as a plain loop. Knows nothing of arrays. Depends on base. */
#ifndef PARAPET_TRANSFER_PIPELINE_H
#define PARAPET_TRANSFER_PIPELINE_H

#include <stdbool.h>

#include "base/memory.h"

typedef enum pp_pipeline_role { PP_PIPELINE_PRODUCES, PP_PIPELINE_CONSUMES } pp_pipeline_role;

/* A job: every function gets context. item points to one of slot_count structs of item_bytes in items. */
typedef struct pp_pipeline_job {
    void *context;
    /* Fills item with the next piece of work, or sets *is_end. Never called by two threads at once. */
    parapet_status (*next)(void *context, void *item, bool *is_end);
    parapet_status (*produce)(void *context, int worker, void *item);
    parapet_status (*consume)(void *context, int worker, void *item);
    /* Called on the calling thread every few items; a failure ends the run. May be NULL. */
    parapet_status (*tick)(void *context);

    void *items;
    size_t item_bytes;
    int slot_count;
    int worker_count;         /* threads on the workers' side, the calling one included */
    pp_pipeline_role workers; /* which side the workers are on; the other side is one storage thread */
    bool has_storage_thread;  /* false with worker_count 1: no thread is started */
} pp_pipeline_job;

/* Runs until next says end and everything is consumed, or until something fails: then the first failure. */
parapet_status pp_pipeline_run(const pp_pipeline_job *job);

#endif
