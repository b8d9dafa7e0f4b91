#include "strip.h"

#include <string.h>

void strip_deal(strip *dealt, int rank, int ranks)
{
    const int64_t all = (int64_t)ranks * STRIP_EXTENT, lead = STRIP_CHUNK / 2 + 3; /* not at the edge of a chunk */
    int64_t start = rank * STRIP_EXTENT + lead, end = start + STRIP_EXTENT;
    dealt->part_count = end > all ? 2 : 1;
    dealt->starts[0][0] = start;
    dealt->counts[0][0] = (end > all ? all : end) - start;
    dealt->starts[1][0] = 0;
    dealt->counts[1][0] = end > all ? end - all : 0;
    dealt->parts[0] =
        (parapet_part){.ndim = 1, .start = dealt->starts[0], .count = dealt->counts[0], .data = dealt->values};
    dealt->parts[1] = (parapet_part){
        .ndim = 1, .start = dealt->starts[1], .count = dealt->counts[1], .data = dealt->values + dealt->counts[0][0]};
}

static int32_t value_at(const strip *dealt, int64_t i, int32_t generation)
{
    int64_t first = dealt->counts[0][0];
    int64_t place = i < first ? dealt->starts[0][0] + i : i - first;
    return generation * 1000000 + (int32_t)place;
}

void strip_fill(strip *dealt, int32_t generation)
{
    int64_t i;
    for (i = 0; i < STRIP_EXTENT; i++)
        dealt->values[i] = value_at(dealt, i, generation);
}

int32_t strip_generation(const strip *dealt)
{
    int32_t generation = dealt->values[0] == 0 ? 0 : dealt->values[0] / 1000000;
    int64_t i;
    for (i = 0; i < STRIP_EXTENT; i++)
        if (dealt->values[i] != (generation == 0 ? 0 : value_at(dealt, i, generation)))
            return -1;
    return generation;
}

parapet_status strip_create(parapet_array **array, parapet_store *store, const char *path, int ranks, int shards)
{
    const int64_t shape[1] = {(int64_t)ranks * STRIP_EXTENT}, chunk[1] = {STRIP_CHUNK},
                  shard[1] = {STRIP_EXTENT / shards};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 1, .shape = shape, .chunks = chunk, .shards = shard, .codec = "none"};
    return parapet_array_create(array, store, path, &spec);
}

parapet_status strip_write(parapet_array *array, const launch *run, int32_t generation)
{
    strip dealt;
    strip_deal(&dealt, run->rank, run->ranks);
    strip_fill(&dealt, generation);
    return parapet_array_write(array, dealt.parts, dealt.part_count);
}

parapet_status strip_read(parapet_array *array, const launch *run, int32_t *generation)
{
    strip dealt;
    parapet_status status;
    strip_deal(&dealt, (run->rank + 1) % run->ranks, run->ranks);
    memset(dealt.values, 0xee, sizeof dealt.values);
    *generation = -1;
    if ((status = parapet_array_read(array, dealt.parts, dealt.part_count)) == PARAPET_OK)
        *generation = strip_generation(&dealt);
    return status;
}
