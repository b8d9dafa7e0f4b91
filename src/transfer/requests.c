#include "transfer/requests.h"

/* Requests of which storage was told, and which are not read yet. */
typedef struct lead {
    bool more;
    int requests;
    size_t bytes;
} lead;

static void tell_ahead(const pp_request_walk *walk, lead *told)
{
    pp_request request;
    while (told->more && told->requests < PP_REQUESTS_AHEAD && told->bytes < PP_BYTES_AHEAD &&
           (told->more = walk->next(walk->ahead, &request))) {
        pp_reader_expect(request.shard->reader, request.offset, request.bytes);
        told->requests++;
        told->bytes += request.bytes;
    }
}

parapet_status pp_requests_read(const pp_transfer_context *context, const pp_request_walk *walk,
                                unsigned char *buffer, int64_t *count)
{
    lead told = {.more = walk->ahead != NULL};
    parapet_status status = PARAPET_OK;
    pp_request request;
    *count = 0;
    tell_ahead(walk, &told);
    while (status == PARAPET_OK && walk->next(walk->walk, &request)) {
        status = pp_shard_read(context, request.shard, request.offset, request.bytes, buffer + request.place);
        *count += 1;
        if (walk->ahead == NULL)
            continue;
        told.requests--;
        told.bytes -= request.bytes;
        tell_ahead(walk, &told);
    }
    return status;
}
