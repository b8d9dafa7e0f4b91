/* pipeline.h - overlaps storage, encoding and messages: items pass through a ring of slots.
 *
 *     next --> | slot | slot | slot | --> consume        writing: workers produce, one storage thread consumes
 *              produce ^                                 reading: one storage thread produces, workers consume
 *
 * Items are issued in order on both sides, so that a single consumer sees them in order. Two more stations are
 * outside, on the thread that calls MPI: an item may have to be fetched before it is produced (pieces that come as
 * messages), and sent before its slot is free again:
 *
 *     next [-> fetch] -> produce -> consume [-> send] -> free
 *
 * What is sent of an item may be only some of it; then it is consumed and sent once more, before newer ones.
 *
 * If the rank is alone, the calling thread is one of the workers (pp_pipeline_run). With other ranks it only steps:
 * all work is done on other threads or, if threads are not allowed, a little at a time by pp_pipeline_step. Knows
 * nothing of arrays or MPI. Depends on base. */
#ifndef PARAPET_TRANSFER_PIPELINE_H
#define PARAPET_TRANSFER_PIPELINE_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/pool.h"

typedef enum pp_pipeline_role { PP_PIPELINE_PRODUCES, PP_PIPELINE_CONSUMES } pp_pipeline_role;

/* A job: every function gets context. item points to one of slot_count structs of item_bytes in items. */
typedef struct pp_pipeline_job {
    void *context;
    /* Fills item with the next piece of work, or sets *is_end. Never called by two threads at once. */
    parapet_status (*next)(void *context, void *item, bool *is_end);
    parapet_status (*produce)(void *context, int worker, void *item);
    parapet_status (*consume)(void *context, int worker, void *item);
    /* Whether the item has to be fetched now: asked after next, and again after produce, which may find out that it
     * cannot continue without. NULL: never. */
    bool (*wants_fetch)(void *context, const void *item);
    /* Whether the item has to be sent: asked after consume. NULL: never. */
    bool (*wants_send)(void *context, const void *item);
    /* Whether the item has to be consumed once more when it has been sent: asked after wants_send, if that said yes.
     * NULL: never. */
    bool (*has_more)(void *context, const void *item);
    /* Called on the calling thread every few items; a failure ends the run. May be NULL. */
    parapet_status (*tick)(void *context);

    void *items;
    size_t item_bytes;
    int slot_count;
    int worker_count;         /* threads on the workers' side, including the calling one if the rank is alone */
    pp_pipeline_role workers; /* which side the workers are on; the other side is one storage thread */
    pp_pool *pool;            /* where threads come from; NULL with worker_count 1: none are needed */
} pp_pipeline_job;

/* Alone: runs until next reports the end and everything is consumed, or until something fails; returns the first
 * failure. */
parapet_status pp_pipeline_run(const pp_pipeline_job *job);

typedef struct pp_pipeline pp_pipeline;

/* With other ranks: starts the threads. The job must outlive the pipeline. */
parapet_status pp_pipeline_start(pp_pipeline **line, const pp_pipeline_job *job);

/* Without threads: does one piece of work, if there is one to do. With threads: nothing. true: something happened. */
bool pp_pipeline_step(pp_pipeline *line);

/* The outside stations. take: an item that waits there, or NULL. done: it has passed. */
void *pp_pipeline_take_to_fetch(pp_pipeline *line);
void *pp_pipeline_take_to_send(pp_pipeline *line);
void pp_pipeline_fetched(pp_pipeline *line, void *item);
void pp_pipeline_sent(pp_pipeline *line, void *item);

/* Ends the run early. PARAPET_OK: nothing failed here, but nothing more is needed. */
void pp_pipeline_stop(pp_pipeline *line, parapet_status status);

/* Something has failed, or the line was stopped. */
bool pp_pipeline_is_stopping(pp_pipeline *line);

/* Everything is done or given up, and no thread is working. Items at the outside stations stay there. */
bool pp_pipeline_is_over(pp_pipeline *line);

/* Sleeps until something changes in the line, but at most this long. */
void pp_pipeline_wait(pp_pipeline *line, long nanoseconds);

/* After is_over: frees the line and returns the first failure. */
parapet_status pp_pipeline_finish(pp_pipeline *line);

#endif
