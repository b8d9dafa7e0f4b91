/* Settling together: what a rank has changed is settled once for all ranks that reach the storage as it does, on one
 * node and at one place, by one of them. The store is one that only notes what it is asked to do. */
#include "transfer/sync_dirs.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "comm/topology.h"
#include "inside.h"

enum { PREFIXES = 16 };

typedef struct noting {
    pp_store store;
    bool is_changed[PREFIXES]; /* by this rank */
    bool is_taken[PREFIXES];
    int64_t settled[PREFIXES]; /* how often, by this rank */
    bool fails, has_failed;    /* the next sync_dirs here; some, here or of another rank */
} noting;

static void list_unsynced_dirs(pp_store *store, pp_text *prefixes)
{
    const noting *self = (const noting *)store;
    int i;
    for (i = 0; i < PREFIXES; i++)
        if (self->is_changed[i]) {
            char prefix[32];
            int bytes = snprintf(prefix, sizeof prefix, "f%03d/c/%03d", i, i);
            pp_text_add_bytes(prefixes, prefix, (size_t)bytes + 1);
        }
}

static parapet_status take_unsynced_dirs(pp_store *store, const char *prefix)
{
    noting *self = (noting *)store;
    self->is_taken[strtol(prefix + 1, NULL, 10)] = true;
    return PARAPET_OK;
}

static parapet_status sync_taken_dirs(pp_store *store)
{
    noting *self = (noting *)store;
    int i;
    for (i = 0; i < PREFIXES; i++) {
        self->settled[i] += self->is_taken[i];
        self->is_taken[i] = false;
    }
    self->has_failed |= self->fails;
    return self->fails ? pp_fail(PARAPET_ERR_IO, "the disk is gone") : PARAPET_OK;
}

static void forget_unsynced_dirs(pp_store *store)
{
    noting *self = (noting *)store;
    memset(self->is_changed, 0, sizeof self->is_changed);
}

static bool has_failed_sync(pp_store *store)
{
    return ((const noting *)store)->has_failed;
}

static void fail_unsynced_dirs(pp_store *store, parapet_status status)
{
    expect(status == PARAPET_ERR_IO, "the status of the rank that failed");
    ((noting *)store)->has_failed = true;
}

static const pp_store_ops noting_ops = {
    .list_unsynced_dirs = list_unsynced_dirs,
    .take_unsynced_dirs = take_unsynced_dirs,
    .sync_taken_dirs = sync_taken_dirs,
    .forget_unsynced_dirs = forget_unsynced_dirs,
    .has_failed_sync = has_failed_sync,
    .fail_unsynced_dirs = fail_unsynced_dirs,
};

/* How ranks reach the storage. */
typedef struct scene {
    int size, per_node, places, wanted;
    const int *servers;
    int server_count;
} scene;

static bool changes(const scene *at, int rank, int prefix)
{
    return prefix % (at->size + 1) != rank;
}

static bool is_same_way(const scene *at, int rank, int other)
{
    return rank / at->per_node == other / at->per_node && rank % at->places == other % at->places;
}

static bool has_server(const scene *at, int rank)
{
    int i;
    for (i = 0; i < at->server_count; i++)
        if (is_same_way(at, rank, at->servers[i]))
            return true;
    return false;
}

/* Whether it changes the prefix, and none of those before it changes it for which the same server settles it. */
static bool is_first(const scene *at, int rank, int prefix)
{
    int before;
    if (!changes(at, rank, prefix))
        return false;
    for (before = 0; before < rank && has_server(at, rank); before++)
        if (is_same_way(at, rank, before) && changes(at, before, prefix))
            return false;
    return true;
}

static void check_settled(pp_comm *comm, const scene *at, const noting *store)
{
    int64_t sums[PREFIXES];
    int prefix, rank;
    memcpy(sums, store->settled, sizeof sums);
    expect(pp_comm_agree_sums(comm, "test", PARAPET_OK, sums, PREFIXES) == PARAPET_OK, "sums");
    for (prefix = 0; prefix < PREFIXES; prefix++) {
        int expected = 0;
        bool is_ours = false;
        for (rank = 0; rank < at->size; rank++) {
            expected += is_first(at, rank, prefix);
            is_ours |= changes(at, rank, prefix) && is_same_way(at, rank, pp_comm_rank(comm));
        }
        expect(sums[prefix] == expected, "prefix %d is settled %d times, not %d", prefix, (int)sums[prefix],
               expected);
        expect(is_ours || store->settled[prefix] == 0, "prefix %d is settled where it was changed", prefix);
    }
}

/* Where all ranks are servers nearby, each settles something, although names follow a rule. */
static void check_even(const scene *at, const noting *store)
{
    int i, settled = 0;
    for (i = 0; i < PREFIXES; i++)
        settled += (int)store->settled[i];
    expect(settled > 0 || at->per_node < at->size || at->places > 1 || at->server_count < at->size,
           "no server is left out");
}

/* One rank cannot publish: what the others have changed waits for the next call. Then one cannot sync, whichever
 * of them that is for: nobody settles what it has changed any more. */
static void check_failures(pp_comm *comm, noting *store)
{
    bool is_last = pp_comm_rank(comm) == pp_comm_size(comm) - 1;
    parapet_status status = is_last ? pp_fail(PARAPET_ERR_NO_SPACE, "the disk is full") : PARAPET_OK;
    store->is_changed[3] = true;
    status = pp_sync_dirs_collectively(comm, &store->store, status);
    expect(pp_sync_dirs_agree(comm, &store->store, "test", status) == PARAPET_ERR_NO_SPACE, "the disk is full");
    expect(!store->has_failed && store->is_changed[3], "nothing is lost, and nothing forgotten");
    status = pp_sync_dirs_collectively(comm, &store->store, PARAPET_OK);
    expect(pp_sync_dirs_agree(comm, &store->store, "test", status) == PARAPET_OK, "settled");
    expect(!store->has_failed && !store->is_changed[3], "nothing waits any more");
    store->is_changed[3] = true;
    store->fails = is_last;
    status = pp_sync_dirs_collectively(comm, &store->store, PARAPET_OK);
    expect(pp_sync_dirs_agree(comm, &store->store, "test", status) == PARAPET_ERR_IO, "the disk is gone");
    expect(store->has_failed && store->is_changed[3], "everybody knows that it is final");
}

static void check_scene(pp_comm *comm, int per_node, int places, int wanted)
{
    scene at = {.size = pp_comm_size(comm), .per_node = per_node, .places = places, .wanted = wanted};
    int *servers = NULL, i, rank = pp_comm_rank(comm);
    noting store = {.store = {.ops = &noting_ops, .is_dealt_out = true, .place = {7, (uint64_t)(rank % places)}}};
    pp_comm_pretend_nodes(comm, per_node);
    expect(pp_comm_choose_servers(comm, wanted, &servers, &at.server_count) == PARAPET_OK, "servers");
    at.servers = servers;
    expect(pp_sync_dirs_begin(comm, &store.store, servers, at.server_count) == PARAPET_OK, "servers nearby");
    for (i = 0; i < PREFIXES; i++)
        store.is_changed[i] = changes(&at, rank, i);
    expect(pp_sync_dirs_collectively(comm, &store.store, PARAPET_OK) == PARAPET_OK, "settled");
    check_settled(comm, &at, &store);
    check_even(&at, &store);
    check_failures(comm, &store);
    pp_free(servers);
}

static void check(pp_comm *comm)
{
    int size = pp_comm_size(comm), per_node, places, wanted;
    for (per_node = 1; per_node <= size; per_node++)
        for (places = 1; places <= 2; places++)
            for (wanted = 0; wanted <= size; wanted++)
                check_scene(comm, per_node, places, wanted);
    pp_comm_pretend_nodes(comm, 0);
}

int main(int argc, char **argv)
{
    return run_parallel(&argc, &argv, check);
}
