/* source.h - where a copy reads from: source chunks in the order of a visit, seen through a view.
 *
 * Shards with an index stay open while the visits are at their position in the slowest dimension, so that each is
 * opened once per template; a shard that is one chunk is opened with it. */
#ifndef PARAPET_COPY_SOURCE_H
#define PARAPET_COPY_SOURCE_H

#include "copy/pass.h"

/* Tells an object from another one that is later at its key. */
typedef struct pp_copy_identity {
    uint64_t bytes, version;
} pp_copy_identity;

typedef struct pp_copy_source {
    pp_copy_job *job;
    pp_rechunk_side side; /* the source's grid in the target's index space */
    pp_box visits;        /* chunks of the template, as positions in that grid */
    pp_box slab;          /* shards of the template at one place in the slowest dimension */
    pp_shard *shards;     /* of the slab; a key of NULL: not opened yet */
    int64_t shard_count;
    bool keeps_readers;        /* false: there are too many to keep their objects open beside their indexes */
    pp_copy_identity *objects; /* then: which ones the indexes are of, one of each shard */
} pp_copy_source;

/* One source chunk that is being visited. */
typedef struct pp_copy_visit {
    pp_shard *shard;
    pp_shard own; /* opened for this visit: with its index, or with the index of another only to be read */
    bool is_lent; /* key and index of own belong to another */
    int64_t chunk;
    bool is_stored;
    size_t place;                  /* in the item's buffer: of the stored chunk, or of its runs */
    const unsigned char *elements; /* the first one that the template has, when they are decoded */
} pp_copy_visit;

/* What is read at a time: one source chunk, or several that follow each other along the target's fastest dimension
 * and have elements of the same target chunks. All are covered by the template along that dimension. */
typedef struct pp_copy_item {
    pp_box box; /* their elements in the template, in the target's index space */
    int64_t count;
    pp_copy_visit *visits;
    pp_buffer buffer;
} pp_copy_item;

void pp_copy_source_init(pp_copy_source *source, pp_copy_job *job);

/* Turns to the chunks of a template. */
parapet_status pp_copy_source_begin(pp_copy_source *source, const pp_box *template_box);

/* Whether the chunk at that position needs shards of another slab than the open one: then no visit may be in use. */
bool pp_copy_source_leaves_slab(const pp_copy_source *source, const int64_t *cell);

/* Whether the chunk at that position can be one more of an item that has some; no slab may be left with it. */
bool pp_copy_source_joins(const pp_copy_source *source, const int64_t *cell, const pp_box *template_box,
                          const pp_copy_item *item);

/* Finds the chunk at a position of visits, and adds it to the item; opens its shard if need be. */
parapet_status pp_copy_source_locate(pp_copy_source *source, const int64_t *cell, const pp_box *template_box,
                                     pp_copy_item *item);

/* Tells storage that the chunk at a position, or what the template has of it, will be read, and how many bytes that
 * are. False: not now, because its shard is not open. */
bool pp_copy_source_expect(pp_copy_source *source, const int64_t *cell, const pp_box *template_box, size_t *bytes);

/* Reads the chunks, or the parts of them in the template, into the item's buffer. Called from another thread than the
 * rest. */
parapet_status pp_copy_source_fetch(pp_copy_source *source, pp_copy_item *item);

/* The elements of a visit in the memory of decoded, or of the runs: the address of the first one of the template, and
 * the strides by target dimension, which all visits of an item have in common. */
const unsigned char *pp_copy_source_elements(const pp_copy_source *source, const pp_copy_item *item, int64_t number,
                                             const unsigned char *decoded, int64_t *strides);

/* Whether any source chunk that has elements of a box is stored. */
parapet_status pp_copy_source_has_some(pp_copy_source *source, const pp_box *box, bool *has_some);

/* Closes what the visits alone have open. */
void pp_copy_item_release(pp_copy_item *item);

void pp_copy_source_close(pp_copy_source *source);

#endif
