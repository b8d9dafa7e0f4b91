/* target.h - where a copy writes to: the shards of one work unit, from its first template to its last.
 *
 * Chunks are appended in the order in which they are complete, by any thread. After every template what was appended
 * is made durable and recorded; after the last, the shards get their indexes and become visible. */
#ifndef PARAPET_COPY_TARGET_H
#define PARAPET_COPY_TARGET_H

#include <pthread.h>

#include "copy/journal.h"
#include "copy/source.h"
#include "transfer/shard_build.h"

/* One shard of the work unit. */
typedef struct pp_copy_shard {
    pp_shard_build *build;
    uint32_t *checksums; /* CRC-32C of every encoded chunk */
    uint64_t durable_bytes;
    bool is_published;
} pp_copy_shard;

typedef struct pp_copy_target {
    pp_copy_job *job;
    int64_t work_unit;
    pp_box cells; /* the shards of the work unit, as positions */
    pp_copy_shard *shards;
    int64_t shard_count;
    size_t reserved_bytes;
    int64_t templates_done; /* recorded, by this run or an earlier one */
    pp_log *journal;        /* NULL until there is something to record */
    uint64_t journal_bytes;
    pp_journal_record record;
    pthread_mutex_t lock;
    bool has_holes;        /* the elements alone do not tell whether a chunk has stored elements */
    pp_copy_source origin; /* where that is looked up: what earlier passes copied, or the source of this one */
} pp_copy_target;

/* Continues a work unit where the journal says that it was left. Close it even after a failure. */
parapet_status pp_copy_target_open(pp_copy_target *target, pp_copy_job *job, int64_t work_unit);

/* Whether the chunk at that position has to be stored: with holes, only if a part of it is stored at the origin. */
parapet_status pp_copy_target_wants(pp_copy_target *target, const int64_t *cell, bool *wants);

/* What the journal says of an encoded chunk, to be passed on with it; 0 where it says nothing. From any thread. */
uint32_t pp_copy_target_checksum(const pp_copy_target *target, pp_bytes encoded);

/* Appends one encoded chunk, given by its position in the grid of all target chunks. From any thread. */
parapet_status pp_copy_target_append(pp_copy_target *target, const int64_t *cell, pp_bytes encoded,
                                     uint32_t checksum);

/* The template with that box is complete: makes it durable and records it. */
parapet_status pp_copy_target_record(pp_copy_target *target, const pp_box *box);

/* The last template is complete: makes the shards of the work unit visible. */
parapet_status pp_copy_target_finish(pp_copy_target *target);

/* What is not visible stays where it is, for a rank that resumes the work unit. */
void pp_copy_target_close(pp_copy_target *target);

#endif
