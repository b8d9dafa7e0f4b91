/* picks.h - chosen elements of an array: where each is among the stored ones, and where in memory.
 *
 * Pure. Depends on base and geometry. The stored index of an element counts shard by shard, in a shard chunk by
 * chunk, and in a chunk in C order, whatever lies beyond the array included. A pick is some elements of one chunk
 * that follow each other there and in memory. It takes 16 bytes, however many dimensions there are, and sorting takes
 * no further memory. */
#ifndef PARAPET_PLAN_PICKS_H
#define PARAPET_PLAN_PICKS_H

#include <stddef.h>

#include "geometry/tiling.h"

/* The upper bits of a pick's place are the number of its elements, the lower ones the first of them in memory. */
#define PP_PICK_PLACE_BITS 40
#define PP_PICK_MOST_PLACES (INT64_C(1) << PP_PICK_PLACE_BITS)
#define PP_PICK_MOST_ELEMENTS ((INT64_C(1) << (64 - PP_PICK_PLACE_BITS)) - 1)

typedef struct pp_pick {
    int64_t index; /* stored index of the first element */
    uint64_t place;
} pp_pick;

static inline pp_pick pp_pick_of(int64_t index, int64_t place, int64_t count)
{
    return (pp_pick){index, (uint64_t)count << PP_PICK_PLACE_BITS | (uint64_t)place};
}

static inline int64_t pp_pick_place(const pp_pick *pick)
{
    return (int64_t)(pick->place & (uint64_t)(PP_PICK_MOST_PLACES - 1));
}

static inline int64_t pp_pick_count(const pp_pick *pick)
{
    return (int64_t)(pick->place >> PP_PICK_PLACE_BITS);
}

static inline int64_t pp_pick_end(const pp_pick *pick)
{
    return pick->index + pp_pick_count(pick);
}

/* Elements of a whole shard, and of a whole chunk: what stored indices are divided by. */
int64_t pp_tiling_shard_elements(const pp_tiling *tiling);
int64_t pp_tiling_chunk_elements(const pp_tiling *tiling);

/* The stored index of an element of the array, and back. */
int64_t pp_stored_index(const pp_tiling *tiling, const int64_t *element);
void pp_stored_index_element(const pp_tiling *tiling, int64_t index, int64_t *element);

/* A chunk that is remembered from one element to the next, because divisions take most of the time; zeros: none. */
typedef struct pp_stored_chunk {
    int64_t start[PARAPET_MAX_NDIM], end[PARAPET_MAX_NDIM]; /* its elements, also beyond the array */
    int64_t first;                                          /* the stored index of the first */
    bool is_known;
} pp_stored_chunk;

/* The same as pp_stored_index. The chunk becomes that of the element. */
int64_t pp_stored_index_near(const pp_tiling *tiling, pp_stored_chunk *chunk, const int64_t *element);

/* What picks are sorted by: a number from 0 to `most`. */
typedef struct pp_pick_order {
    uint64_t (*number_of)(void *context, const pp_pick *pick);
    void *context;
    uint64_t most;
} pp_pick_order;

/* Sorts in place, byte by byte from the highest; those of the same number are in any order. */
void pp_picks_sort(pp_pick *picks, size_t count, const pp_pick_order *order);

/* Sorts by stored index. */
void pp_picks_sort_stored(pp_pick *picks, size_t count, const pp_tiling *tiling);

/* The first of picks, sorted by stored index, that is at this index or after it; count if there is none. */
size_t pp_picks_find(const pp_pick *picks, size_t count, int64_t index);

/* The first of picks, sorted by stored index, that has an element which the one after it has too; count if there is
 * none. */
size_t pp_picks_find_shared(const pp_pick *picks, size_t count);

/* The memory of picks as a stream of bytes, one pick after the other: how it travels. */
typedef struct pp_pick_stream {
    const pp_pick *picks;
    size_t count;
    size_t element_bytes;
    unsigned char *data;
    size_t next;   /* the pick that is under way, */
    size_t passed; /* and its bytes that have passed */
} pp_pick_stream;

/* Copies the next bytes, at most so many, out of the memory or into it; returns how many they are. */
size_t pp_picks_gather(pp_pick_stream *stream, void *bytes, size_t most);
size_t pp_picks_scatter(pp_pick_stream *stream, const void *bytes, size_t most);

#endif
