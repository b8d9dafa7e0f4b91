#include "array/seal_schedule.h"

#include "array/array.h"
#include "array/array_handle.h"
#include "base/checked.h"

/* A file of its own takes about as long as so many records of few chunks. */
#define PAGE_WEIGHT 256
/* And one of many chunks weighs as much as a whole page, however many they are. */
#define RECORD_CHUNKS 16

int64_t pp_seal_page_shards(const parapet_array *array)
{
    return pp_manifest_page_records((uint64_t)array->layout.tiling.chunks.cell_count);
}

int64_t pp_seal_page_count(const parapet_array *array)
{
    return pp_divide_up(array->layout.tiling.shards.cell_count, pp_seal_page_shards(array));
}

static int64_t record_weight(const parapet_array *array)
{
    return pp_max_i64(1,
                      pp_min_i64(array->layout.tiling.chunks.cell_count / RECORD_CHUNKS, PP_MANIFEST_PAGE_RECORDS));
}

bool pp_seal_schedule_next(const pp_seal_schedule *line, pp_seal_place *place, pp_seal_page *page)
{
    const parapet_array *array;
    int64_t before, shards;
    while (place->array < line->count &&
           (line->arrays[place->array]->is_sealed || place->page == pp_seal_page_count(line->arrays[place->array]))) {
        place->array++;
        place->page = 0;
    }
    if (place->array == line->count)
        return false;
    array = line->arrays[place->array];
    shards = pp_seal_page_shards(array);
    before = place->page * shards;
    *page = (pp_seal_page){
        .array = place->array,
        .page = place->page,
        .first_shard = before,
        .record_count = (uint32_t)pp_min_i64(shards, array->layout.tiling.shards.cell_count - before),
        .batch = place->weight / line->batch_weight,
    };
    place->page++;
    place->weight += page->record_count * record_weight(array) + PAGE_WEIGHT;
    return true;
}

int64_t pp_seal_schedule_round(const pp_seal_schedule *line, const pp_seal_place *place)
{
    return place->weight / line->batch_weight / line->arrays[0]->store->server_count;
}

bool pp_seal_schedule_next_until(const pp_seal_schedule *line, int64_t round, pp_seal_place *place,
                                 pp_seal_page *page)
{
    pp_seal_place next = *place;
    if (!pp_seal_schedule_next(line, &next, page) || page->batch / line->arrays[0]->store->server_count > round)
        return false;
    *place = next;
    return true;
}

int pp_seal_schedule_owner(const pp_seal_schedule *line, const pp_seal_page *page)
{
    return line->arrays[0]->store->servers[page->batch % line->arrays[0]->store->server_count];
}

parapet_status pp_seal_schedule_init(pp_seal_schedule *line, parapet_array *const *arrays, int count)
{
    int64_t weight = 0;
    parapet_status status;
    int i;
    *line = (pp_seal_schedule){.arrays = arrays, .count = count};
    for (i = 0; i < count; i++) {
        parapet_array *array = arrays[i];
        pp_transfer_context context;
        if (array->is_sealed)
            continue;
        if ((status = pp_array_transfer_context(array, &context)) != PARAPET_OK)
            return status;
        if (pp_seal_page_count(array) > PP_MANIFEST_MAX_PAGES ||
            (uint64_t)array->layout.tiling.chunks.cell_count >= PP_MANIFEST_MAX_CHUNKS)
            return pp_fail(PARAPET_ERR_UNSUPPORTED,
                           "array \"%s\": %lld shards of %lld chunks are too many for a seal", array->path,
                           (long long)array->layout.tiling.shards.cell_count,
                           (long long)array->layout.tiling.chunks.cell_count);
        weight +=
            array->layout.tiling.shards.cell_count * record_weight(array) + PAGE_WEIGHT * pp_seal_page_count(array);
    }
    line->batch_weight = pp_min_i64(PP_MANIFEST_PAGE_RECORDS + PAGE_WEIGHT,
                                    pp_divide_up(weight, line->arrays[0]->store->server_count));
    line->batch_weight = pp_max_i64(line->batch_weight, 1);
    return PARAPET_OK;
}
