/* parapet_plan.h - what a transfer or a copy would do, computed without doing it. EXPERIMENTAL: unlike parapet.h,
 * these declarations, and the text that the functions print, may change with any version.
 *
 * A plan counts messages, requests, passes, files and memory exactly, and predicts the time, for any number of ranks.
 * Most plans need neither MPI nor storage. Each function prints its plan in words or as JSON and, if svg is not NULL,
 * also draws it. The contract of every function is that of parapet.h. */
#ifndef PARAPET_PLAN_H
#define PARAPET_PLAN_H

#include <parapet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Transfers ---------------------------------------------------------------------------------------- */

/* A transfer to be planned. Needs neither MPI nor storage. Of an array that is sealed, each open shard takes four
 * bytes more for each of its chunks. */
typedef struct parapet_transfer_plan_request {
    int is_read; /* 1: reading, 0: writing */
    parapet_array_spec spec;
    parapet_distribution distribution; /* shape may be NULL: that of spec */
    int64_t servers;                   /* 0: one per 4 ranks, at most 1024 */
    int64_t memory_bytes;              /* 0: the default of a store */
    int64_t threads;                   /* 0: 1 */
    int64_t server; /* -1: a summary of all servers; else what this server would do, shard by shard */
    parapet_owners owners;
    parapet_sharing sharing;
    int as_json;         /* 1: the text is a JSON object */
    const char *weights; /* path of a file with the speeds of the servers, as in parapet_store_options;
                            SHARING_WEIGHTS follows them, and the summary tells what each way to share reaches with
                            them. NULL: none */
    int64_t reserved[6];
} parapet_transfer_plan_request;

/* [local] Prints the plan of a transfer and, if svg is not NULL, draws its ranks, shards and owners. Free both texts
 * with parapet_free. */
PARAPET_API parapet_status parapet_transfer_plan_print(const parapet_transfer_plan_request *request, char **text,
                                                       char **svg);

/* ---- Copies ------------------------------------------------------------------------------------------- */

/* A copy to be planned. Needs neither MPI nor storage. The source is taken for one that is not sealed;
 * parapet_copy_request_plan_print knows whether it is. */
typedef struct parapet_copy_plan_request {
    parapet_array_spec source; /* what is copied; parapet_array_get_info describes an existing array likewise */
    parapet_copy_changes changes;
    int64_t ranks;        /* 0: 1 */
    int64_t threads;      /* 0: 1 */
    int64_t memory_bytes; /* of each rank; 0: the default of a store */
    int64_t unit_bytes;   /* this and the next three fields: as in parapet_copy_request */
    int64_t passes;
    parapet_reading reading;
    parapet_cooperation cooperation;
    double read_rate, write_rate; /* bytes per second of all ranks together; 0: those of an ordinary disk */
    int as_json;                  /* 1: the text is a JSON object */
    int64_t reserved[13];
} parapet_copy_plan_request;

/* [local] Prints the plan of a copy. Tells its passes, templates, bytes, files, memory and time, and the candidates
 * that were compared. If svg is not NULL, also draws source chunks, target chunks, the template and the order of
 * visits. Free both texts with parapet_free. */
PARAPET_API parapet_status parapet_copy_plan_print(const parapet_copy_plan_request *request, char **text, char **svg);

/* [collective] Prints the plan of a requested copy, for which it first measures the machine unless no_probe is set.
 * For a group, text has the plans of its arrays one after the other, and svg shows the first. svg may be NULL. Free
 * both texts with parapet_free. */
PARAPET_API parapet_status parapet_copy_request_plan_print(const parapet_copy_request *request, int as_json,
                                                           char **text, char **svg);

#ifdef __cplusplus
}
#endif
#endif
