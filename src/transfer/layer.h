/* layer.h - what lies between a transfer and the stored shards of an array. Who reads or writes a chunk calls the
 * functions of a layer, and does not know whether there is anything but storage behind it.
 *
 *     option        layers, from the top        file
 *     -             plain                       layer.c
 *     cache_bytes   cache, plain                cache_layer.c
 *     write_back    write_back, cache, plain    write_back_layer.c
 *     -             pinned, any of these        pinned.c: of elements that are listed, while shards are divided
 *
 * A store installs its topmost layer when it is opened. An open shard has the topmost one that has something of it:
 * nothing of a layer above is entered for it. */
#ifndef PARAPET_TRANSFER_LAYER_H
#define PARAPET_TRANSFER_LAYER_H

#include "store/store.h"

typedef struct pp_transfer_context pp_transfer_context;
typedef struct pp_shard pp_shard;
typedef struct pp_transfer pp_transfer;
typedef struct pp_write_shard pp_write_shard;
typedef struct pp_staged_note pp_staged_note;

/* Where the encoded bytes of a chunk are; waiting: of a dirty shard, and newer than what is stored. */
typedef enum pp_chunk_place { PP_IN_STORAGE, PP_IN_CACHE, PP_WAITING } pp_chunk_place;

/* Chunks in the same kind of place, which are fetched together; or a part of one. */
typedef struct pp_chunk_run {
    const int64_t *chunks;
    int64_t count;
    uint64_t offset; /* the stretch of the shard in which they lie, */
    size_t bytes;
    unsigned char *target; /* which it has room for */
    bool is_part;
    bool is_last_use; /* they are not asked for again */
} pp_chunk_run;

typedef struct pp_layer {
    /* As pp_store_open_object and pp_reader_free. */
    parapet_status (*open_object)(const pp_transfer_context *context, const pp_shard *shard, pp_reader **reader);
    void (*close_object)(pp_reader *reader);
    /* As pp_shard_open, when the shard has its key. */
    parapet_status (*open)(const pp_transfer_context *context, pp_shard *shard);
    /* Reads the stored index. */
    parapet_status (*read_index)(const pp_transfer_context *context, const pp_shard *shard, uint64_t offset,
                                 size_t bytes, void *target);
    pp_chunk_place (*find)(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk);
    /* Whether a chunk should be fetched as a whole where a part of it is wanted: it is in memory, or will stay there,
     * as this many bytes can. */
    bool (*wants_whole)(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk, size_t bytes);
    /* Fetches chunks, and counts. */
    parapet_status (*fetch)(const pp_transfer_context *context, const pp_shard *shard, const pp_chunk_run *run);
    /* Parts of a new shard will be appended, which has nothing yet: decides where they go (pp_sink in shard_build.h).
     */
    parapet_status (*begin)(const pp_transfer *transfer, pp_write_shard *shard);
    /* A new shard is published, as an object of this version; or it may be, and nobody knows. */
    void (*note_outcome)(const pp_transfer_context *context, const pp_staged_note *note, uint64_t version,
                         bool is_published);
} pp_layer;

extern const pp_layer pp_plain_layer, pp_cache_layer, pp_write_back_layer;

/* PARAPET_ERR_STALE if the stored shard is not the one on which a dirty one stands, which is stuck then. */
parapet_status pp_write_back_check(const pp_transfer_context *context, int64_t shard);

#endif
