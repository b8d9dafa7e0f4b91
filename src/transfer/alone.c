#include "transfer/alone.h"

#include "base/checked.h"
#include "base/status.h"
#include "transfer/pinned.h"
#include "transfer/point_transfer.h"
#include "transfer/read_planned.h"
#include "transfer/session.h"

/* The part of the memory that is kept in freed buffers between reads, so that a small one does not pay for pages. */
#define SPARE_PART 4

void pp_alone_init(pp_alone *alone, size_t bytes)
{
    pp_budget_init(&alone->budget, bytes);
    pp_budget_keep_spares(&alone->budget, bytes / SPARE_PART);
    pp_portions_init(&alone->portions, bytes);
}

void pp_alone_clear(pp_alone *alone)
{
    pp_budget_clear(&alone->budget);
    pp_portions_destroy(&alone->portions);
}

/* One read, or one pass of a read of listed elements. */
typedef struct alone_read {
    pp_alone *alone;
    pp_transfer_context context;
    pp_transfer_array array;
    const pp_indices *indices; /* NULL: the parts of the array */
    pp_pinned pinned;          /* the shard whose chunks are in several passes */
    pp_shard_range range;      /* of this pass */
    int64_t pick_count;        /* in it */
    pp_index_position rest;    /* where the list goes on behind it */
    pp_memory_case memory;
    size_t beside; /* bytes of the lists */
    size_t least;  /* bytes with which it can be done */
} alone_read;

static parapet_status plan_read(alone_read *read, size_t bytes, pp_memory_plan *plan)
{
    read->memory.available_bytes = bytes;
    return pp_memory_plan_read(&read->array.context->layout, 1, &read->memory, plan);
}

static parapet_status read_picks(alone_read *read, const pp_memory_plan *plan)
{
    pp_point_claims picked = {.tiling = read->indices->tiling, .data = read->indices->data};
    parapet_status status;
    pp_list picks;
    pp_list_init(&picks, sizeof(pp_pick), &read->alone->budget, "the list of elements");
    if ((status = pp_indices_collect(read->indices, &read->range, read->pick_count, &picks, &read->rest)) ==
        PARAPET_OK) {
        picked.picks = pp_list_at(&picks, 0);
        picked.count = picks.count;
        pp_picks_sort_stored(pp_list_at(&picks, 0), picks.count, picked.tiling);
        status = pp_transfer_read_points(&read->array, &picked, plan);
    }
    pp_list_clear(&picks);
    return status;
}

static parapet_status read_portion(alone_read *read)
{
    pp_alone *alone = read->alone;
    size_t wanted, taken;
    pp_memory_plan plan;
    parapet_status status = plan_read(read, alone->budget.limit_bytes - read->beside, &plan);
    if (status != PARAPET_OK)
        return status;
    wanted = read->beside + plan.planned_bytes;
    taken = pp_portions_take(&alone->portions, read->least, wanted);
    if (taken < wanted)
        status = plan_read(read, taken - read->beside, &plan);
    if (status == PARAPET_OK)
        status = read->indices != NULL ? read_picks(read, &plan) : pp_transfer_read_planned(&read->array, &plan);
    pp_portions_give_back(&alone->portions, taken);
    return status;
}

/* What the read takes at least; more than any machine has if that cannot be counted. */
static size_t find_least(const alone_read *read)
{
    size_t least = pp_memory_least_read_bytes(read->array.context->layout, &read->memory);
    return pp_add_size_fits(least, read->beside, &least) ? least : PP_MEMORY_ENDLESS;
}

static parapet_status refuse_little(const pp_alone *alone, size_t least, size_t enough)
{
    return pp_fail(PARAPET_ERR_MEMORY,
                   "reading this on one rank takes %zu bytes, but local_bytes is only %zu; set it to at least %zu",
                   least, alone->budget.limit_bytes, enough);
}

static alone_read read_of(pp_alone *alone, const pp_transfer_array *array)
{
    return (alone_read){
        .alone = alone, .array = *array, .memory = {.threads = 1, .is_sealed = array->context->seal != NULL}};
}

parapet_status pp_transfer_read_alone(pp_alone *alone, const pp_transfer_array *array)
{
    alone_read read = read_of(alone, array);
    read.beside = pp_session_list_bytes(array, &read.memory.shard_count); /* of the lists */
    if (read.memory.shard_count == 0)
        return PARAPET_OK;
    read.least = find_least(&read);
    return read.least > alone->budget.limit_bytes ? refuse_little(alone, read.least, read.least)
                                                  : read_portion(&read);
}

/* ---- Listed elements ---- */

/* The part of the memory that a list may take; the rest is for chunks. */
#define LIST_PART 4

static void take_range(alone_read *read, int64_t pick_count)
{
    read->pick_count = pick_count;
    read->memory.shard_count = pp_min_i64(pick_count, read->range.end - read->range.from);
    read->beside = (size_t)pick_count * sizeof(pp_pick) + pp_point_claims_list_bytes(read->memory.shard_count);
    read->least = find_least(read);
}

/* With this much, the list is worked off at once. */
static size_t find_enough(const alone_read *read)
{
    alone_read all = *read;
    all.range = pp_shard_range_whole(read->indices->tiling, 0, read->indices->tiling->shards.cell_count);
    take_range(&all, pp_indices_count_picks(all.indices, &all.range));
    return pp_max_size(all.least, LIST_PART * all.beside);
}

/* Ends the pass where its picks are enough: after some shards, or after some chunks of one that has more. */
static int64_t limit_picks(alone_read *read, size_t most)
{
    int64_t count = pp_indices_limit(read->indices, (int64_t)most, &read->range);
    if (count <= (int64_t)most)
        return count;
    read->range.from = read->range.end - 1; /* those before it have none */
    return pp_indices_limit_chunks(read->indices, (int64_t)most, &read->range);
}

/* The same of a list that ascends, if there is room for as many picks as there are at most. */
static bool limit_ascending(alone_read *read, size_t most)
{
    pp_shard_range all = read->range;
    int64_t count;
    if (pp_indices_limit_ascending(read->indices, (int64_t)(most / sizeof(pp_pick)), &read->range, &count)) {
        take_range(read, count);
        if (read->beside <= 2 * most && read->least <= read->alone->budget.limit_bytes)
            return true;
    }
    read->range = all;
    return false;
}

/* The same; and earlier if they are in so many shards that a list of these takes more than the picks. */
static void limit_range(alone_read *read)
{
    size_t most = read->alone->budget.limit_bytes / LIST_PART;
    pp_shard_range all = read->range;
    if (limit_ascending(read, most))
        return;
    take_range(read, limit_picks(read, most / sizeof(pp_pick)));
    if (read->beside <= 2 * most)
        return;
    read->range = all;
    most /= sizeof(pp_pick) + pp_point_claims_list_bytes(1);
    take_range(read, limit_picks(read, most));
}

static parapet_status read_range(alone_read *read)
{
    size_t limit = read->alone->budget.limit_bytes;
    if (read->memory.shard_count == 0)
        return PARAPET_OK;
    return read->least > limit ? refuse_little(read->alone, read->least, find_enough(read)) : read_portion(read);
}

/* Ends with the last chunk of its shards. */
static bool ends_shard(const alone_read *read)
{
    return read->range.chunk_end == read->indices->tiling->chunks.cell_count;
}

/* One pass. A shard stays open until its last chunks are read. */
static parapet_status read_pass(alone_read *read)
{
    parapet_status status;
    limit_range(read);
    if (!ends_shard(read))
        pp_pinned_begin(&read->pinned, &read->context);
    status = read_range(read);
    if (ends_shard(read) || status != PARAPET_OK)
        pp_pinned_end(&read->pinned, &read->context);
    return status;
}

static void advance(alone_read *read)
{
    const pp_tiling *tiling = read->indices->tiling;
    if (ends_shard(read)) {
        read->range = pp_shard_range_whole(tiling, read->range.end, tiling->shards.cell_count);
    } else {
        read->range.chunk_from = read->range.chunk_end;
        read->range.chunk_end = tiling->chunks.cell_count;
    }
    read->range.start = read->rest;
}

parapet_status pp_transfer_read_indices_alone(pp_alone *alone, const pp_transfer_array *array,
                                              const pp_indices *indices)
{
    int64_t shards = indices->tiling->shards.cell_count;
    alone_read read = read_of(alone, array);
    parapet_status status = PARAPET_OK;
    read.context = *array->context;
    read.array.context = &read.context;
    read.indices = indices;
    for (read.range = pp_shard_range_whole(indices->tiling, 0, shards);
         read.range.from < shards && status == PARAPET_OK; advance(&read))
        status = read_pass(&read);
    return status;
}
