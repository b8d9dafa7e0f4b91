#include "copy/open_chunks.h"

#include "base/checked.h"
#include "geometry/strided.h"

static void release_slots(pp_copy_slots *slots)
{
    int32_t i;
    slots->first_free = -1;
    for (i = slots->slot_count - 1; i >= 0; i--) {
        slots->slots[i].next_free = slots->first_free;
        slots->first_free = i;
    }
}

/* All in one piece: of single pages, an allocator takes two for each. */
static parapet_status allocate_buffers(pp_copy_slots *slots, size_t slot_count)
{
    size_t i, bytes = pp_align_up(pp_chain_chunk_capacity(slots->layout->chain), PP_PAGE_BYTES);
    parapet_status status =
        pp_buffer_init(&slots->memory, slots->budget, slot_count * bytes, "chunks being put together");
    for (i = 0; i < slot_count && status == PARAPET_OK; i++)
        slots->slots[i].buffer =
            (pp_buffer){.data = slots->memory.data + i * bytes, .capacity = bytes, .budget = slots->budget};
    return status;
}

parapet_status pp_copy_slots_init(pp_copy_slots *slots, const pp_transfer_context *target, int64_t slot_count,
                                  int64_t template_chunks)
{
    size_t table_bytes = (size_t)template_chunks * sizeof slots->slot_of[0];
    size_t slot_bytes = (size_t)slot_count * sizeof slots->slots[0];
    parapet_status status;
    *slots = (pp_copy_slots){.layout = target->layout, .budget = target->budget, .table_count = template_chunks};
    (void)pthread_mutex_init(&slots->lock, NULL);
    (void)pthread_cond_init(&slots->changed, NULL);
    if ((status = pp_budget_reserve(slots->budget, table_bytes + slot_bytes, "lists of chunks")) != PARAPET_OK)
        return status;
    slots->reserved_bytes = table_bytes + slot_bytes;
    if ((status = pp_allocate_array(&slots->slot_of, (size_t)template_chunks, sizeof slots->slot_of[0])) !=
            PARAPET_OK ||
        (status = pp_allocate_array(&slots->slots, (size_t)slot_count, sizeof slots->slots[0])) != PARAPET_OK)
        return status;
    slots->slot_count = (int32_t)slot_count;
    return allocate_buffers(slots, (size_t)slot_count);
}

void pp_copy_slots_free(pp_copy_slots *slots)
{
    if (slots->layout == NULL)
        return;
    pp_buffer_free(&slots->memory);
    pp_free(slots->slots);
    pp_free(slots->slot_of);
    pp_budget_release(slots->budget, slots->reserved_bytes);
    (void)pthread_cond_destroy(&slots->changed);
    (void)pthread_mutex_destroy(&slots->lock);
    *slots = (pp_copy_slots){0};
}

static const int64_t *chunk_shape(const pp_copy_slots *slots)
{
    return slots->layout->chunks.cell_shape;
}

void pp_copy_slots_begin(pp_copy_slots *slots, const pp_box *template_box)
{
    int64_t i, count;
    pp_layout_chunks_of_box(slots->layout, template_box, &slots->chunks);
    count = pp_box_element_count(&slots->chunks);
    for (i = 0; i < count; i++)
        slots->slot_of[i] = -1;
    release_slots(slots);
    slots->is_given_up = false;
}

static int64_t index_of(const pp_copy_slots *slots, const int64_t *cell)
{
    int64_t index = 0;
    int d;
    for (d = 0; d < slots->chunks.ndim; d++)
        index = index * slots->chunks.count[d] + cell[d] - slots->chunks.start[d];
    return index;
}

void pp_copy_slots_cell(const pp_copy_slots *slots, int64_t chunk, int64_t *cell)
{
    int d;
    for (d = slots->chunks.ndim - 1; d >= 0; d--) {
        cell[d] = slots->chunks.start[d] + chunk % slots->chunks.count[d];
        chunk /= slots->chunks.count[d];
    }
}

void pp_copy_slots_box(const pp_copy_slots *slots, const int64_t *cell, pp_box *box)
{
    int d;
    box->ndim = slots->chunks.ndim;
    for (d = 0; d < box->ndim; d++) {
        box->start[d] = cell[d] * chunk_shape(slots)[d];
        box->count[d] = chunk_shape(slots)[d];
    }
}

pp_copy_slot *pp_copy_slots_find(const pp_copy_slots *slots, const int64_t *cell)
{
    return &slots->slots[slots->slot_of[index_of(slots, cell)]];
}

/* What lies outside the array is fill value, whatever was in the buffer before. */
static void clear_overhang(const pp_copy_slots *slots, const int64_t *cell, pp_copy_slot *slot)
{
    const pp_grid *grid = &slots->layout->shards;
    pp_box box;
    int d;
    pp_copy_slots_box(slots, cell, &box);
    for (d = 0; d < box.ndim; d++)
        if (box.start[d] + box.count[d] > grid->shape[d])
            break;
    if (d < box.ndim)
        pp_fill_elements(slot->buffer.data, pp_box_element_count(&box), slots->layout->element_bytes,
                         slots->layout->fill_value);
}

static int32_t wait_for_slot(pp_copy_slots *slots)
{
    int32_t number;
    (void)pthread_mutex_lock(&slots->lock);
    while (slots->first_free < 0 && !slots->is_given_up)
        (void)pthread_cond_wait(&slots->changed, &slots->lock);
    number = slots->is_given_up ? -1 : slots->first_free;
    if (number >= 0)
        slots->first_free = slots->slots[number].next_free;
    (void)pthread_mutex_unlock(&slots->lock);
    return number;
}

bool pp_copy_slots_take(pp_copy_slots *slots, const int64_t *cell, int64_t visits)
{
    int64_t index = index_of(slots, cell);
    pp_copy_slot *slot;
    int32_t number;
    if (slots->slot_of[index] >= 0)
        return true;
    if ((number = wait_for_slot(slots)) < 0)
        return false;
    slot = &slots->slots[number];
    slot->chunk = index;
    atomic_store(&slot->missing, visits);
    atomic_store(&slot->has_data, false);
    clear_overhang(slots, cell, slot);
    slots->slot_of[index] = number;
    return true;
}

void pp_copy_slots_give_back(pp_copy_slots *slots, pp_copy_slot *slot)
{
    (void)pthread_mutex_lock(&slots->lock);
    slot->next_free = slots->first_free;
    slots->first_free = (int32_t)(slot - slots->slots);
    (void)pthread_cond_broadcast(&slots->changed);
    (void)pthread_mutex_unlock(&slots->lock);
}

void pp_copy_slots_enter(pp_copy_slots *slots)
{
    (void)pthread_mutex_lock(&slots->lock);
    slots->pending++;
    (void)pthread_mutex_unlock(&slots->lock);
}

void pp_copy_slots_leave(pp_copy_slots *slots)
{
    (void)pthread_mutex_lock(&slots->lock);
    slots->pending--;
    (void)pthread_cond_broadcast(&slots->changed);
    (void)pthread_mutex_unlock(&slots->lock);
}

bool pp_copy_slots_drain(pp_copy_slots *slots)
{
    bool is_drained;
    (void)pthread_mutex_lock(&slots->lock);
    while (slots->pending > 0 && !slots->is_given_up)
        (void)pthread_cond_wait(&slots->changed, &slots->lock);
    is_drained = !slots->is_given_up;
    (void)pthread_mutex_unlock(&slots->lock);
    return is_drained;
}

void pp_copy_slots_give_up(pp_copy_slots *slots)
{
    (void)pthread_mutex_lock(&slots->lock);
    slots->is_given_up = true;
    (void)pthread_cond_broadcast(&slots->changed);
    (void)pthread_mutex_unlock(&slots->lock);
}
