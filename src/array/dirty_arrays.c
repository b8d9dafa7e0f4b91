#include "array/dirty_arrays.h"

#include <string.h>

#include "array/array_handle.h"

void pp_dirty_arrays_init(pp_dirty_arrays *marks)
{
    *marks = (pp_dirty_arrays){.mutex = PTHREAD_MUTEX_INITIALIZER};
}

void pp_dirty_arrays_clear(pp_dirty_arrays *marks)
{
    pp_free(marks->arrays);
    (void)pthread_mutex_destroy(&marks->mutex);
}

parapet_status pp_dirty_arrays_reserve(pp_dirty_arrays *marks, int more)
{
    int capacity = marks->count + more;
    parapet_status status = PARAPET_OK;
    (void)pthread_mutex_lock(&marks->mutex);
    if (capacity > marks->capacity &&
        (status = pp_reallocate(&marks->arrays, (size_t)capacity * sizeof marks->arrays[0])) == PARAPET_OK)
        marks->capacity = capacity;
    (void)pthread_mutex_unlock(&marks->mutex);
    return status;
}

bool pp_dirty_arrays_has(const pp_dirty_arrays *marks, const parapet_array *array)
{
    int i;
    for (i = 0; i < marks->count; i++)
        if (marks->arrays[i] == array)
            return true;
    return false;
}

void pp_dirty_arrays_add(pp_dirty_arrays *marks, parapet_array *array)
{
    (void)pthread_mutex_lock(&marks->mutex);
    if (!pp_dirty_arrays_has(marks, array))
        marks->arrays[marks->count++] = array;
    (void)pthread_mutex_unlock(&marks->mutex);
}

void pp_dirty_arrays_remove(pp_dirty_arrays *marks, const parapet_array *array)
{
    int i, kept = 0;
    (void)pthread_mutex_lock(&marks->mutex);
    for (i = 0; i < marks->count; i++)
        if (marks->arrays[i] != array)
            marks->arrays[kept++] = marks->arrays[i];
    marks->count = kept;
    (void)pthread_mutex_unlock(&marks->mutex);
}

parapet_status pp_array_check_flushed(parapet_array *array)
{
    pp_dirty_arrays *marks = &array->store->dirty_arrays;
    bool is_marked = false;
    int i;
    (void)pthread_mutex_lock(&marks->mutex);
    for (i = 0; i < marks->count; i++)
        is_marked |= strcmp(marks->arrays[i]->path, array->path) == 0;
    (void)pthread_mutex_unlock(&marks->mutex);
    return is_marked ? pp_fail(PARAPET_ERR_ARGUMENT, "what was written to it is not flushed, so that only all ranks "
                                                     "together can read it; call parapet_array_flush first")
                     : PARAPET_OK;
}

static bool is_chosen(const pp_dirty_choice *choice, const parapet_array *array)
{
    return choice->has == NULL || choice->has(array, choice->context);
}

parapet_array *pp_dirty_arrays_at(const pp_dirty_arrays *marks, const pp_dirty_choice *choice, int index)
{
    int i;
    for (i = 0; i < marks->count; i++)
        if (is_chosen(choice, marks->arrays[i]) && index-- == 0)
            return marks->arrays[i];
    return NULL;
}

int pp_dirty_arrays_list(const pp_dirty_arrays *marks, const pp_dirty_choice *choice, parapet_array **list)
{
    int i, count = 0;
    for (i = 0; i < marks->count; i++) {
        if (!is_chosen(choice, marks->arrays[i]))
            continue;
        if (list != NULL)
            list[count] = marks->arrays[i];
        count++;
    }
    return count;
}

void pp_dirty_arrays_note_shape(parapet_array *array, const int64_t *shape)
{
    const pp_grid *shards = &array->layout.tiling.shards;
    int64_t cells[PARAPET_MAX_NDIM];
    bool is_smaller = false;
    int d;
    if (!pp_dirty_arrays_has(&array->store->dirty_arrays, array))
        return;
    for (d = 0; d < shards->ndim; d++) {
        bool is_cut = shape[d] < shards->shape[d];
        cells[d] = is_cut ? shape[d] / shards->cell_shape[d] : INT64_MAX;
        is_smaller |= is_cut;
    }
    if (!is_smaller)
        return;
    array->is_cut = true;
    pp_write_back_cut(array->store->write_back, array->cache_number, cells);
}
