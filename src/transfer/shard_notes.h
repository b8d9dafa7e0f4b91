/* shard_notes.h - what a rank remembers of the shards that it wrote to an array: the very records that a seal holds,
 * so that sealing need not read them.
 *
 * Another rank may have written a shard again since. So every write has a serial, the same on all ranks, and of all
 * ranks' notes of a shard the one with the highest counts. */
#ifndef PARAPET_TRANSFER_SHARD_NOTES_H
#define PARAPET_TRANSFER_SHARD_NOTES_H

#include <stdint.h>

#include "zarr/manifest.h"

typedef struct pp_shard_note {
    int64_t shard;
    int64_t serial; /* of the write */
    pp_shard_record record;
    uint64_t version; /* of the stored object: if that is another one by now, the record is of something else */
} pp_shard_note;

/* {0} has none. */
typedef struct pp_shard_notes {
    pp_shard_note *list; /* ascending once a write is over, one of each shard */
    size_t count, capacity, sorted_count;
    int64_t serial;      /* writes so far; the same on all ranks */
    int64_t lost_serial; /* of the last write that this rank has no notes of: no rank's notes count up to it */
} pp_shard_notes;

/* Room for more shards: before anything is written, so that taking notes cannot fail. */
parapet_status pp_shard_notes_reserve(pp_shard_notes *notes, size_t more);

/* Takes down what a write has published, with the version of the object: begin on all ranks, add what there is room
 * for, end. record NULL: it is not known. */
void pp_shard_notes_begin(pp_shard_notes *notes);
void pp_shard_notes_add(pp_shard_notes *notes, int64_t shard, const pp_shard_record *record, uint64_t version);
void pp_shard_notes_end(pp_shard_notes *notes);

/* The first note of a shard not below this one; count: there is none. */
size_t pp_shard_notes_find(const pp_shard_notes *notes, int64_t shard);

/* One note is not believed any more; between writes. */
void pp_shard_notes_drop(pp_shard_notes *notes, size_t place);

/* As if nothing had been written: on all ranks or on none. */
void pp_shard_notes_clear(pp_shard_notes *notes);

#endif
