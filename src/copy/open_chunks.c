#include "copy/open_chunks.h"

#include "base/checked.h"
#include "geometry/strided.h"

static void free_all_buffers(pp_open_chunks *open_chunks)
{
    int32_t i;
    open_chunks->first_free = -1;
    for (i = open_chunks->buffer_count - 1; i >= 0; i--) {
        open_chunks->list[i].next_free = open_chunks->first_free;
        open_chunks->first_free = i;
    }
}

/* All in one piece: of single pages, an allocator takes two for each. Elements of a visit go all over it, so that
 * with small pages nearly every one would need another. */
static parapet_status allocate_buffers(pp_open_chunks *open_chunks, size_t buffer_count)
{
    size_t i, bytes = pp_align_up(pp_chain_chunk_capacity(open_chunks->layout->chain), PP_PAGE_BYTES);
    parapet_status status;
    open_chunks->memory.wants_huge_pages = true;
    status =
        pp_buffer_init(&open_chunks->memory, open_chunks->budget, buffer_count * bytes, "chunks being put together");
    for (i = 0; i < buffer_count && status == PARAPET_OK; i++)
        open_chunks->list[i].buffer = (pp_buffer){
            .data = open_chunks->memory.data + i * bytes, .capacity = bytes, .budget = open_chunks->budget};
    return status;
}

parapet_status pp_open_chunks_init(pp_open_chunks *open_chunks, const pp_transfer_context *target,
                                   int64_t buffer_count, int64_t template_chunks)
{
    size_t table_bytes = (size_t)template_chunks * sizeof open_chunks->buffer_of[0];
    size_t list_bytes = (size_t)buffer_count * sizeof open_chunks->list[0];
    parapet_status status;
    *open_chunks =
        (pp_open_chunks){.layout = target->layout, .budget = target->budget, .table_count = template_chunks};
    (void)pthread_mutex_init(&open_chunks->lock, NULL);
    (void)pthread_cond_init(&open_chunks->changed, NULL);
    if ((status = pp_budget_reserve(open_chunks->budget, table_bytes + list_bytes, "lists of chunks")) != PARAPET_OK)
        return status;
    open_chunks->reserved_bytes = table_bytes + list_bytes;
    if ((status = pp_allocate_array(&open_chunks->buffer_of, (size_t)template_chunks,
                                    sizeof open_chunks->buffer_of[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&open_chunks->list, (size_t)buffer_count, sizeof open_chunks->list[0])) !=
            PARAPET_OK)
        return status;
    open_chunks->buffer_count = (int32_t)buffer_count;
    return allocate_buffers(open_chunks, (size_t)buffer_count);
}

void pp_open_chunks_free(pp_open_chunks *open_chunks)
{
    if (open_chunks->layout == NULL)
        return;
    pp_buffer_free(&open_chunks->memory);
    pp_free(open_chunks->list);
    pp_free(open_chunks->buffer_of);
    pp_budget_release(open_chunks->budget, open_chunks->reserved_bytes);
    (void)pthread_cond_destroy(&open_chunks->changed);
    (void)pthread_mutex_destroy(&open_chunks->lock);
    *open_chunks = (pp_open_chunks){0};
}

void pp_open_chunks_begin(pp_open_chunks *open_chunks, const pp_box *template_box)
{
    int64_t i, count;
    pp_tiling_chunks_of_box(&open_chunks->layout->tiling, template_box, &open_chunks->chunks);
    count = pp_box_element_count(&open_chunks->chunks);
    for (i = 0; i < count; i++)
        open_chunks->buffer_of[i] = -1;
    free_all_buffers(open_chunks);
    open_chunks->is_given_up = false;
}

static int64_t index_of(const pp_open_chunks *open_chunks, const int64_t *cell)
{
    int64_t index = 0;
    int d;
    for (d = 0; d < open_chunks->chunks.ndim; d++)
        index = index * open_chunks->chunks.count[d] + cell[d] - open_chunks->chunks.start[d];
    return index;
}

void pp_open_chunks_cell(const pp_open_chunks *open_chunks, int64_t chunk, int64_t *cell)
{
    int d;
    for (d = open_chunks->chunks.ndim - 1; d >= 0; d--) {
        cell[d] = open_chunks->chunks.start[d] + chunk % open_chunks->chunks.count[d];
        chunk /= open_chunks->chunks.count[d];
    }
}

pp_open_chunk *pp_open_chunks_find(const pp_open_chunks *open_chunks, const int64_t *cell)
{
    return &open_chunks->list[open_chunks->buffer_of[index_of(open_chunks, cell)]];
}

/* What lies outside the array is fill value, whatever was in the buffer before. */
static void clear_overhang(const pp_open_chunks *open_chunks, const int64_t *cell, pp_open_chunk *open_chunk)
{
    const pp_grid *grid = &open_chunks->layout->tiling.shards;
    pp_box box;
    int d;
    pp_tiling_whole_box_at(&open_chunks->layout->tiling, cell, &box);
    for (d = 0; d < box.ndim; d++)
        if (box.start[d] + box.count[d] > grid->shape[d])
            break;
    if (d < box.ndim)
        pp_fill_elements(open_chunk->buffer.data, pp_box_element_count(&box),
                         open_chunks->layout->tiling.element_bytes, open_chunks->layout->fill_value);
}

static int32_t wait_for_buffer(pp_open_chunks *open_chunks)
{
    int32_t number;
    (void)pthread_mutex_lock(&open_chunks->lock);
    while (open_chunks->first_free < 0 && !open_chunks->is_given_up)
        (void)pthread_cond_wait(&open_chunks->changed, &open_chunks->lock);
    number = open_chunks->is_given_up ? -1 : open_chunks->first_free;
    if (number >= 0)
        open_chunks->first_free = open_chunks->list[number].next_free;
    (void)pthread_mutex_unlock(&open_chunks->lock);
    return number;
}

bool pp_open_chunks_open(pp_open_chunks *open_chunks, const int64_t *cell, int64_t visits)
{
    int64_t index = index_of(open_chunks, cell);
    pp_open_chunk *open_chunk;
    int32_t number;
    if (open_chunks->buffer_of[index] >= 0)
        return true;
    if ((number = wait_for_buffer(open_chunks)) < 0)
        return false;
    open_chunk = &open_chunks->list[number];
    open_chunk->chunk = index;
    atomic_store(&open_chunk->missing, visits);
    atomic_store(&open_chunk->has_data, false);
    clear_overhang(open_chunks, cell, open_chunk);
    open_chunks->buffer_of[index] = number;
    return true;
}

void pp_open_chunks_close(pp_open_chunks *open_chunks, pp_open_chunk *open_chunk)
{
    (void)pthread_mutex_lock(&open_chunks->lock);
    open_chunk->next_free = open_chunks->first_free;
    open_chunks->first_free = (int32_t)(open_chunk - open_chunks->list);
    (void)pthread_cond_broadcast(&open_chunks->changed);
    (void)pthread_mutex_unlock(&open_chunks->lock);
}

void pp_open_chunks_enter(pp_open_chunks *open_chunks)
{
    (void)pthread_mutex_lock(&open_chunks->lock);
    open_chunks->pending++;
    (void)pthread_mutex_unlock(&open_chunks->lock);
}

void pp_open_chunks_leave(pp_open_chunks *open_chunks)
{
    (void)pthread_mutex_lock(&open_chunks->lock);
    open_chunks->pending--;
    (void)pthread_cond_broadcast(&open_chunks->changed);
    (void)pthread_mutex_unlock(&open_chunks->lock);
}

bool pp_open_chunks_drain(pp_open_chunks *open_chunks)
{
    bool is_drained;
    (void)pthread_mutex_lock(&open_chunks->lock);
    while (open_chunks->pending > 0 && !open_chunks->is_given_up)
        (void)pthread_cond_wait(&open_chunks->changed, &open_chunks->lock);
    is_drained = !open_chunks->is_given_up;
    (void)pthread_mutex_unlock(&open_chunks->lock);
    return is_drained;
}

void pp_open_chunks_give_up(pp_open_chunks *open_chunks)
{
    (void)pthread_mutex_lock(&open_chunks->lock);
    open_chunks->is_given_up = true;
    (void)pthread_cond_broadcast(&open_chunks->changed);
    (void)pthread_mutex_unlock(&open_chunks->lock);
}
