/* parapet_plan.h - what a transfer or a copy would do, before it is done. EXPERIMENTAL: unlike parapet.h, what is
 * declared here, and the text that is printed, may change with any version.
 *
 * A plan counts messages, requests, passes, files and memory exactly, and predicts time, for any number of ranks;
 * most of it needs neither MPI nor storage. Each function prints it in words or as JSON and, if svg is not NULL, as a
 * drawing. The contract of every function is that of parapet.h. */
#ifndef PARAPET_PLAN_H
#define PARAPET_PLAN_H

#include <parapet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Transfers ---------------------------------------------------------------------------------------- */

/* What a transfer would look like, computed with no MPI and no storage. */
typedef struct parapet_transfer_plan_request {
    int is_read; /* 1: reading, 0: writing */
    parapet_array_spec spec;
    parapet_distribution distribution; /* shape may be NULL: the spec's */
    int64_t servers;                   /* 0: one per 4 ranks at most 1024 */
    int64_t memory_bytes;              /* 0: the default of a store */
    int64_t threads;                   /* 0: 1 */
    int64_t server;                    /* -1: the summary of all; else what this server would do, shard by shard */
    parapet_ownership ownership;
    int as_json; /* 1: the text is a JSON object */
    int64_t reserved[8];
} parapet_transfer_plan_request;

/* [local] The plan in words, and, if svg is not NULL, as a drawing of ranks, shards and owners. Free both with
 * parapet_free. */
PARAPET_API parapet_status parapet_transfer_plan_print(const parapet_transfer_plan_request *request, char **text,
                                                       char **svg);

/* ---- Copies ------------------------------------------------------------------------------------------- */

/* What a copy would do. */
typedef struct parapet_copy_plan_request {
    parapet_array_spec source; /* what is copied: parapet_array_get_info tells the same of an array that exists */
    parapet_copy_changes changes;
    int64_t ranks;        /* 0: 1 */
    int64_t threads;      /* 0: 1 */
    int64_t memory_bytes; /* of one rank; 0: the default of a store */
    int64_t unit_bytes;
    int64_t passes; /* this and the next two as in parapet_copy_request */
    parapet_reading reading;
    parapet_cooperation cooperation;
    double read_rate, write_rate; /* bytes per second of all ranks together; 0: an ordinary disk */
    int as_json;                  /* 1: the text is a JSON object */
    int64_t reserved[13];
} parapet_copy_plan_request;

/* [local] Passes, templates, bytes, files, memory, time and the candidates that were weighed, in words; and, if svg
 * is not NULL, a drawing of source chunks, target chunks, template and the order of the visit. Free both with
 * parapet_free. */
PARAPET_API parapet_status parapet_copy_plan_print(const parapet_copy_plan_request *request, char **text, char **svg);

/* [collective] The same for a copy as requested, with the machine measured first unless no_probe. svg may be NULL.
 * An array only; for a group, one text after the other. */
PARAPET_API parapet_status parapet_copy_request_plan_print(const parapet_copy_request *request, int as_json,
                                                           char **text, char **svg);

#ifdef __cplusplus
}
#endif
#endif
