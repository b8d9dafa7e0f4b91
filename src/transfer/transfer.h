/* transfer.h - moves parts between the memory of all ranks and the shards of arrays, within each rank's budget.
 *
 * Depends on everything below it: comm (who else is there), plan (who does what), store (where), codec (how), zarr
 * (names). Knows no public handles.
 *
 * A transfer has these steps, the same for one rank and for many:
 *     describe   every rank tells the homes of the shards it touches what it holds (session.c)
 *     plan       owners are fixed, overlaps refused, the budget divided (session.c, memory_plan.c); all ranks agree
 *     run        owners pull windows of chunks and write them, or read and push them (write.c, read.c, event_loop.c)
 *     agree      which is also how every rank learns that nobody will ask it for anything more
 * run.c takes every transfer through them; read.c and write.c decide what happens to shards and chunks. */
#ifndef PARAPET_TRANSFER_TRANSFER_H
#define PARAPET_TRANSFER_TRANSFER_H

#include "comm/comm.h"
#include "plan/owner.h"
#include "transfer/context.h"
#include "transfer/direction.h"
#include "transfer/parts.h"
#include "transfer/shard.h"
#include "transfer/shard_notes.h"

typedef struct pp_session_cache pp_session_cache; /* see session_cache.h */

/* The ranks of a store, and how they work together; the same on every rank. */
typedef struct pp_team {
    pp_comm *comm;
    const int *servers; /* ranks in ascending order */
    int server_count;
    size_t fragment_bytes; /* of a message */
    const pp_owner_strategy *owners;
    bool takes;             /* a server that has nothing left takes shards from others */
    bool has_deadline;      /* ranks may leave while others still work, so nothing of theirs may be in use then */
    bool uses_direct;       /* ranks on a node copy from each other's memory, where the system allows it */
    pp_session_cache *kept; /* descriptions of earlier calls; NULL: none are kept */
    bool is_described;      /* one of them was chosen for this call */
} pp_team;

/* One array of a transfer. */
typedef struct pp_transfer_array {
    const pp_transfer_context *context; /* store, budget, threads and progress are the same for all of them */
    const pp_parts *parts;
    pp_shard_notes *notes; /* staging makes room in them for what will be published; NULL: no notes are taken */
} pp_transfer_array;

/* [collective] Fills the parts. Chunks that are not stored give the fill value. Same status on every rank. */
parapet_status pp_transfer_read(const pp_team *team, const pp_transfer_array *arrays, int array_count);

/* What a seal would record about a new shard. */
struct pp_staged_note {
    int target; /* which array of the transfer */
    int64_t shard;
    pp_shard_record record; /* bytes PP_SHARD_ABSENT: it was not computed; freed with the staged shards */
    bool keeps_old;         /* some of it was taken from the shard that it replaces */
    uint64_t old_version;   /* of that shard; 0: there was none */
    uint64_t draft;         /* its number in the cache; 0: there is none */
    bool is_dirty;          /* it is what was delayed of the shard until now, and nothing else */
};

/* New shards, written and durable but not visible. */
typedef struct pp_staged {
    pp_writer **writers;
    pp_staged_note *notes; /* one of each */
    size_t count;
    size_t capacity;
    pp_dirty_shard **delays; /* what is left for later */
    size_t delay_count, delay_capacity;
} pp_staged;

/* [collective] Writes the parts, which must not overlap, into new shards; chunks that no part touches are copied from
 * the old shard in encoded form. Same status on every rank. */
parapet_status pp_transfer_stage(const pp_team *team, const pp_transfer_array *arrays, int array_count,
                                 pp_staged *staged);

struct pp_failure; /* see base/status.h */

/* [collective] The same after something that may have failed on this rank: then nothing is written, and all ranks are
 * told. */
parapet_status pp_transfer_stage_after(const struct pp_failure *before, const pp_team *team,
                                       const pp_transfer_array *arrays, int array_count, pp_staged *staged);

/* [local] After the array shrank in the marked dimensions: builds new versions of the shards at its new edge in which
 * everything outside the array is fill value, or absent. */
parapet_status pp_transfer_stage_trimmed(const pp_transfer_context *context, const bool *is_shrunk,
                                         pp_staged *staged);

/* [local] Builds new versions of those shards of the array that were chosen of the delayed ones, as they are with all
 * that is delayed. *left_out: the first failure of shards that cannot be written, because another job has written
 * them; the others are. */
parapet_status pp_transfer_stage_write_back(const pp_transfer_array *array, pp_staged *staged,
                                            struct pp_failure *left_out);

/* [local] PARAPET_ERR_STALE if a staged shard that was built from an older one would replace a different one.
 * contexts are those of the arrays of the transfer. */
parapet_status pp_staged_check(const pp_transfer_context *contexts, const pp_staged *staged);

/* [local] Makes all staged shards visible. They are durable only after the next sync of directories. */
parapet_status pp_staged_show(const pp_transfer_context *context, pp_staged *staged);

/* [local] Makes all staged shards visible and durable. */
parapet_status pp_staged_publish(const pp_transfer_context *context, pp_staged *staged);

/* [local] All ranks have agreed that it is published, and what is left for later is dirty; or they have not, and what
 * may be visible nevertheless is not taken for what another job has written. */
void pp_staged_note_outcome(const pp_transfer_context *contexts, pp_staged *staged, bool is_published);

/* Frees everything; what was not published never existed. */
void pp_staged_clear(pp_staged *staged);

/* [local] Checks an open shard by decoding every chunk and discarding the result. Returns the first problem. */
parapet_status pp_transfer_verify(const pp_transfer_context *context, const pp_shard *shard);

#endif
