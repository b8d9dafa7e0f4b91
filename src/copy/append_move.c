/* append_move.c - the elements that are appended: read by all ranks, block after block, and written by them. */
#include "copy/append_move.h"

#include "array/array.h"
#include "array/part_calls.h"
#include "array/store_queries.h"
#include "copy/append_blocks.h"
#include "copy/append_ranks.h"
#include "copy/append_task.h"
#include "copy/progress.h"

/* [collective] The block of this rank, or nothing. */
static parapet_status move_block(pp_append *append, int array, pp_box *box, void *data, int part_count)
{
    parapet_part part = {.ndim = box->ndim, .start = box->start, .count = box->count, .data = data};
    parapet_array_parts list = {.array = append->growing.targets[array], .parts = &part, .part_count = part_count};
    parapet_status status;
    box->start[0] -= append->before;
    status = parapet_array_read(append->growing.sources[array], &part, part_count);
    box->start[0] += append->before;
    if (status != PARAPET_OK)
        return status;
    return pp_arrays_write_repeatable(&list, 1, NULL, &append->totals->done.shards_written);
}

/* [collective] */
static parapet_status move_blocks(pp_append *append, int array, const pp_append_blocks *blocks, void *data)
{
    pp_comm *comm = pp_append_comm(append);
    int64_t rank = pp_comm_rank(comm), ranks = pp_comm_size(comm), first, bytes = append->done_bytes;
    size_t element_bytes = pp_array_layout(append->growing.targets[array])->tiling.element_bytes;
    parapet_status status = PARAPET_OK;
    pp_box box;
    for (first = 0; first < blocks->count && status == PARAPET_OK; first += ranks) {
        bool has_one = first + rank < blocks->count;
        pp_append_block(blocks, has_one ? first + rank : 0, &box);
        if ((status = move_block(append, array, &box, data, has_one ? 1 : 0)) != PARAPET_OK)
            break;
        append->done_bytes = bytes + (int64_t)((double)pp_box_element_count(&blocks->region) * (double)element_bytes *
                                               (double)(first + ranks) / (double)blocks->count);
        status = pp_append_tick(append);
    }
    append->done_bytes = bytes + pp_box_element_count(&blocks->region) * (int64_t)element_bytes;
    return status;
}

/* [collective] */
static parapet_status move_array(pp_append *append, int array)
{
    parapet_array *target = append->growing.targets[array];
    const pp_array_document *document = pp_array_document_of(target);
    const pp_tiling *tiling = &pp_array_layout(target)->tiling;
    pp_append_blocks blocks;
    pp_buffer buffer = {0};
    pp_box region;
    parapet_status status = pp_box_init(&region, document->ndim, NULL, document->shape);
    if (status == PARAPET_OK) {
        region.start[0] = append->before;
        region.count[0] = append->added;
        pp_append_blocks_init(&blocks, &region, tiling, &pp_array_layout(append->growing.sources[array])->tiling,
                              &(pp_append_share){append->buffer_bytes, pp_comm_size(pp_append_comm(append))});
        status = pp_buffer_init(&buffer, pp_store_budget(append->request->target),
                                (size_t)blocks.elements_most * tiling->element_bytes, "elements that are appended");
    }
    status = pp_comm_agree(pp_append_comm(append), "appending", status);
    if (status == PARAPET_OK)
        status = move_blocks(append, array, &blocks, buffer.data);
    pp_buffer_free(&buffer);
    return status == PARAPET_OK ? status
                                : pp_fail_within(status, "cannot append to \"%s\"", append->growing.names[array]);
}

parapet_status pp_append_move(pp_append *append)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < append->growing.count && status == PARAPET_OK; i++)
        status = move_array(append, i);
    return status;
}
