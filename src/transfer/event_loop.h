/* event_loop.h - runs a pipeline together with the other ranks: the one loop in which a rank is server and client at
 * once.
 *
 * The calling thread is the one that calls MPI. It passes windows that need messages to the protocol and back to the
 * pipeline, answers the other servers, spreads failures, and ends when all ranks agree. It makes no storage call, so
 * that a server that is stuck in a flush still answers its peers; only what closes the last shard before others are
 * taken is one. Only without threads does it do all the work itself, one window at a time. */
#ifndef PARAPET_TRANSFER_EVENT_LOOP_H
#define PARAPET_TRANSFER_EVENT_LOOP_H

#include "comm/stealing.h"
#include "transfer/deliveries.h"
#include "transfer/pipeline.h"

typedef struct pp_event_loop {
    const pp_session *session;
    pp_pull *pull;
    const pp_pipeline_job *job; /* NULL: this rank only answers */
    bool is_empty;              /* the job has nothing to do yet */
    const char *phase;
    pp_deliveries *(*deliveries_of)(void *item); /* of an item at an outside station */
    pp_stealing *taking;                         /* NULL: a job that has come to its end stays there */
    /* The job, by its context: has come to its end and asks for more; has been given more, and is to run again. */
    void (*ask_for_more)(void *context);
    parapet_status (*refill)(void *context);
} pp_event_loop;

/* [collective] Same status on every rank. *is_abandoned: a deadline passed while messages were in transit, so the
 * buffers of the job must not be freed. */
parapet_status pp_event_loop_run(const pp_event_loop *drive, bool *is_abandoned);

#endif
