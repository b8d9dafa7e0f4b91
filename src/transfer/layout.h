/* layout.h - how one array is divided and stored, ready for transfers: shards over the array, chunks over a shard,
 * the codec chain of a chunk. Made from the array's document; never changed.
 *
 *     array  = grid of shards (stored objects)
 *     shard  = grid of chunks + index         an unsharded array has one chunk per shard and no index
 *
 * A sole sharding codec makes the array sharded. Anything rarer (sharding inside other codecs) is treated as an
 * unsharded array whose chain does the work on whole objects. */
#ifndef PARAPET_TRANSFER_LAYOUT_H
#define PARAPET_TRANSFER_LAYOUT_H

#include "codec/shard_index.h"
#include "geometry/tiling.h"
#include "store/store.h"
#include "zarr/document.h"

typedef struct pp_layout {
    pp_tiling tiling;
    bool is_sharded;
    pp_index_format index;
    pp_chain *chain;
    pp_key_encoding keys;
    const void *fill_value;
} pp_layout;

/* The layout refers to the document's fill value, which must outlive it. */
parapet_status pp_layout_init(pp_layout *layout, const pp_array_document *document, bool ignore_checksums);
void pp_layout_clear(pp_layout *layout);

/* Whether every element of a decoded chunk is the fill value. */
bool pp_layout_is_all_fill(const pp_layout *layout, const unsigned char *chunk);

/* Whether to read a chunk from there is to copy it: elements as they are, in memory. */
bool pp_layout_may_read_again(const pp_layout *layout, const pp_store *store);

/* The key of a shard: path of the array, "/", key. Free with pp_free. */
parapet_status pp_layout_key(const pp_layout *layout, const char *path, int64_t shard, char **key);

/* The reverse, for a key without the path; false: it is not a shard of the array. */
bool pp_layout_shard_of_key(const pp_layout *layout, const char *key, int64_t *shard);

#endif
