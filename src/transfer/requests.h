/* requests.h - reads bytes of shards by several requests, one after the other: parts of chunks, for transfers and for
 * copies. */
#ifndef PARAPET_TRANSFER_REQUESTS_H
#define PARAPET_TRANSFER_REQUESTS_H

#include "transfer/shard.h"

/* Storage is told of no more bytes than this ahead, which is little beside the page cache. */
#define PP_BYTES_AHEAD ((size_t)2 << 20)

typedef struct pp_request {
    const pp_shard *shard;
    uint64_t offset; /* in its object */
    size_t bytes;
    size_t place; /* where they go in the buffer */
} pp_request;

/* Walks through requests. A copy of a walk walks for itself. */
typedef struct pp_request_walk {
    bool (*next)(void *walk, pp_request *request); /* false: there is no more */
    void *walk;
    void *ahead; /* an equal walk, by which storage is told of some requests ahead; NULL: it is not */
} pp_request_walk;

/* Reads them all. *count: how many there were. */
parapet_status pp_requests_read(const pp_transfer_context *context, const pp_request_walk *walk,
                                unsigned char *buffer, int64_t *count);

#endif
