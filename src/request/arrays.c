/* arrays.c - reading and writing parts of arrays beside the program. */
#include "array/array.h"
#include "array/part_calls.h"
#include "array/store_queries.h"
#include "request/part_copies.h"
#include "request/request.h"

/* What was asked for. */
typedef struct wish {
    pp_direction direction;
    const parapet_array_parts *list;
    int count;
    parapet_buffering buffering;
} wish;

/* The same, as long as it takes. */
typedef struct job {
    pp_direction direction;
    pp_list list; /* of parapet_array_parts */
    pp_part_copies copies;
} job;

static parapet_status run_job(void *context)
{
    const job *self = context;
    return (self->direction == PP_WRITING ? parapet_arrays_write : parapet_arrays_read)(pp_list_at(&self->list, 0),
                                                                                        (int)self->list.count);
}

static void clear_job(void *context)
{
    job *self = context;
    pp_part_copies_clear(&self->copies);
    pp_list_clear(&self->list);
}

static parapet_status check_parts(pp_parts *parts, const parapet_array_parts *given, pp_direction direction)
{
    parapet_status status;
    if ((status = direction == PP_WRITING ? pp_array_check_writable(given->array)
                                          : pp_array_check_usable(given->array)) != PARAPET_OK ||
        (status = pp_array_check_readable(given->array)) != PARAPET_OK)
        return status;
    return pp_parts_init(parts, given->parts, given->part_count, pp_array_layout(given->array),
                         pp_array_document_of(given->array)->type.id);
}

static parapet_status check_array(const wish *asked, int i)
{
    const parapet_array *array = asked->list[i].array, *first = asked->list[0].array;
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "entry %d of the list has no array", i);
    if (pp_array_store(array) != pp_array_store(first))
        return pp_fail(PARAPET_ERR_ARGUMENT, "arrays \"%s\" and \"%s\" belong to different stores",
                       pp_array_path(first), pp_array_path(array));
    return PARAPET_OK;
}

static parapet_status check_list(const wish *asked, pp_parts *parts, size_t *transfer_bytes)
{
    parapet_status status = pp_buffering_check(asked->buffering);
    int i;
    for (i = 0; i < asked->count && status == PARAPET_OK; i++) {
        const parapet_array_parts *given = &asked->list[i];
        if ((status = check_array(asked, i)) == PARAPET_OK &&
            (status = check_parts(&parts[i], given, asked->direction)) == PARAPET_OK)
            *transfer_bytes += pp_array_write_bytes(given->array, (size_t)given->part_count,
                                                    pp_array_layout(given->array)->tiling.shards.cell_count);
    }
    return status;
}

static parapet_status keep_list(job *self, const wish *asked, const pp_part_copying *copying)
{
    parapet_status status;
    int i;
    self->direction = asked->direction;
    pp_list_init(&self->list, sizeof(parapet_array_parts), copying->budget, "the arrays that a request is given");
    if ((status = pp_list_reserve(&self->list, (size_t)asked->count)) != PARAPET_OK ||
        (status = pp_part_copies_init(&self->copies, copying)) != PARAPET_OK)
        return status;
    for (i = 0; i < asked->count; i++)
        (void)pp_list_add(&self->list, &asked->list[i]);
    pp_part_copies_list(&self->copies, pp_list_at(&self->list, 0), asked->count);
    return PARAPET_OK;
}

/* Everything of the caller's that will be needed, checked as the call itself would. */
static parapet_status keep_wish(job *self, const wish *asked)
{
    pp_part_copying copying = {.budget = pp_store_budget(pp_array_store(asked->list[0].array)),
                               .count = asked->count,
                               .buffering = asked->buffering};
    pp_parts *parts = NULL;
    parapet_status status = pp_allocate_array(&parts, (size_t)asked->count, sizeof parts[0]);
    if (status == PARAPET_OK && (status = check_list(asked, parts, &copying.transfer_bytes)) == PARAPET_OK) {
        copying.parts = parts;
        status = keep_list(self, asked, &copying);
    }
    pp_free(parts);
    return status;
}

static void name_call(const wish *asked, pp_call *call)
{
    const char *verb = asked->direction == PP_WRITING ? "start_write" : "start_read";
    const char *path = pp_array_path(asked->list[0].array);
    int i;
    if (asked->count == 1)
        pp_call_init(call, "%s(%s)", verb, path);
    else
        pp_call_init(call, "%s(%s and %d more)", verb, path, asked->count - 1);
    for (i = 0; i < asked->count; i++)
        pp_call_add_element(call, "list", i,
                            asked->list[i].array != NULL ? pp_array_path(asked->list[i].array) : NULL);
}

static parapet_status start(parapet_request **request, const wish *asked, const char *function)
{
    static const pp_startable startable = {.run = run_job, .clear = clear_job, .job_bytes = sizeof(job)};
    parapet_request *made = NULL;
    PP_TURN turn = {0};
    parapet_store *store;
    parapet_status status;
    pp_call call;
    if (request == NULL || asked->count < 1 || asked->list == NULL || asked->list[0].array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "%s needs an array and a pointer for the request", function);
    *request = NULL;
    store = pp_array_store(asked->list[0].array);
    if ((status = pp_turn_take(&turn, pp_store_comm(store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    name_call(asked, &call);
    if ((status = pp_request_build(&made, store, &startable)) == PARAPET_OK)
        status = keep_wish(pp_request_job(made), asked);
    return pp_outcome(pp_request_start(request, made, store, &call, status));
}

parapet_status parapet_arrays_start_write(parapet_request **request, const parapet_array_parts *list, int count,
                                          parapet_buffering buffering)
{
    wish asked = {.direction = PP_WRITING, .list = list, .count = count, .buffering = buffering};
    return start(request, &asked, "parapet_arrays_start_write");
}

parapet_status parapet_arrays_start_read(parapet_request **request, const parapet_array_parts *list, int count)
{
    wish asked = {.direction = PP_READING, .list = list, .count = count, .buffering = PARAPET_BUFFERING_BORROW};
    return start(request, &asked, "parapet_arrays_start_read");
}

parapet_status parapet_array_start_write(parapet_request **request, parapet_array *array, const parapet_part *parts,
                                         int part_count, parapet_buffering buffering)
{
    parapet_array_parts one = {.array = array, .parts = parts, .part_count = part_count};
    wish asked = {.direction = PP_WRITING, .list = &one, .count = 1, .buffering = buffering};
    return start(request, &asked, "parapet_array_start_write");
}

parapet_status parapet_array_start_read(parapet_request **request, parapet_array *array, const parapet_part *parts,
                                        int part_count)
{
    parapet_array_parts one = {.array = array, .parts = parts, .part_count = part_count};
    wish asked = {.direction = PP_READING, .list = &one, .count = 1, .buffering = PARAPET_BUFFERING_BORROW};
    return start(request, &asked, "parapet_array_start_read");
}
