#include "array/stored_shards.h"

#include "array/array.h"
#include "array/array_handle.h"
#include "array/seal_objects.h"
#include "array/walk.h"

/* Up to so many possible ones are looked at for one that is stored. */
#define SPARSE_RATIO 1024

typedef struct shard_listing {
    const parapet_array *array;
    pp_ranges *shards;
} shard_listing;

static parapet_status add_object(void *context, const char *key, uint64_t bytes)
{
    const shard_listing *listing = context;
    int64_t number;
    (void)bytes;
    if (!pp_layout_shard_of_key(&listing->array->layout, key, &number))
        return PARAPET_OK;
    return pp_ranges_add(listing->shards, number, number);
}

parapet_status pp_array_stored_shards(const parapet_array *array, pp_ranges *shards)
{
    shard_listing listing = {array, shards};
    parapet_status status = pp_walk_objects(array->store, array->path, add_object, &listing);
    pp_ranges_sort(shards);
    return pp_accept_absence(status);
}

static parapet_status fail_missing(const parapet_array *array, int64_t number)
{
    char *key = NULL;
    parapet_status status = pp_layout_key(&array->layout, array->path, number, &key);
    if (status == PARAPET_OK)
        status = pp_fail(PARAPET_ERR_MISSING, "%s is missing: the array was sealed with it", key);
    pp_free(key);
    return status;
}

parapet_status pp_array_check_stored_shards(parapet_array *array, const pp_ranges *shards)
{
    int64_t number, count = array->is_sealed ? array->layout.tiling.shards.cell_count : 0;
    parapet_status status = PARAPET_OK;
    for (number = 0; number < count && status == PARAPET_OK; number++) {
        pp_shard_record record;
        status = pp_seal_lookup_record(array, number, &record);
        if (status == PARAPET_OK && record.bytes != PP_SHARD_ABSENT && !pp_ranges_has(shards, number))
            status = fail_missing(array, number);
    }
    return status;
}

bool pp_is_sparse(int64_t possible_count, int64_t stored_count)
{
    return possible_count > PP_SHARDS_WALKED_MOST && stored_count < possible_count / SPARSE_RATIO;
}

static int visit_box(const pp_box *box, parapet_box_visitor visitor, void *context)
{
    int answer;
    pp_callback_begin();
    answer = visitor(context, box->start, box->count);
    pp_callback_end();
    return answer;
}

parapet_status parapet_array_list(parapet_array *array, parapet_box_visitor visitor, void *context)
{
    PP_TURN turn = {0};
    pp_ranges shards = {0};
    parapet_status status;
    size_t i;
    int64_t number;
    if (array == NULL || visitor == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_list needs an array and a visitor");
    if ((status = pp_turn_take(&turn, array->store->comm, PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    if ((status = pp_array_check_usable(array)) != PARAPET_OK)
        return pp_outcome(status);
    shards.budget = &array->store->budget;
    status = pp_array_stored_shards(array, &shards);
    for (i = 0; i < shards.count && status == PARAPET_OK; i++)
        for (number = shards.list[i].first; number <= shards.list[i].last && status == PARAPET_OK; number++) {
            pp_box box;
            pp_tiling_shard_box(&array->layout.tiling, number, &box);
            if (visit_box(&box, visitor, context) != 0)
                status = pp_fail(PARAPET_ERR_CANCELLED, "the visitor ended the listing");
        }
    pp_ranges_clear(&shards);
    return pp_outcome(status);
}
