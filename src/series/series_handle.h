/* series_handle.h - what is behind a series: arrays that grow together along their first dimension. Private to
 * series/.
 *
 *     <path>/<dimension>/__parapet/changes   what is about to change (row_records.h); gone when the series is
 *                                            closed
 *     <path>/zarr.json                the group: {"_parapet": {"series": {...}}} and consolidated metadata
 *     <path>/<name>/, <path>/time/    the arrays and the coordinate, which nobody but the series changes
 *     <path>/__parapet/open/<rank>    steps of the row that is open, where memory is too small for them, each piece
 *                                     with a checksum
 *
 * Replacing the group's document is the commit of a step.
 *
 * A row is what one layer of shards covers: steps_per_row steps. Its steps are kept, packed and cut at the bounds of
 * shards, until it is full; then every shard is written once. After a flush in mid-row they stay, so that the full
 * row is written without reading anything back. */
#ifndef PARAPET_SERIES_SERIES_HANDLE_H
#define PARAPET_SERIES_SERIES_HANDLE_H

#include "array/node_lock.h"
#include "array/rank0.h"
#include "series/arena.h"
#include "series/consolidated_copy.h"

struct parapet_series {
    parapet_store *store;
    pp_comm *alone; /* this rank alone: for what rank 0 writes without the others */
    char *path, *dimension;
    int count;              /* arrays, the coordinate not counted */
    char **names;           /* count of them */
    parapet_array **arrays; /* count of them, then the coordinate */
    int64_t steps, steps_committed, steps_per_row;
    int64_t shards_written;
    double *coordinates; /* of the steps that are not committed */
    size_t coordinate_capacity;
    int64_t steps_shown[2]; /* rank 0: the smallest and largest number of steps of an array in the group's
                               consolidated metadata */
    pp_series_consolidated_copy
        *shown; /* rank 0: what those say about each array and the coordinate; NULL: there are none */
    unsigned char group_digest[PP_SHA256_BYTES]; /* rank 0: of the document that contained them */
    pp_log *records;                             /* rank 0: NULL: not open now */
    uint64_t record_bytes;                       /* of its whole records */
    bool has_open_record;                        /* rank 0: the last of them has not been carried out */
    bool is_uncertain; /* shards of the open row may hold more than was committed, and the stored group says so */
    bool is_in_doubt;  /* a commit failed, perhaps after it became visible */
    bool was_staged;   /* some row was staged */
    bool is_broken;    /* ranks may know different things: it can only be closed */
    int request_count; /* steps that were started, and not waited for */
    bool has_failed_request; /* the program does not know yet: nothing takes that step's place */
    pp_series_arena arena;
    pp_node_lock group_hold;    /* as long as the series is open, nobody else changes the group's steps */
    pp_node_lock *member_holds; /* nor any of its arrays */
    int member_count;
};

/* An empty handle. Free it even after a failure. */
parapet_status pp_series_build(parapet_series **series, parapet_store *store, const char *path);

/* [collective] Closes the arrays; takes NULL. */
parapet_status pp_series_free(parapet_series *series);

/* The step that the open row begins with. */
int64_t pp_series_row_start(const parapet_series *series);

/* Gives the arrays and the coordinate that many steps, in memory only. */
parapet_status pp_series_set_steps(parapet_series *series, int64_t steps);

/* [collective] Frees the series and sets it to NULL unless status is PARAPET_OK; returns status. */
parapet_status pp_series_finish(parapet_series **series, parapet_status status);

/* [collective] From now on until the series is freed, nobody else can open it or change its arrays. */
parapet_status pp_series_hold_group(parapet_series *series);
parapet_status pp_series_hold_members(parapet_series *series, const char *const *paths, int count);

/* [collective] A task after whose failure the series can only be closed. */
parapet_status pp_series_rank0_do(parapet_series *series, const char *phase, pp_rank0_work work,
                                  const void *argument);

/* "path/name" of the arrays, then of the coordinate; free with pp_paths_free. */
parapet_status pp_series_paths_build(const char *path, const char *const *names, int count, const char *dimension,
                                     char ***paths);

/* Removes the open steps that ranks of an earlier run have kept. */
parapet_status pp_series_remove_logs(const parapet_series *series);

#endif
