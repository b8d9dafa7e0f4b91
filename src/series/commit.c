/* commit.c - how steps become visible: the values of the coordinate, the documents of the arrays, and last, by
 * one rename, the document of the group.
 *
 *     at rest --pp_series_announce: a record in the log, perhaps "uncertain"--> announced
 *     announced --write_list (row.c): shards, durable--> written
 *     written --commit: coordinate, documents--> --pp_series_write_group--> at rest, with more steps
 *     announced, written --a kill, then parapet_series_open--> at rest, with the committed steps
 *
 * Invariants:
 *
 *  1. The announcement is durable before the first shard (pp_row_records_add), the shards before the
 *     documents (invariants 2 and 5 of docs/design/change.md).
 *  2. The documents of the arrays are durable before that of the group, whose replacement is the commit. So opening
 *     never has to make an array longer (invariant 7 of docs/design/change.md). A reader of a single array may see
 *     its steps a moment before.
 *  3. Shards of a row that is open hold committed steps. If they are to be replaced, the group says "uncertain"
 *     first, so that a crash has the uncommitted part cut off (repair_array in series_open.c).
 *  4. After a commit that failed it is not known whether it is visible. So the next announcement says
 *     "uncertain" (is_in_doubt).
 *
 * Panda's timestep of a group of arrays (docs/design/papers.md, 3);
 * docs/guide/series-and-checkpoints.md, "What a crash can lose". */
#include "series/commit.h"

#include "array/part_calls.h"
#include "array/store_queries.h"
#include "array/stored_document.h"
#include "series/group_document.h"
#include "series/row_records.h"
#include "series/series_handle.h"

/* Rank 0 writes the coordinate as if it were alone: no other rank has anything to bring. */
static parapet_status write_coordinate(const parapet_series *series)
{
    int64_t start = series->steps_committed, count = series->steps - series->steps_committed;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = series->coordinates};
    return pp_array_write_alone(series->arrays[series->count], series->alone, &part);
}

static parapet_status commit(void *subject, const void *argument)
{
    parapet_series *series = subject;
    parapet_status status = write_coordinate(series);
    bool was_uncertain = series->is_uncertain;
    int i;
    (void)argument;
    for (i = 0; i <= series->count && status == PARAPET_OK; i++)
        status = pp_array_write_document(series->arrays[i], PP_PUBLISH_REPLACE);
    if (status != PARAPET_OK || (status = pp_store_sync_dirs(pp_store_backend(series->store))) != PARAPET_OK)
        return status;
    series->is_uncertain = false;
    if ((status = pp_series_write_group(series, series->steps, NULL)) != PARAPET_OK)
        series->is_uncertain = was_uncertain;
    else
        series->has_open_record = false;
    return status;
}

parapet_status pp_series_commit(parapet_series *series)
{
    parapet_status status = pp_series_rank0_do(series, "committing", commit, NULL);
    series->is_in_doubt = status != PARAPET_OK;
    if (status != PARAPET_OK)
        return pp_fail_within(status, "cannot commit step %lld of \"%s\"", (long long)series->steps - 1,
                              series->path);
    series->is_uncertain = false;
    series->steps_committed = series->steps;
    return PARAPET_OK;
}

/* What is announced. */
typedef struct announcement {
    int64_t steps;
    bool is_uncertain; /* the group has to say so */
} announcement;

static parapet_status announce(void *subject, const void *argument)
{
    parapet_series *series = subject;
    const announcement *told = argument;
    parapet_status status = pp_row_records_add(series, told->steps);
    if (status != PARAPET_OK || !told->is_uncertain)
        return status;
    series->is_uncertain = true;
    if ((status = pp_series_write_group(series, series->steps_committed, NULL)) != PARAPET_OK)
        series->is_uncertain = false;
    return status;
}

parapet_status pp_series_announce(parapet_series *series, int64_t steps, bool is_row)
{
    announcement told = {.steps = steps};
    parapet_status status;
    told.is_uncertain = series->is_in_doubt ||
                        (is_row && !series->is_uncertain && pp_series_row_start(series) < series->steps_committed);
    status = pp_series_rank0_do(series, "announcing", announce, &told);
    if (told.is_uncertain)
        series->is_uncertain = status == PARAPET_OK;
    return status;
}
