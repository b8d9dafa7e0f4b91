/* checkpoint_start.c - a checkpoint beside the program. */
#include "array/array.h"
#include "array/part_calls.h"
#include "array/store_queries.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/checkpoint_handle.h"
#include "request/part_copies.h"
#include "request/request.h"

typedef struct job {
    parapet_checkpoint *checkpoint;
    pp_filling filling;
    pp_part_copies copies;
} job;

/* [collective] */
static parapet_status commit(parapet_checkpoint *checkpoint)
{
    pp_call call;
    parapet_status status;
    pp_checkpoint_call(&call, "commit", checkpoint);
    status = pp_comm_begin_at_once(pp_store_comm(checkpoint->store), &call, PARAPET_OK);
    return status == PARAPET_OK ? pp_checkpoint_conclude(checkpoint) : status;
}

/* The handle goes, as with any commit: then the program may begin the next generation before it has waited. */
static parapet_status run_job(void *context)
{
    job *self = context;
    pp_failure failure = {0};
    pp_call call;
    pp_checkpoint_call(&call, "write", self->checkpoint);
    pp_failure_take(&failure, pp_checkpoint_fill(&self->filling, &call, PARAPET_OK));
    pp_failure_take(&failure, commit(self->checkpoint));
    pp_checkpoint_drop(&self->checkpoint);
    return pp_failure_put(&failure);
}

static void clear_job(void *context)
{
    job *self = context;
    pp_part_copies_clear(&self->copies);
    pp_filling_clear(&self->filling);
}

static parapet_status copy_parts(job *self, const pp_parts *parts, parapet_buffering buffering)
{
    pp_filling *filling = &self->filling;
    pp_part_copying copying = {.budget = pp_store_budget(self->checkpoint->store),
                               .parts = parts,
                               .count = filling->count,
                               .buffering = buffering};
    parapet_status status;
    int i;
    for (i = 0; i < filling->count; i++)
        copying.transfer_bytes += pp_array_write_bytes(filling->arrays[i], (size_t)parts[i].count,
                                                       pp_array_layout(filling->arrays[i])->tiling.shards.cell_count);
    if ((status = pp_part_copies_init(&self->copies, &copying)) == PARAPET_OK)
        pp_part_copies_list(&self->copies, filling->list, filling->count);
    return status;
}

/* Everything of the caller's that will be needed, checked as a put would. */
static parapet_status keep_items(job *self, const parapet_checkpoint_item *items, int count,
                                 parapet_buffering buffering, pp_call *call)
{
    pp_filling *filling = &self->filling;
    pp_parts *parts = NULL;
    parapet_status status;
    int i;
    if ((status = pp_buffering_check(buffering)) != PARAPET_OK ||
        (status = pp_filling_init(filling, self->checkpoint, items, count, call)) != PARAPET_OK ||
        (status = pp_allocate_array(&parts, count > 0 ? (size_t)count : 1, sizeof parts[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = pp_parts_init(&parts[i], items[i].parts, items[i].part_count, pp_array_layout(filling->arrays[i]),
                               pp_array_document_of(filling->arrays[i])->type.id);
    if (status == PARAPET_OK)
        status = copy_parts(self, parts, buffering);
    pp_free(parts);
    return status;
}

/* From the start on the request has the handle. */
static parapet_status start(parapet_request **request, parapet_checkpoint **checkpoint, parapet_request *made,
                            const pp_call *call, parapet_status mine)
{
    parapet_store *store = (*checkpoint)->store;
    parapet_status status = pp_request_start(request, made, store, call, mine);
    if (status == PARAPET_OK)
        *checkpoint = NULL;
    else if (pp_comm_is_same_call(pp_store_comm(store)))
        (*checkpoint)->is_failed = true;
    return status;
}

parapet_status parapet_checkpoint_start(parapet_request **request, parapet_checkpoint **checkpoint,
                                        const parapet_checkpoint_item *items, int count, parapet_buffering buffering,
                                        int64_t *generation)
{
    static const pp_startable startable = {.run = run_job, .clear = clear_job, .job_bytes = sizeof(job)};
    parapet_request *made = NULL;
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if (request == NULL || checkpoint == NULL || *checkpoint == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "parapet_checkpoint_start needs a checkpoint and a pointer for the request");
    *request = NULL;
    if ((status = pp_turn_take(&turn, pp_store_comm((*checkpoint)->store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    if (generation != NULL)
        *generation = (*checkpoint)->commit.generation;
    pp_checkpoint_call(&call, "start", *checkpoint);
    if ((status = pp_request_build(&made, (*checkpoint)->store, &startable)) == PARAPET_OK) {
        job *self = pp_request_job(made);
        self->checkpoint = *checkpoint;
        status = keep_items(self, items, count, buffering, &call);
    }
    return pp_outcome(start(request, checkpoint, made, &call, status));
}
