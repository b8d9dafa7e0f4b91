#include "state.h"

static int64_t part_of(int64_t extent)
{
    if (extent % BENCH_ARRAY_COUNT != 0)
        bench_die("the first extent of a block", "not a multiple of the number of arrays");
    return extent / BENCH_ARRAY_COUNT;
}

void bench_state_arrays(const bench_case *c, bench_array arrays[BENCH_ARRAY_COUNT])
{
    static const char *const names[BENCH_ARRAY_COUNT] = {"density", "energy", "pressure", "velocity"};
    for (int i = 0; i < BENCH_ARRAY_COUNT; i++) {
        bench_array *array = &arrays[i];
        *array = (bench_array){.name = names[i]};
        for (int d = 0; d < 3; d++) {
            array->shape[d] = d == 0 ? part_of(c->shape[d]) : c->shape[d];
            array->start[d] = d == 0 ? part_of(c->start[d]) : c->start[d];
            array->count[d] = d == 0 ? part_of(c->count[d]) : c->count[d];
        }
        array->data = c->data + i * array->count[0] * array->count[1] * array->count[2];
    }
}
