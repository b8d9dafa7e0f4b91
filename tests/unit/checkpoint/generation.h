/* generation.h - a small checkpoint, for tests of what becomes of it. */
#ifndef PARAPET_TESTS_GENERATION_H
#define PARAPET_TESTS_GENERATION_H

#include <parapet_arrays.h>

/* Commits the next generation at "c": two arrays, u and v, of one element with this value. */
static inline void put_generation(parapet_store *store, unsigned char value)
{
    int64_t shape[1] = {1}, start[1] = {0};
    parapet_array_spec spec = {.type = PARAPET_UINT8, .ndim = 1, .shape = shape};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = &value};
    parapet_checkpoint_item items[2] = {{.name = "u", .spec = &spec, .parts = &part, .part_count = 1},
                                        {.name = "v", .spec = &spec, .parts = &part, .part_count = 1}};
    parapet_checkpoint *checkpoint;
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "c", NULL));
    assert_ok(parapet_checkpoint_put(checkpoint, items, 2));
    assert_ok(parapet_checkpoint_commit(&checkpoint, NULL));
}

#endif
