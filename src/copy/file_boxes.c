/* file_boxes.c - the elements of an array into a flat file: in rounds, in which every rank reads one box and writes
 * it as runs. Which rank writes which box makes no difference to the file. */
#include <inttypes.h>
#include <string.h>

#include "array/array.h"
#include "array/store_queries.h"
#include "base/checked.h"
#include "base/status.h"
#include "copy/file.h"

/* Of the memory that a rank may use; the rest is for reading. */
#define BOX_SHARE 4
#define BOX_BYTES_MOST ((size_t)64 << 20)

#define COMPARED_BYTES ((size_t)1 << 20)

/* ---- Boxes ---- */

static size_t bytes_of(const parapet_array_info *info, const int64_t *extent)
{
    size_t bytes = info->element_bytes;
    int d;
    for (d = 0; d < info->ndim; d++)
        bytes *= (size_t)extent[d];
    return bytes;
}

static void cut_chunk(const parapet_array_info *info, size_t most_bytes, int64_t *extent)
{
    int d = 0;
    while (d < info->ndim && bytes_of(info, extent) > most_bytes) {
        if (extent[d] > 1)
            extent[d] = (extent[d] + 1) / 2;
        else
            d++;
    }
}

void pp_file_box_choose(const parapet_array_info *info, size_t most_bytes, int64_t *extent)
{
    size_t bytes;
    int d;
    for (d = 0; d < info->ndim; d++)
        extent[d] = pp_min_i64(info->chunks[d], info->shape[d]);
    cut_chunk(info, most_bytes, extent);
    for (d = info->ndim - 1; d >= 0; d--) {
        bytes = bytes_of(info, extent);
        if (bytes > 0 && most_bytes / bytes > 1)
            extent[d] = pp_min_i64(info->shape[d], extent[d] * (int64_t)(most_bytes / bytes));
    }
}

/* ---- Runs ---- */

typedef struct boxes {
    const pp_file_array *job;
    parapet_array_info info;
    int64_t extent[PARAPET_MAX_NDIM];
    int64_t per_dimension[PARAPET_MAX_NDIM];
    int64_t count;
    pp_buffer elements, compared;
} boxes;

typedef struct box {
    int64_t start[PARAPET_MAX_NDIM];
    int64_t count[PARAPET_MAX_NDIM];
} box;

static void find_box(const boxes *all, int64_t number, box *found)
{
    int d;
    for (d = all->info.ndim - 1; d >= 0; d--) {
        found->start[d] = number % all->per_dimension[d] * all->extent[d];
        found->count[d] = pp_min_i64(all->extent[d], all->info.shape[d] - found->start[d]);
        number /= all->per_dimension[d];
    }
}

static parapet_status compare_run(const boxes *all, uint64_t offset, const unsigned char *data, size_t bytes)
{
    parapet_status status = PARAPET_OK;
    while (bytes > 0 && status == PARAPET_OK) {
        size_t piece = pp_min_size(bytes, COMPARED_BYTES);
        if ((status = pp_shared_read(all->job->file, offset, all->compared.data, piece)) == PARAPET_OK &&
            memcmp(all->compared.data, data, piece) != 0)
            status = pp_fail(PARAPET_ERR_CORRUPT, "\"%s\": what is in the file differs from the source",
                             all->job->place->name);
        offset += piece;
        data += piece;
        bytes -= piece;
    }
    return status;
}

/* How many dimensions, from the last, make one run; *elements is its length. */
static int find_run(const boxes *all, const box *from, int64_t *elements)
{
    int d = all->info.ndim;
    *elements = 1;
    while (d > 0) {
        d--;
        *elements *= from->count[d];
        if (from->count[d] != all->info.shape[d])
            break;
    }
    return d;
}

static uint64_t offset_of(const boxes *all, const int64_t *position)
{
    uint64_t number = 0;
    int d;
    for (d = 0; d < all->info.ndim; d++)
        number = number * (uint64_t)all->info.shape[d] + (uint64_t)position[d];
    return all->job->place->start + number * all->info.element_bytes;
}

/* The next position of a run; false: there is none. */
static bool next_run(const box *from, int outer, int64_t *position)
{
    int d;
    for (d = outer - 1; d >= 0; d--) {
        if (++position[d] < from->start[d] + from->count[d])
            return true;
        position[d] = from->start[d];
    }
    return false;
}

static parapet_status pass_on(const boxes *all, const box *from)
{
    int64_t position[PARAPET_MAX_NDIM], elements;
    int outer = find_run(all, from, &elements);
    size_t bytes = (size_t)elements * all->info.element_bytes;
    const unsigned char *data = all->elements.data;
    parapet_status status;
    memcpy(position, from->start, sizeof position);
    do {
        status = all->job->is_compared ? compare_run(all, offset_of(all, position), data, bytes)
                                       : pp_shared_write(all->job->file, offset_of(all, position), data, bytes);
        data += bytes;
    } while (status == PARAPET_OK && next_run(from, outer, position));
    return status;
}

/* ---- Rounds ---- */

/* All ranks cut alike, whatever memory each of them may use. */
static parapet_status prepare(boxes *all, parapet_store *store)
{
    size_t most = (size_t)pp_store_least_memory_bytes(store) / BOX_SHARE;
    parapet_status status = parapet_array_get_info(all->job->array, &all->info);
    int d;
    if (status != PARAPET_OK)
        return status;
    most = pp_min_size(most, BOX_BYTES_MOST);
    pp_file_box_choose(&all->info, most, all->extent);
    all->count = 1;
    for (d = 0; d < all->info.ndim; d++) {
        int64_t extent = all->extent[d] > 0 ? all->extent[d] : 1;
        all->per_dimension[d] = (all->info.shape[d] + extent - 1) / extent;
        all->count *= all->per_dimension[d];
    }
    if ((status = pp_buffer_init(&all->elements, pp_store_budget(store), bytes_of(&all->info, all->extent),
                                 "a box of the file")) == PARAPET_OK &&
        all->job->is_compared)
        status = pp_buffer_init(&all->compared, pp_store_budget(store), COMPARED_BYTES, "what is compared");
    return status;
}

static parapet_status turn_and_pass_on(const boxes *all, const box *from)
{
    size_t unit = pp_array_document_of(all->job->array)->type.swap_bytes;
    bool is_machine_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    if (unit > 1 && all->job->is_big_endian != is_machine_big)
        pp_swap_units(all->elements.data, all->elements.data, bytes_of(&all->info, from->count), unit);
    return pass_on(all, from);
}

/* Reports what is done once all ranks have done their box of a round. */
static parapet_status tell(const boxes *all, int64_t boxes_done)
{
    const pp_file_progress *progress = all->job->progress;
    double share = (double)pp_min_i64(boxes_done, all->count) / (double)all->count;
    int64_t done = progress->done_bytes + (int64_t)(share * (double)all->job->place->bytes);
    if (progress->callback == NULL || progress->callback(progress->context, done, progress->total_bytes) == 0)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_CANCELLED, "writing a file was cancelled by the progress callback");
}

/* [collective] first: the box of rank 0. */
static parapet_status do_round(const boxes *all, pp_comm *comm, int64_t first)
{
    int64_t number = first + pp_comm_rank(comm);
    box own;
    bool has_box = number < all->count;
    parapet_part part = {.ndim = all->info.ndim, .start = own.start, .count = own.count, .data = all->elements.data};
    parapet_status status;
    if (has_box)
        find_box(all, number, &own);
    status = parapet_array_read(all->job->array, &part, has_box ? 1 : 0);
    if (status != PARAPET_OK)
        return status;
    if (has_box)
        status = turn_and_pass_on(all, &own);
    if (status == PARAPET_OK)
        status = tell(all, first + pp_comm_size(comm));
    return pp_comm_agree(comm, "writing a file", status);
}

parapet_status pp_file_array_write(const pp_file_array *job)
{
    parapet_store *store = pp_array_store(job->array);
    pp_comm *comm = pp_store_comm(store);
    boxes all = {.job = job};
    int64_t ranks = pp_comm_size(comm), first;
    parapet_status status = pp_comm_agree(comm, "preparing a file", prepare(&all, store));
    for (first = 0; first < all.count && status == PARAPET_OK; first += ranks)
        status = do_round(&all, comm, first);
    pp_buffer_free(&all.elements);
    pp_buffer_free(&all.compared);
    return status;
}
