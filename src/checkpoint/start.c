/* start.c - a checkpoint beside the computation: what start hands to a thread, and what wait takes back.
 */
#include "checkpoint/checkpoint.h"

#include <pthread.h>
#include <string.h>

#include "array/array.h"
#include "array/create.h"
#include "array/parts.h"
#include "array/store.h"
#include "base/checked.h"
#include "base/list.h"
#include "geometry/strided.h"

/* The parts of an array as the thread needs them: the caller's own list may be gone by then. */
typedef struct kept_item {
    pp_list parts;   /* of parapet_part */
    pp_list numbers; /* of those: start, count and strides */
    pp_buffer copy;  /* of their elements, one part behind the other */
    size_t filled;
} kept_item;

struct pp_checkpoint_job {
    pp_filling filling;
    kept_item *kept; /* one of each array */
    pp_failure outcome;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_done;
};

static void free_job(pp_checkpoint_job *job)
{
    int i;
    if (job == NULL)
        return;
    for (i = 0; job->kept != NULL && i < job->filling.count; i++) {
        pp_list_clear(&job->kept[i].parts);
        pp_list_clear(&job->kept[i].numbers);
        pp_buffer_free(&job->kept[i].copy);
    }
    pp_free(job->kept);
    pp_filling_clear(&job->filling);
    pp_free(job);
}

static parapet_status build_job(pp_checkpoint_job **made, parapet_checkpoint *checkpoint,
                                const parapet_checkpoint_item *items, int count, pp_call *call)
{
    parapet_status status = pp_allocate(made, sizeof **made);
    if (status != PARAPET_OK ||
        (status = pp_filling_init(&(*made)->filling, checkpoint, items, count, call)) != PARAPET_OK)
        return status;
    return pp_allocate_array(&(*made)->kept, count > 0 ? (size_t)count : 1, sizeof(*made)->kept[0]);
}

/* The elements go behind those that are copied already, densely packed; numbers has their strides from then on. */
static void copy_elements(kept_item *kept, const pp_part *part, size_t element_bytes, parapet_part *made,
                          int64_t *strides)
{
    const pp_box *box = &part->box;
    made->data = kept->copy.data + kept->filled;
    kept->filled += (size_t)pp_box_element_count(box) * element_bytes;
    pp_strides_c_order(box->ndim, box->count, element_bytes, strides);
    pp_strided_copy(&(pp_strided){.ndim = box->ndim,
                                  .element_bytes = element_bytes,
                                  .count = box->count,
                                  .target = made->data,
                                  .target_strides = strides,
                                  .source = part->data,
                                  .source_strides = part->strides});
}

/* There is room. */
static parapet_status keep_part(kept_item *kept, const pp_part *part, size_t element_bytes)
{
    int64_t numbers[3 * PARAPET_MAX_NDIM];
    int ndim = part->box.ndim;
    size_t bytes = (size_t)ndim * sizeof numbers[0];
    parapet_part made = {.ndim = ndim, .data = part->data};
    int64_t *stays;
    parapet_status status;
    memcpy(numbers, part->box.start, bytes);
    memcpy(numbers + ndim, part->box.count, bytes);
    memcpy(numbers + ndim + ndim, part->strides, bytes);
    if (kept->copy.data != NULL && !pp_box_is_empty(&part->box))
        copy_elements(kept, part, element_bytes, &made, numbers + ndim + ndim);
    if ((status = pp_list_add(&kept->numbers, numbers)) != PARAPET_OK)
        return status;
    stays = pp_list_at(&kept->numbers, kept->numbers.count - 1);
    made.start = stays;
    made.count = stays + ndim;
    made.strides_bytes = stays + ndim + ndim;
    return pp_list_add(&kept->parts, &made);
}

/* Room for everything: the lists do not move any more once they are filled. */
static parapet_status reserve_item(kept_item *kept, parapet_array *array, const pp_parts *parts,
                                   parapet_buffering buffering)
{
    pp_budget *budget = pp_store_budget(pp_array_store(array));
    int64_t bytes, elements = pp_parts_element_count(parts);
    size_t ndim = (size_t)pp_array_document_of(array)->ndim;
    parapet_status status;
    pp_list_init(&kept->parts, sizeof(parapet_part), budget, "the parts that a checkpoint is given");
    pp_list_init(&kept->numbers, pp_max_size(3 * ndim, 1) * sizeof(int64_t), budget,
                 "the parts that a checkpoint is given");
    if ((status = pp_list_reserve(&kept->parts, (size_t)parts->count)) != PARAPET_OK ||
        (status = pp_list_reserve(&kept->numbers, (size_t)parts->count)) != PARAPET_OK)
        return status;
    if (buffering == PARAPET_BUFFERING_BORROW || elements == 0)
        return PARAPET_OK;
    if (!pp_multiply_fits(elements, (int64_t)parts->element_bytes, &bytes))
        return pp_fail(PARAPET_ERR_MEMORY, "the parts of \"%s\" need more memory than any machine has",
                       pp_array_path(array));
    return pp_buffer_init(&kept->copy, budget, (size_t)bytes, "a copy of what a checkpoint is given");
}

/* What is kept of the parts of one item; the elements may be more than can be counted, which reserve_item refuses. */
static size_t kept_bytes(const parapet_array *array, const pp_parts *parts, parapet_buffering buffering)
{
    size_t ndim = (size_t)pp_array_document_of(array)->ndim;
    size_t lists = (size_t)parts->count * (sizeof(parapet_part) + pp_max_size(3 * ndim, 1) * sizeof(int64_t));
    int64_t bytes;
    bool is_copied = buffering != PARAPET_BUFFERING_BORROW &&
                     pp_multiply_fits(pp_parts_element_count(parts), (int64_t)parts->element_bytes, &bytes);
    return lists + (is_copied ? (size_t)bytes : 0);
}

/* Refuses what cannot be kept before any of it is, with a limit that is enough for all items and for writing them. */
static parapet_status check_room(const pp_checkpoint_job *job, const parapet_checkpoint_item *items,
                                 parapet_buffering buffering)
{
    pp_budget *budget = pp_store_budget(job->filling.checkpoint->store);
    parapet_status status = PARAPET_OK;
    size_t kept = 0, written = 0;
    pp_parts parts;
    int i;
    for (i = 0; i < job->filling.count && status == PARAPET_OK; i++) {
        const parapet_array *array = job->filling.arrays[i];
        status = pp_parts_init(&parts, items[i].parts, items[i].part_count, pp_array_layout(array),
                               pp_array_document_of(array)->type.id);
        if (status != PARAPET_OK)
            return status;
        kept += kept_bytes(array, &parts, buffering);
        written += pp_array_write_bytes(array, (size_t)parts.count, pp_array_layout(array)->tiling.shards.cell_count);
    }
    pp_budget_expect(budget, written);
    status = pp_budget_check(budget, kept, "the parts that a checkpoint is given");
    pp_budget_expect(budget, 0);
    return status;
}

/* Everything of the caller's that the thread will need; checked as a write would. */
static parapet_status keep_item(pp_checkpoint_job *job, int i, const parapet_checkpoint_item *item,
                                parapet_buffering buffering)
{
    parapet_array *array = job->filling.arrays[i];
    kept_item *kept = &job->kept[i];
    pp_parts parts;
    pp_part part;
    int number;
    parapet_status status = pp_parts_init(&parts, item->parts, item->part_count, pp_array_layout(array),
                                          pp_array_document_of(array)->type.id);
    if (status == PARAPET_OK)
        status = reserve_item(kept, array, &parts, buffering);
    for (number = 0; number < parts.count && status == PARAPET_OK; number++) {
        pp_parts_at(&parts, number, &part);
        status = keep_part(kept, &part, parts.element_bytes);
    }
    job->filling.list[i] = (parapet_array_parts){
        .array = array, .parts = pp_list_at(&kept->parts, 0), .part_count = (int)kept->parts.count};
    return status;
}

/* [collective] */
static parapet_status commit(parapet_checkpoint *checkpoint)
{
    pp_call call;
    parapet_status status;
    pp_checkpoint_call(&call, "commit", checkpoint);
    status = pp_comm_begin_at_once(pp_store_comm(checkpoint->store), &call, PARAPET_OK);
    return status == PARAPET_OK ? pp_checkpoint_conclude(checkpoint) : status;
}

static void *run_job(void *argument)
{
    pp_checkpoint_job *job = argument;
    parapet_checkpoint *checkpoint = job->filling.checkpoint;
    pp_call call;
    pp_checkpoint_call(&call, "write", checkpoint);
    pp_failure_take(&job->outcome, pp_checkpoint_fill(&job->filling, &call, PARAPET_OK));
    pp_failure_take(&job->outcome, commit(checkpoint));
    atomic_store(&job->is_done, true);
    return NULL;
}

/* [collective] All or none: a rank without a thread would keep the others waiting only until it comes to wait. What
 * is there already is refused before anything happens in the background. */
static parapet_status run_beside(pp_checkpoint_job *job)
{
    pp_filling *filling = &job->filling;
    int64_t allows = pp_comm_allows_any_thread();
    parapet_status status =
        filling->count > 0 ? pp_arrays_store_documents(filling->arrays, filling->count) : PARAPET_OK;
    status = pp_comm_agree_least(pp_store_comm(filling->checkpoint->store), "starting a checkpoint", status, &allows);
    if (status != PARAPET_OK)
        return status;
    filling->is_stored = true;
    filling->checkpoint->job = job;
    job->has_thread = allows != 0 && pthread_create(&job->thread, NULL, run_job, job) == 0;
    if (!job->has_thread)
        (void)run_job(job);
    return PARAPET_OK;
}

/* Everything of the caller's that the thread will need. */
static parapet_status keep_items(pp_checkpoint_job *job, const parapet_checkpoint_item *items,
                                 parapet_buffering buffering)
{
    parapet_status status = check_room(job, items, buffering);
    int i;
    for (i = 0; i < job->filling.count && status == PARAPET_OK; i++)
        status = keep_item(job, i, &items[i], buffering);
    return status;
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
    pp_comm *comm;
    parapet_status status;
    if ((status = pp_checkpoint_check_idle(checkpoint, "start")) != PARAPET_OK)
        return pp_outcome(status);
    comm = pp_store_comm(checkpoint->store);
    pp_checkpoint_call(&call, "start", checkpoint);
    if ((status = check_buffering(buffering)) == PARAPET_OK &&
        (status = build_job(&job, checkpoint, items, count, &call)) == PARAPET_OK)
        status = keep_items(job, items, buffering);
    if ((status = pp_comm_begin_at_once(comm, &call, status)) == PARAPET_OK &&
        (status = run_beside(job)) == PARAPET_OK)
        return pp_outcome(PARAPET_OK);
    checkpoint->is_failed = checkpoint->is_failed || pp_comm_is_same_call(comm);
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
