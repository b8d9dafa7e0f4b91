/* request.h - calls that were started: the program goes on while they run.
 *
 * A start is a collective call like any other. It waits for its turn, and so for what runs beside the program, checks
 * and copies what it was given, and begins: whatever is wrong up to here, all ranks are told, and there is no
 * request. Then the call itself runs beside the program (comm/turn.h), and the status that it returns is that of the
 * wait. */
#ifndef PARAPET_REQUEST_REQUEST_H
#define PARAPET_REQUEST_REQUEST_H

#include <parapet_arrays.h>

#include "comm/comm.h"

/* A call that can be started. */
typedef struct pp_startable {
    /* [collective] Makes the call, beside the program. */
    parapet_status (*run)(void *job);
    /* When the call is over, beside the program, or when it was not started: frees what job refers to; job itself is
     * freed with the request. */
    void (*clear)(void *job);
    /* Where the program has waited for it; NULL: nothing. */
    void (*finish)(void *job, parapet_status status);
    size_t job_bytes;
} pp_startable;

/* [local] A request with a job, which is zero. Start or drop it. */
parapet_status pp_request_build(parapet_request **request, parapet_store *store, const pp_startable *call);
void *pp_request_job(parapet_request *request);

/* [collective] Begins, with the status of this rank so far, and starts. made may be NULL after a failure. After a
 * failure there is no request: it was dropped. */
parapet_status pp_request_start(parapet_request **request, parapet_request *made, parapet_store *store,
                                const pp_call *call, parapet_status mine);

#endif
