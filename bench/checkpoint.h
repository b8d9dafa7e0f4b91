/* What the files of bench_checkpoint share. */
#ifndef BENCH_CHECKPOINT_H
#define BENCH_CHECKPOINT_H

#include <parapet.h>

#include "state.h"

#define BENCH_CHECKPOINT_PATH "restart"

/* The arrays of the state as the items of a checkpoint, which point into each other: fill it in place. */
typedef struct bench_items {
    bench_array arrays[BENCH_ARRAY_COUNT];
    parapet_array_spec specs[BENCH_ARRAY_COUNT];
    parapet_part parts[BENCH_ARRAY_COUNT];
    parapet_checkpoint_item items[BENCH_ARRAY_COUNT];
} bench_items;

void bench_items_init(bench_items *items, const bench_case *c);

/* Ends the program unless all is well. */
void bench_must(parapet_status status, const char *what);

parapet_store *bench_store_open(const bench_case *c, parapet_mode mode, const parapet_store_options *options);

/* One checkpoint, and the newest restored. */
void bench_checkpoint_put(parapet_store *store, const bench_items *items);
void bench_checkpoint_restore(const bench_case *c);

/* checkpoint_beside.c: the method beside. */
void bench_beside_write(const bench_case *c);
void bench_beside_finish(const bench_case *c);

#endif
