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
    pp_box box;       /* its elements in the template, in the target's index space */
    pp_box chunk_box; /* the whole chunk, in the source's index space */
    pp_shard *shard;
    pp_shard own; /* opened for this visit: with its index, or with the index of another only to be read */
    bool is_lent; /* key and index of own belong to another */
    int64_t chunk;
    bool is_stored;
    pp_buffer buffer;
    size_t skip; /* bytes before the chunk in the buffer */
} pp_copy_visit;

void pp_copy_source_init(pp_copy_source *source, pp_copy_job *job);

/* Turns to the chunks of a template. */
parapet_status pp_copy_source_begin(pp_copy_source *source, const pp_box *template_box);

/* Whether the chunk at that position needs shards of another slab than the open one: then no visit may be in use. */
bool pp_copy_source_leaves_slab(const pp_copy_source *source, const int64_t *cell);

/* Finds the chunk at a position of visits; opens its shard if need be. */
parapet_status pp_copy_source_locate(pp_copy_source *source, const int64_t *cell, const pp_box *template_box,
                                     pp_copy_visit *visit);

/* Reads the chunk, or the part of it in the template, into the visit's buffer. Called from another thread than the
 * rest. */
parapet_status pp_copy_source_fetch(pp_copy_source *source, pp_copy_visit *visit);

/* The elements of a visit in the memory of decoded, or of the runs: the address of the first element of visit->box,
 * and the strides by target dimension. */
const unsigned char *pp_copy_source_elements(const pp_copy_source *source, const pp_copy_visit *visit,
                                             const unsigned char *decoded, int64_t *strides);

/* Whether any source chunk that has elements of a box is stored. */
parapet_status pp_copy_source_has_some(pp_copy_source *source, const pp_box *box, bool *has_some);

/* Closes what the visit alone has open. */
void pp_copy_visit_release(pp_copy_visit *visit);

void pp_copy_source_close(pp_copy_source *source);

#endif
