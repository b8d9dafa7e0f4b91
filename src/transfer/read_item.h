/* read_item.h - what a transfer that reads knows of a shard, and of what is read at a time. */
#ifndef PARAPET_TRANSFER_READ_ITEM_H
#define PARAPET_TRANSFER_READ_ITEM_H

#include "geometry/bands.h"
#include "transfer/run.h"

typedef struct pp_read_shard {
    pp_transfer_shard head;
    pp_shard stored;
    unsigned char *is_touched; /* one per chunk: some claim wants it */
    int64_t *wanted;           /* stored chunks that a claim touches, in the order of their offsets */
    int64_t wanted_count, next_wanted;
    int64_t next_told;   /* before it, storage was told that they will be read */
    int64_t next_absent; /* chunks from this one on may be touched and not stored */
    bool is_staged_once; /* some elements may go to several ranks, and runs are so short that all fit the staging
                            buffer */
    bool is_told_absent; /* of a shard that is not stored: already reported */
    pp_bands bands;      /* of the next wanted chunk, if has_bands: it is taken band by band */
    bool has_bands;
    uint32_t crc32c; /* of the bands that were read so far of a chunk; for the one thread that reads */
    pp_budget *budget;
    size_t reserved_bytes;
} pp_read_shard;

/* Some chunks of one shard, or a band of one chunk: read together, or not stored. */
typedef struct pp_read_item {
    pp_transfer_item head;
    const int64_t *wanted; /* PP_WINDOW_DATA: the chunks */
    int64_t wanted_count;
    uint64_t offset; /* the stretch of the object, */
    size_t bytes;
    pp_buffer buffer; /* which it has room for */
    bool is_band;
    pp_box band;            /* what it holds, in C order */
    size_t band_skip;       /* bytes before it in the buffer */
    bool is_first, is_last; /* of the bands of its chunk */
} pp_read_item;

#endif
