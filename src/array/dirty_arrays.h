/* dirty_arrays.h - arrays that were written to with write_back, and have not been flushed since.
 *
 * All ranks know the same of them, whoever has the shards: each has a mark from the first write until a flush that
 * succeeds. Every collective call but those that read and write parts flushes first, so only these have to know of
 * what is delayed. What one handle has not flushed is flushed before another one of the same array reads or writes.
 */
#ifndef PARAPET_ARRAY_DIRTY_ARRAYS_H
#define PARAPET_ARRAY_DIRTY_ARRAYS_H

#include <parapet_types.h>
#include <pthread.h>
#include <stdbool.h>

typedef struct pp_dirty_arrays {
    pthread_mutex_t mutex; /* threads that read locally look, too */
    parapet_array **arrays;
    int count, capacity;
} pp_dirty_arrays;

void pp_dirty_arrays_init(pp_dirty_arrays *marks);
void pp_dirty_arrays_clear(pp_dirty_arrays *marks);

/* Makes room for so many more, so that adding cannot fail. */
parapet_status pp_dirty_arrays_reserve(pp_dirty_arrays *marks, int more);
void pp_dirty_arrays_add(pp_dirty_arrays *marks, parapet_array *array);
void pp_dirty_arrays_remove(pp_dirty_arrays *marks, const parapet_array *array);

/* Only for calls of all ranks, which alone change marks. */
bool pp_dirty_arrays_has(const pp_dirty_arrays *marks, const parapet_array *array);

/* The array is about to have this shape. If another job has made it smaller, what is delayed of shards that this has
 * cut, or cut off, is dropped, and the handle remembers it. */
void pp_dirty_arrays_note_shape(parapet_array *array, const int64_t *shape);

/* Some of the arrays that have marks, in the order of their marks: the same on all ranks. */
typedef struct pp_dirty_choice {
    bool (*has)(const parapet_array *array, const void *context); /* NULL: all */
    const void *context;
} pp_dirty_choice;

/* Counts them, and lists them when list is not NULL. */
int pp_dirty_arrays_list(const pp_dirty_arrays *marks, const pp_dirty_choice *choice, parapet_array **list);

/* One of them, counted from 0; NULL: there are fewer. */
parapet_array *pp_dirty_arrays_at(const pp_dirty_arrays *marks, const pp_dirty_choice *choice, int index);

/* PARAPET_ERR_ARGUMENT: this or another handle of the array has not been flushed. */
parapet_status pp_array_check_flushed(parapet_array *array);

#endif
