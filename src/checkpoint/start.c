/* start.c - a checkpoint beside the computation: what start hands to a thread, and what wait takes back.
 */
#include "checkpoint/checkpoint.h"

#include <pthread.h>

#include "array/array.h"
#include "array/store.h"
#include "base/checked.h"
#include "geometry/strided.h"

/* A part as the thread needs it: the caller's own list may be gone by then. */
typedef struct kept_part {
    int64_t start[PARAPET_MAX_NDIM], count[PARAPET_MAX_NDIM], strides[PARAPET_MAX_NDIM];
    pp_buffer copy;
} kept_part;

struct pp_checkpoint_job {
    parapet_checkpoint *checkpoint;
    int count;
    parapet_array **arrays;
    parapet_array_parts *list;
    parapet_part **parts; /* for each array */
    kept_part **kept;
    pp_failure outcome;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_done;
};

static void free_job(pp_checkpoint_job *job)
{
    int i, part;
    if (job == NULL)
        return;
    for (i = 0; i < job->count; i++) {
        for (part = 0; job->kept != NULL && job->kept[i] != NULL && part < job->list[i].part_count; part++)
            pp_buffer_free(&job->kept[i][part].copy);
        if (job->kept != NULL)
            pp_free(job->kept[i]);
        if (job->parts != NULL)
            pp_free(job->parts[i]);
    }
    pp_free(job->kept);
    pp_free(job->parts);
    pp_free(job->list);
    pp_free(job->arrays);
    pp_free(job);
}

static parapet_status build_job(pp_checkpoint_job **made, parapet_checkpoint *checkpoint, int count)
{
    size_t room = count > 0 ? (size_t)count : 1;
    pp_checkpoint_job *job;
    parapet_status status = pp_allocate(made, sizeof **made);
    if (status != PARAPET_OK)
        return status;
    job = *made;
    job->checkpoint = checkpoint;
    if ((status = pp_allocate_array(&job->arrays, room, sizeof job->arrays[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&job->list, room, sizeof job->list[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&job->parts, room, sizeof job->parts[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&job->kept, room, sizeof job->kept[0])) != PARAPET_OK)
        return status;
    job->count = count > 0 ? count : 0;
    return PARAPET_OK;
}

static void copy_elements(const pp_box *box, const pp_part_memory *memory, size_t element_bytes, kept_part *kept)
{
    pp_strides_c_order(box->ndim, box->count, element_bytes, kept->strides);
    pp_strided_copy(&(pp_strided){.ndim = box->ndim,
                                  .element_bytes = element_bytes,
                                  .count = box->count,
                                  .target = kept->copy.data,
                                  .target_strides = kept->strides,
                                  .source = memory->data,
                                  .source_strides = memory->strides});
}

static parapet_status keep_part(parapet_array *array, const pp_box *box, const pp_part_memory *memory,
                                parapet_buffering buffering, kept_part *kept, parapet_part *part)
{
    size_t element_bytes = pp_array_layout(array)->tiling.element_bytes;
    parapet_status status;
    int d;
    for (d = 0; d < box->ndim; d++) {
        kept->start[d] = box->start[d];
        kept->count[d] = box->count[d];
        kept->strides[d] = memory->strides[d];
    }
    *part = (parapet_part){.ndim = box->ndim, .start = kept->start, .count = kept->count, .data = memory->data};
    part->strides_bytes = kept->strides;
    if (buffering == PARAPET_BUFFERING_BORROW || pp_box_element_count(box) == 0)
        return PARAPET_OK;
    status =
        pp_buffer_init(&kept->copy, pp_store_budget(pp_array_store(array)),
                       (size_t)pp_box_element_count(box) * element_bytes, "a copy of what a checkpoint is given");
    if (status != PARAPET_OK)
        return status;
    copy_elements(box, memory, element_bytes, kept);
    part->data = kept->copy.data;
    return PARAPET_OK;
}

/* Everything of the caller's that the thread will need; checked as a write would. */
static parapet_status keep_item(pp_checkpoint_job *job, int i, const parapet_checkpoint_item *item,
                                parapet_buffering buffering)
{
    parapet_array *array = job->arrays[i];
    pp_parts parts = {0};
    int part;
    parapet_status status = pp_parts_init(&parts, item->parts, item->part_count, pp_array_layout(array),
                                          pp_array_document_of(array)->type.id);
    if (status == PARAPET_OK &&
        (status = pp_allocate_array(&job->parts[i], (size_t)parts.count, sizeof job->parts[i][0])) == PARAPET_OK &&
        (status = pp_allocate_array(&job->kept[i], (size_t)parts.count, sizeof job->kept[i][0])) == PARAPET_OK)
        job->list[i] = (parapet_array_parts){.array = array, .parts = job->parts[i], .part_count = parts.count};
    for (part = 0; part < parts.count && status == PARAPET_OK; part++)
        status = keep_part(array, &parts.boxes[part], &parts.memory[part], buffering, &job->kept[i][part],
                           &job->parts[i][part]);
    pp_parts_clear(&parts);
    return status;
}

/* [collective] */
static parapet_status commit(parapet_checkpoint *checkpoint)
{
    pp_call call;
    parapet_status status;
    pp_checkpoint_call(&call, "commit", checkpoint);
    status = pp_comm_begin(pp_store_comm(checkpoint->store), &call, PARAPET_OK);
    return status == PARAPET_OK ? pp_checkpoint_conclude(checkpoint) : status;
}

static void *run_job(void *argument)
{
    pp_checkpoint_job *job = argument;
    parapet_checkpoint *checkpoint = job->checkpoint;
    parapet_status status = pp_checkpoint_fill(checkpoint, job->arrays, job->list, job->count);
    pp_failure_take(&job->outcome, status);
    checkpoint->is_failed = status != PARAPET_OK;
    pp_failure_take(&job->outcome, parapet_arrays_close(job->arrays, job->count));
    pp_failure_take(&job->outcome, commit(checkpoint));
    atomic_store(&job->is_done, true);
    return NULL;
}

/* [collective] All or none: a rank without a thread would keep the others waiting only until it comes to wait. */
static parapet_status run_beside(pp_checkpoint_job *job)
{
    int64_t allows = pp_comm_allows_any_thread();
    parapet_status status =
        pp_comm_agree_least(pp_store_comm(job->checkpoint->store), "starting a checkpoint", PARAPET_OK, &allows);
    if (status != PARAPET_OK)
        return status;
    job->has_thread = allows != 0 && pthread_create(&job->thread, NULL, run_job, job) == 0;
    if (!job->has_thread)
        (void)run_job(job);
    return PARAPET_OK;
}

static parapet_status start(pp_checkpoint_job *job, const parapet_checkpoint_item *items, parapet_buffering buffering)
{
    parapet_checkpoint *checkpoint = job->checkpoint;
    pp_failure failure = {0};
    pp_call call;
    parapet_status status = pp_checkpoint_create(checkpoint, items, job->count, job->arrays);
    int i;
    if (status != PARAPET_OK)
        return status;
    for (i = 0; i < job->count && status == PARAPET_OK; i++)
        status = keep_item(job, i, &items[i], buffering);
    pp_checkpoint_call(&call, "start", checkpoint);
    checkpoint->job = job;
    if ((status = pp_comm_begin(pp_store_comm(checkpoint->store), &call, status)) == PARAPET_OK &&
        (status = run_beside(job)) == PARAPET_OK)
        return PARAPET_OK;
    checkpoint->job = NULL;
    pp_failure_take(&failure, status);
    (void)parapet_arrays_close(job->arrays, job->count);
    return pp_failure_put(&failure);
}

static parapet_status check_buffering(parapet_buffering buffering)
{
    if (buffering == PARAPET_BUFFERING_COPY || buffering == PARAPET_BUFFERING_BORROW)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "buffering is %d, but must be PARAPET_BUFFERING_COPY or PARAPET_BUFFERING_BORROW", (int)buffering);
}

parapet_status parapet_checkpoint_start(parapet_checkpoint *checkpoint, const parapet_checkpoint_item *items,
                                        int count, parapet_buffering buffering)
{
    pp_checkpoint_job *job = NULL;
    pp_call call;
    parapet_status status;
    if ((status = pp_checkpoint_check_idle(checkpoint, "start")) != PARAPET_OK)
        return pp_outcome(status);
    pp_checkpoint_call(&call, "start", checkpoint);
    pp_call_add_integer(&call, "count", count);
    if ((status = check_buffering(buffering)) == PARAPET_OK)
        status = build_job(&job, checkpoint, count);
    if ((status = pp_comm_begin(pp_store_comm(checkpoint->store), &call, status)) == PARAPET_OK &&
        (status = start(job, items, buffering)) != PARAPET_OK)
        checkpoint->is_failed = true;
    if (status != PARAPET_OK)
        free_job(job);
    return pp_outcome(status);
}

parapet_status parapet_checkpoint_test(parapet_checkpoint *checkpoint, int *is_done)
{
    if (checkpoint == NULL || is_done == NULL || checkpoint->job == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_checkpoint_test needs a checkpoint that was started");
    *is_done = atomic_load(&checkpoint->job->is_done);
    return pp_outcome(PARAPET_OK);
}

parapet_status parapet_checkpoint_wait(parapet_checkpoint **checkpoint, int64_t *generation)
{
    pp_checkpoint_job *job;
    parapet_status status;
    if (checkpoint == NULL || *checkpoint == NULL || (*checkpoint)->job == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_checkpoint_wait needs a checkpoint that was started");
    job = (*checkpoint)->job;
    if (job->has_thread)
        (void)pthread_join(job->thread, NULL);
    status = job->outcome.status != PARAPET_OK ? pp_failure_put(&job->outcome) : PARAPET_OK;
    if (generation != NULL)
        *generation = status == PARAPET_OK ? (*checkpoint)->commit.generation : 0;
    free_job(job);
    pp_checkpoint_drop(checkpoint);
    return pp_outcome(status);
}
