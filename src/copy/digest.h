/* digest.h - whether two arrays hold the same elements, without bringing them together: a sum over all elements
 * of a hash of where an element is and what it is does not depend on the order in which they are read. */
#ifndef PARAPET_COPY_DIGEST_H
#define PARAPET_COPY_DIGEST_H

#include "copy/pass.h"

typedef struct pp_copy_digest {
    uint64_t sums[2];
    int64_t bytes; /* of the elements */
} pp_copy_digest;

/* [local] Adds what this rank's share of the shards has of the view: every shard number that is rank modulo
 * rank_count. Chunks that are not stored count as fill value. */
parapet_status pp_copy_digest_add(pp_copy_digest *digest, const pp_transfer_context *context,
                                  const pp_copy_view *view, int rank, int rank_count);

#endif
