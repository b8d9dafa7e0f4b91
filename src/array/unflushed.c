#include "array/unflushed.h"

#include <string.h>

#include "array/array_handle.h"

void pp_unflushed_init(pp_unflushed *marks)
{
    *marks = (pp_unflushed){.mutex = PTHREAD_MUTEX_INITIALIZER};
}

void pp_unflushed_clear(pp_unflushed *marks)
{
    pp_free(marks->arrays);
    (void)pthread_mutex_destroy(&marks->mutex);
}

parapet_status pp_unflushed_reserve(pp_unflushed *marks, int more)
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

bool pp_unflushed_has(const pp_unflushed *marks, const parapet_array *array)
{
    int i;
    for (i = 0; i < marks->count; i++)
        if (marks->arrays[i] == array)
            return true;
    return false;
}

void pp_unflushed_add(pp_unflushed *marks, parapet_array *array)
{
    (void)pthread_mutex_lock(&marks->mutex);
    if (!pp_unflushed_has(marks, array))
        marks->arrays[marks->count++] = array;
    (void)pthread_mutex_unlock(&marks->mutex);
}

void pp_unflushed_remove(pp_unflushed *marks, const parapet_array *array)
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
    pp_unflushed *marks = &array->store->unflushed;
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

static bool is_chosen(const pp_unflushed_choice *choice, const parapet_array *array)
{
    return choice->has == NULL || choice->has(array, choice->context);
}

parapet_array *pp_unflushed_at(const pp_unflushed *marks, const pp_unflushed_choice *choice, int index)
{
    int i;
    for (i = 0; i < marks->count; i++)
        if (is_chosen(choice, marks->arrays[i]) && index-- == 0)
            return marks->arrays[i];
    return NULL;
}

int pp_unflushed_list(const pp_unflushed *marks, const pp_unflushed_choice *choice, parapet_array **list)
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

void pp_unflushed_note_shape(parapet_array *array, const int64_t *shape)
{
    const pp_grid *shards = &array->layout.tiling.shards;
    int64_t cells[PARAPET_MAX_NDIM];
    bool is_smaller = false;
    int d;
    if (!pp_unflushed_has(&array->store->unflushed, array))
        return;
    for (d = 0; d < shards->ndim; d++) {
        bool is_cut = shape[d] < shards->shape[d];
        cells[d] = is_cut ? shape[d] / shards->cell_shape[d] : INT64_MAX;
        is_smaller |= is_cut;
    }
    if (!is_smaller)
        return;
    array->is_cut = true;
    pp_delayed_cut(array->store->delayed, array->cache_number, cells);
}
