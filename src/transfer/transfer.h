/* transfer.h - moves parts between memory and the shards of one array, within the budget.
 *
 * Depends on everything below it: plan (which shards), store (where), codec (how), zarr (names). Knows no public
 * handles. On one process today; the owner of every shard is this one. */
#ifndef PARAPET_TRANSFER_TRANSFER_H
#define PARAPET_TRANSFER_TRANSFER_H

#include "transfer/context.h"
#include "transfer/parts.h"
#include "transfer/shard.h"

/* Fills the parts. Chunks that are not stored give the fill value. */
parapet_status pp_transfer_read(const pp_transfer_context *context, const pp_parts *parts);

/* New shards, written and durable but not visible. */
typedef struct pp_staged {
    pp_writer **writers;
    size_t count;
    size_t capacity;
} pp_staged;

/* Writes the parts, which must not overlap, into new shards; chunks that no part touches are taken over from
 * the old shard in encoded form. */
parapet_status pp_transfer_stage(const pp_transfer_context *context, const pp_parts *parts, pp_staged *staged);

/* After the array shrank in the marked dimensions: builds new versions of the shards at its new edge in which
 * everything outside the array is fill value, or absent. */
parapet_status pp_transfer_stage_trimmed(const pp_transfer_context *context, const bool *is_shrunk,
                                         pp_staged *staged);

/* Makes all staged shards visible and durable. */
parapet_status pp_staged_publish(const pp_transfer_context *context, pp_staged *staged);

/* Gives everything back; what was not published never existed. */
void pp_staged_clear(pp_staged *staged);

/* Decodes every chunk of an open shard and hands nothing on: a check. Returns the first problem. */
parapet_status pp_transfer_verify(const pp_transfer_context *context, const pp_shard *shard);

#endif
