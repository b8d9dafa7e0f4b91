/* shard_build.h - one new shard in the making: its chunks are appended in order, then its index; then it is
 * durable, but not yet visible. */
#ifndef PARAPET_TRANSFER_SHARD_BUILD_H
#define PARAPET_TRANSFER_SHARD_BUILD_H

#include "transfer/transfer.h"

typedef struct pp_shard_build pp_shard_build;

/* Where what is appended to a new shard goes. */
typedef struct pp_sink {
    /* One encoded chunk; or, as chunk PP_CACHE_INDEX, the index. */
    parapet_status (*append)(pp_shard_build *build, const pp_transfer_context *context, int64_t chunk,
                             pp_bytes encoded);
    parapet_status (*finish)(pp_shard_build *build, const pp_transfer_context *context, pp_staged *staged);
    void (*discard)(pp_shard_build *build); /* of one that may be finished */
    bool is_overlay; /* chunks that stay as they are are not appended, and those that are not to be stored are, with
                        no bytes */
} pp_sink;

/* To storage, where it is a new object. */
extern const pp_sink pp_storage_sink;

struct pp_shard_build {
    int64_t number;
    int target;   /* which array of the transfer */
    pp_shard old; /* the stored shard; only opened if parts of it are kept */
    bool is_old_open;
    pp_chunk_entry *entries; /* of the new shard */
    size_t reserved_bytes;
    size_t buffer_bytes; /* for the writer */
    pp_writer *writer;
    bool is_described; /* the chunks come in ascending order, and the tally has them all */
    pp_shard_tally tally;
    uint32_t index_crc32c;
    pp_sink sink;
    uint64_t draft;        /* for the sink: its number in the cache; 0: there is none */
    pp_dirty_shard *dirty; /* for the sink: what is appended, and written later */
    const char *staging; /* where the unfinished shard is kept under a name that can be found again; NULL: anywhere */
};

/* What a new shard takes from the budget: as long as it exists, for its list of chunks (and that of the old one);
 * and, for one shard at a time, to write it. */
size_t pp_shard_build_list_bytes(const pp_layout *layout, bool needs_old);
size_t pp_shard_build_write_bytes(const pp_layout *layout);

/* The largest buffer that the writer of one shard can use; with threads, one half is written while the other is
 * filled. */
size_t pp_shard_build_writer_bytes(const pp_layout *layout, bool has_threads);

/* Memory for a new shard; opens the old one if asked. Free it even after a failure. */
parapet_status pp_shard_build_create(pp_shard_build **build, const pp_transfer_context *context, int64_t number,
                                     bool needs_old);
void pp_shard_build_free(pp_shard_build *build, const pp_transfer_context *context);

/* Computes the record that a seal would hold while the shard is written; only for chunks that are appended in
 * ascending order. */
void pp_shard_build_describe(pp_shard_build *build);

/* Appends one encoded chunk. */
parapet_status pp_shard_build_append(pp_shard_build *build, const pp_transfer_context *context, int64_t chunk,
                                     pp_bytes encoded);

/* For a shard with a staging place: its name there; free with pp_free. */
parapet_status pp_shard_build_name(const pp_shard_build *build, char **name);

/* Continues with what an earlier run appended and made durable. */
parapet_status pp_shard_build_resume(pp_shard_build *build, const pp_transfer_context *context, uint64_t bytes);

/* Appends the index, makes everything durable and returns the staged object. */
parapet_status pp_shard_build_finish(pp_shard_build *build, const pp_transfer_context *context, pp_staged *staged);

#endif
