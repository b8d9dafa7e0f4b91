/* indices.h - the elements that a caller lists one by one, in any order: points by their coordinates, or runs of the
 * array's flat index, which counts its elements in C order. Their memory holds one after the other, as they are
 * listed.
 *
 * Pure. Depends on base and geometry. The caller's list is never copied as a whole: it is walked, and what belongs to
 * some shards becomes picks. If there are more than the memory is meant for, it is walked once for each pass. */
#ifndef PARAPET_PLAN_INDICES_H
#define PARAPET_PLAN_INDICES_H

#include "base/list.h"
#include "plan/picks.h"

typedef struct pp_indices {
    const pp_tiling *tiling;
    int64_t
        shape[PARAPET_MAX_NDIM]; /* of the array as the caller knows it, for flat indices: it may grow meanwhile */
    bool are_points;
    int64_t count;          /* of points or runs */
    const int64_t *points;  /* the coordinates of one after the other */
    const int64_t *starts;  /* of runs */
    const int64_t *lengths; /* NULL: 1 each */
    unsigned char *data;
    bool is_ascending;   /* elements come in the order in which they are stored; false: that is not known */
    int64_t split_count; /* of a list that ascends: how many more picks than runs there may be */
} pp_indices;

/* PARAPET_ERR_ARGUMENT names the first point or run that is not inside the array. *elements: how many they are. Finds
 * out whether they ascend. */
parapet_status pp_indices_check(pp_indices *indices, int64_t *elements);

/* A place in a list, which its owner goes through once for each pass; of one that ascends, all before it is done. */
typedef struct pp_index_position {
    int64_t next;  /* point or run */
    int64_t place; /* of the next element in memory */
    int64_t done;  /* elements of the run that have passed */
} pp_index_position;

/* Shards from one number to before another, and of each of them chunks from one number to before another. */
typedef struct pp_shard_range {
    int64_t from, end;
    int64_t chunk_from, chunk_end;
    pp_index_position start; /* nothing of them is listed before this */
} pp_shard_range;

/* With all their chunks. */
pp_shard_range pp_shard_range_whole(const pp_tiling *tiling, int64_t from, int64_t end);

/* Goes through the picks of a list in its order. */
typedef struct pp_index_walk {
    const pp_indices *indices;
    int64_t first, end;           /* stored indices between which the range is */
    int64_t part_first, part_end; /* those of its chunks, counted in a shard */
    int64_t shard_elements;       /* 0: everything between first and end is in the range */
    bool is_flat;                 /* elements are stored in the order of the flat index */
    int64_t chunk_elements;
    pp_index_position at;
    pp_stored_chunk chunk;
    pp_pick ahead; /* the pick that comes next, which may still grow; has count 0 if there is none */
} pp_index_walk;

void pp_index_walk_init(pp_index_walk *walk, const pp_indices *indices, const pp_shard_range *range);

/* The next pick inside the range; false: there is none. Elements that follow each other in their chunk and in the
 * list are one pick. */
bool pp_index_walk_next(pp_index_walk *walk, pp_pick *pick);

/* How many picks the list has in the range. */
int64_t pp_indices_count_picks(const pp_indices *indices, const pp_shard_range *range);

/* Appends the picks of the range to a list of pp_pick, which takes memory for exactly these; count: how many they
 * are. *rest: where the list goes on behind the last shard of the range. */
parapet_status pp_indices_collect(const pp_indices *indices, const pp_shard_range *range, int64_t count,
                                  pp_list *picks, pp_index_position *rest);

/* Moves the end of the range back until it has at most so many picks, if one shard does not have more: then that
 * shard is the last. Returns how many it has then. */
int64_t pp_indices_limit(const pp_indices *indices, int64_t most_picks, pp_shard_range *range);

/* The same with the chunks of the range instead of its shards. */
int64_t pp_indices_limit_chunks(const pp_indices *indices, int64_t most_picks, pp_shard_range *range);

/* Both for a list that ascends, without going through it: points and runs are counted instead of picks, so that
 * *picks is as many as there are at most. false: the list does not ascend, or one chunk may have more. */
bool pp_indices_limit_ascending(const pp_indices *indices, int64_t most_picks, pp_shard_range *range, int64_t *picks);

#endif
