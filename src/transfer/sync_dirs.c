#include "transfer/sync_dirs.h"

#include <string.h>

#include "base/status.h"
#include "comm/exchange.h"
#include "comm/topology.h"

/* Told in place of a number. */
#define HAS_FAILED (-1)

typedef struct syncing {
    pp_comm *comm;
    pp_store *store;
    const int *servers; /* nearby */
    int server_count;
    pp_text prefixes; /* that this rank has changed, each with the NUL that ends it */
    int turn;         /* which server is told */
    size_t next;      /* where in the prefixes */
    pp_failure failure;
} syncing;

static bool is_dealt_out(const pp_comm *comm, const pp_store *store)
{
    return pp_comm_size(comm) > 1 && pp_store_is_dealt_out(store);
}

/* The server that syncs a prefix: on every rank that has the same servers nearby the same. */
static int server_of(const syncing *job, const char *prefix)
{
    uint64_t sum = 0;
    while (*prefix != '\0')
        sum = (sum ^ (unsigned char)*prefix++) * 0x9e3779b97f4a7c15;
    return (int)((sum >> 32) % (uint64_t)job->server_count);
}

/* Adds to the parcel what the server whose turn it is syncs; false: not all of it has room. */
static bool fill(syncing *job, unsigned char *parcel, size_t *bytes)
{
    while (job->next < job->prefixes.bytes) {
        const char *prefix = job->prefixes.data + job->next;
        size_t length = strlen(prefix) + 1;
        if (server_of(job, prefix) == job->turn) {
            if (*bytes + length > PP_PARCEL_BYTES)
                return false;
            memcpy(parcel + *bytes, prefix, length);
            *bytes += length;
        }
        job->next += length;
    }
    return true;
}

static bool next_prefixes(void *context, int *rank, void *parcel, size_t *bytes)
{
    syncing *job = context;
    *bytes = 0;
    while (*bytes == 0 && job->turn < job->server_count) {
        *rank = job->servers[job->turn];
        if (fill(job, parcel, bytes)) {
            job->turn++;
            job->next = 0;
        }
    }
    return *bytes > 0;
}

static void receive_prefixes(void *context, int source, const void *parcel, size_t bytes)
{
    const char *next = parcel, *end = next + bytes;
    syncing *job = context;
    (void)source;
    for (; next < end; next += strlen(next) + 1)
        pp_failure_take(&job->failure, pp_store_take_unsynced_dirs(job->store, next));
}

/* A rank that has no server beside it syncs what it has changed itself. */
static void keep_prefixes(syncing *job)
{
    receive_prefixes(job, pp_comm_rank(job->comm), job->prefixes.data, job->prefixes.bytes);
}

parapet_status pp_sync_dirs_begin(pp_comm *comm, pp_store *store, const int *servers, int server_count)
{
    if (!is_dealt_out(comm, store))
        return PARAPET_OK;
    return pp_comm_find_near(comm, store->place, servers, server_count);
}

parapet_status pp_sync_dirs_collectively(pp_comm *comm, pp_store *store, parapet_status mine)
{
    syncing job = {.comm = comm, .store = store};
    pp_exchange exchange = {.context = &job, .next = next_prefixes, .receive = receive_prefixes};
    if (!is_dealt_out(comm, store))
        return mine == PARAPET_OK ? pp_store_sync_dirs(store) : mine;
    pp_failure_take(&job.failure, mine);
    pp_store_list_unsynced_dirs(store, &job.prefixes);
    pp_failure_take(&job.failure, job.prefixes.status);
    job.servers = pp_comm_near_servers(comm, &job.server_count);
    if (job.server_count == 0)
        keep_prefixes(&job);
    pp_failure_take(&job.failure, pp_comm_exchange(comm, &exchange));
    pp_text_free(&job.prefixes);
    if (job.failure.status == PARAPET_OK)
        pp_failure_take(&job.failure, pp_store_sync_taken_dirs(store));
    return pp_failure_put(&job.failure);
}

parapet_status pp_sync_dirs_agree_min(pp_comm *comm, pp_store *store, const char *phase, parapet_status mine,
                                      int64_t *least)
{
    int64_t told = pp_store_has_failed_sync(store) ? HAS_FAILED : *least;
    parapet_status status = pp_comm_agree_min(comm, phase, mine, &told);
    if (status != PARAPET_OK) {
        if (told == HAS_FAILED)
            pp_store_fail_unsynced_dirs(store, status);
        return status;
    }
    pp_store_forget_unsynced_dirs(store);
    if (told == HAS_FAILED) /* in an earlier call, and hides the numbers of others */
        return pp_comm_agree_min(comm, phase, status, least);
    *least = told;
    return status;
}

parapet_status pp_sync_dirs_agree(pp_comm *comm, pp_store *store, const char *phase, parapet_status mine)
{
    int64_t least = 0;
    return pp_sync_dirs_agree_min(comm, store, phase, mine, &least);
}
