/* shard_notes.h - what a rank remembers about the shards that it wrote to an array: the records that a seal holds, so
 * that sealing need not read the shards.
 *
 * Another rank may have written a shard again since. Therefore every write has a serial, the same on all ranks, and
 * of all notes about a shard the one with the highest serial counts. */
#ifndef PARAPET_TRANSFER_SHARD_NOTES_H
#define PARAPET_TRANSFER_SHARD_NOTES_H

#include <stdint.h>

#include "zarr/manifest.h"

typedef struct pp_shard_note {
    int64_t shard;
    int64_t serial;         /* of the write */
    pp_shard_record record; /* with checksums of its own */
    uint64_t version;       /* of the stored object; if that has changed, the record describes something else */
} pp_shard_note;

/* Checksums of more chunks are not kept: 4 MiB for an array. Sealing then reads the shards. */
#define PP_NOTED_CHUNKS_MOST (UINT64_C(1) << 20)

/* {0} has none. */
typedef struct pp_shard_notes {
    pp_shard_note *list; /* ascending after a write, one per shard */
    size_t count, capacity, sorted_count;
    uint64_t chunk_count; /* of all notes */
    int64_t serial;       /* writes so far; the same on all ranks */
    int64_t lost_serial;  /* of the last write that this rank has no notes about: notes up to it do not count on any
                             rank */
} pp_shard_notes;

/* Makes room for more shards, before anything is written, so that taking notes cannot fail. */
parapet_status pp_shard_notes_reserve(pp_shard_notes *notes, size_t more);

/* Notes what a write has published, with the version of the object: begin on all ranks, add what there is room for,
 * end. record NULL: not known. Its checksums may be taken, and are then no longer in it. */
void pp_shard_notes_begin(pp_shard_notes *notes);
void pp_shard_notes_add(pp_shard_notes *notes, int64_t shard, pp_shard_record *record, uint64_t version);
void pp_shard_notes_end(pp_shard_notes *notes);

/* The first note about this shard or a later one; count: there is none. */
size_t pp_shard_notes_find(const pp_shard_notes *notes, int64_t shard);

/* Discards one note; between writes. */
void pp_shard_notes_drop(pp_shard_notes *notes, size_t place);

/* As if nothing had been written: on all ranks or on none. */
void pp_shard_notes_clear(pp_shard_notes *notes);

#endif
