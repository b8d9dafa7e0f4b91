#include "request/request.h"

#include <parapet_store.h>
#include <stdatomic.h>

#include "array/store_queries.h"
#include "base/status.h"
#include "comm/turn.h"

struct parapet_request {
    parapet_store *store;
    pp_startable call;
    void *job;
    pp_failure outcome;
    atomic_bool is_done;
};

parapet_status pp_request_build(parapet_request **request, parapet_store *store, const pp_startable *call)
{
    parapet_status status = pp_allocate(request, sizeof **request);
    if (status != PARAPET_OK)
        return status;
    (*request)->store = store;
    (*request)->call = *call;
    if ((status = pp_allocate(&(*request)->job, call->job_bytes)) != PARAPET_OK) {
        pp_free(*request);
        *request = NULL;
    }
    return status;
}

void *pp_request_job(parapet_request *request)
{
    return request->job;
}

static void free_request(parapet_request *request)
{
    pp_free(request->job);
    pp_free(request);
}

static void run_request(void *context)
{
    parapet_request *request = context;
    pp_turn turn;
    parapet_status status = pp_turn_take(&turn, pp_store_comm(request->store), PP_TURN_COLLECTIVE);
    pp_failure_take(&request->outcome, status == PARAPET_OK ? request->call.run(request->job) : status);
    request->call.clear(request->job);
    pp_turn_end(&turn);
    /* From here on it may be freed. */
    atomic_store(&request->is_done, true);
}

/* Whoever is alone asks MPI only whether it runs and what it allows, which any thread may at any level, and so needs
 * only that MPI tolerates threads. */
static bool may_have_thread(const parapet_store *store)
{
    if (pp_store_options(store)->io_thread == PARAPET_IO_THREAD_NONE)
        return false;
    return pp_comm_size(pp_store_comm(store)) > 1 ? pp_comm_allows_any_thread() : pp_comm_allows_threads();
}

parapet_status pp_request_start(parapet_request **request, parapet_request *made, parapet_store *store,
                                const pp_call *call, parapet_status mine)
{
    pp_failure failure = {0};
    parapet_status status = pp_comm_begin_at_once(pp_store_comm(store), call, mine);
    if (status == PARAPET_OK) {
        pp_store_add_handles(store, 1);
        pp_comm_run_beside(pp_store_comm(store), run_request, made, may_have_thread(store));
        *request = made;
        return PARAPET_OK;
    }
    pp_failure_take(&failure, status);
    if (made != NULL) {
        made->call.clear(made->job);
        free_request(made);
    }
    return pp_failure_put(&failure);
}

parapet_status parapet_request_test(parapet_request *request, int *is_done)
{
    if (request == NULL || is_done == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_request_test needs a request and a pointer for the result");
    *is_done = atomic_load(&request->is_done);
    return pp_outcome(*is_done ? PARAPET_OK : pp_turn_check_process(pp_store_comm(request->store)));
}

parapet_status parapet_request_wait(parapet_request **request)
{
    parapet_status status;
    parapet_request *waited;
    if (request == NULL || *request == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_request_wait needs a request");
    waited = *request;
    if ((status = pp_turn_check(pp_store_comm(waited->store))) != PARAPET_OK)
        return status;
    if (!atomic_load(&waited->is_done) &&
        (status = pp_turn_check_process(pp_store_comm(waited->store))) != PARAPET_OK)
        return status;
    if (!atomic_load(&waited->is_done)) /* else a newer one may run */
        pp_comm_complete(pp_store_comm(waited->store));
    status = waited->outcome.status;
    if (waited->call.finish != NULL)
        waited->call.finish(waited->job, status);
    status = pp_failure_put(&waited->outcome);
    pp_store_drop_handles(waited->store, 1);
    free_request(waited);
    *request = NULL;
    return pp_outcome(status);
}
