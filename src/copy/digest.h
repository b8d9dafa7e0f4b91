/* digest.h - whether two arrays hold the same elements, without comparing them side by side. The digest is a sum,
 * over all elements that are not fill value, of a hash of the element's position and value. It depends neither on the
 * order in which elements are read, nor on whether fill value is stored. */
#ifndef PARAPET_COPY_DIGEST_H
#define PARAPET_COPY_DIGEST_H

#include "copy/unit_share.h"
#include "copy/view.h"
#include "transfer/context.h"

typedef struct pp_copy_digest {
    uint64_t sums[2];
    int64_t bytes; /* of the elements */
} pp_copy_digest;

/* Called after each shard to ask whether to continue. */
typedef struct pp_copy_watch {
    parapet_status (*tick)(const void *context);
    const void *context;
} pp_copy_watch;

/* [local] Adds the elements of the view in this rank's share of the shards; rank 0 counts the bytes of all. */
parapet_status pp_copy_digest_add(pp_copy_digest *digest, const pp_transfer_context *context,
                                  const pp_copy_view *view, const pp_copy_share *share, const pp_copy_watch *watch);

#endif
