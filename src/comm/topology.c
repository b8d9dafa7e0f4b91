#include "comm/topology.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/memory.h"
#include "comm/direct.h"
#include "comm/internal.h"
#include "comm/pull.h"

typedef struct member {
    uint64_t node; /* digest */
    int rank;
} member;

/* Members of one node, neighbours in the sorted list. */
typedef struct node {
    int first;
    int lowest_rank;
    int rank_count;
    int server_count;
} node;

typedef struct topology {
    uint64_t *digests; /* of each rank's node, gathered */
    member *members;
    node *nodes;
    int node_count;
    bool *is_server;
} topology;

static parapet_status topology_init(topology *all, int size)
{
    parapet_status status;
    size_t count = (size_t)size;
    *all = (topology){0};
    if ((status = pp_allocate_array(&all->digests, count, sizeof *all->digests)) != PARAPET_OK ||
        (status = pp_allocate_array(&all->members, count, sizeof *all->members)) != PARAPET_OK ||
        (status = pp_allocate_array(&all->nodes, count, sizeof *all->nodes)) != PARAPET_OK)
        return status;
    return pp_allocate_array(&all->is_server, count, sizeof *all->is_server);
}

static void topology_clear(topology *all)
{
    pp_free(all->digests);
    pp_free(all->members);
    pp_free(all->nodes);
    pp_free(all->is_server);
}

void pp_comm_pretend_nodes(pp_comm *comm, int ranks_per_node)
{
    comm->ranks_per_node = ranks_per_node;
    comm->node = pp_comm_digest_node(comm);
}

/* (*digests)[rank] becomes that of the rank. */
static parapet_status gather(pp_comm *comm, uint64_t own, uint64_t **digests)
{
    parapet_status status;
    (*digests)[comm->rank] = own;
    if (comm->wire == NULL)
        return PARAPET_OK;
    status = comm->ops->gather(comm, *digests);
    if (status == PARAPET_ERR_TIMEOUT) {
        *digests = NULL; /* MPI may still write there */
        return pp_fail(PARAPET_ERR_TIMEOUT,
                       "%s: not every rank reported its node within %g seconds; one of them hangs, or "
                       "deadline_seconds is too short",
                       comm->call.words, comm->deadline_seconds);
    }
    return status;
}

static int compare_members(const void *first, const void *second)
{
    const member *a = first, *b = second;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Digests have no order that means anything; ranks in a row often are on neighbouring nodes. */
static int compare_nodes(const void *first, const void *second)
{
    const node *a = first, *b = second;
    return (a->lowest_rank > b->lowest_rank) - (a->lowest_rank < b->lowest_rank);
}

static void find_nodes(topology *all, int size)
{
    int i;
    for (i = 0; i < size; i++)
        all->members[i] = (member){all->digests[i], i};
    qsort(all->members, (size_t)size, sizeof *all->members, compare_members);
    for (i = 0; i < size; i++) {
        if (i == 0 || all->members[i].node != all->members[i - 1].node)
            all->nodes[all->node_count++] = (node){.first = i, .lowest_rank = all->members[i].rank};
        all->nodes[all->node_count - 1].rank_count++;
    }
    qsort(all->nodes, (size_t)all->node_count, sizeof *all->nodes, compare_nodes);
}

static int count_open(const topology *all)
{
    int open = 0, i;
    for (i = 0; i < all->node_count; i++)
        open += all->nodes[i].server_count < all->nodes[i].rank_count;
    return open;
}

/* Whether node number i of open ones is one of left that lie at equal distances. */
static bool is_chosen(int64_t i, int64_t left, int64_t open)
{
    return pp_divide_up((i + 1) * left, open) > pp_divide_up(i * left, open);
}

/* One more round over the nodes that can take servers: the same number for each, and what is fewer than nodes goes to
 * some of them. Returns how many are left; less than before, since some node could take one. */
static int share_round(topology *all, int left)
{
    int open = count_open(all), seen = 0, given = 0, i;
    for (i = 0; i < all->node_count; i++) {
        node *each = &all->nodes[i];
        int room = each->rank_count - each->server_count;
        int share = left >= open ? left / open : is_chosen(seen, left, open);
        if (room == 0)
            continue;
        seen++;
        share = share < room ? share : room;
        each->server_count += share;
        given += share;
    }
    return left - given;
}

static void share_servers(topology *all, int size, int wanted)
{
    int left = wanted < size ? wanted : size, i;
    if (wanted > 0) {
        while (left > 0)
            left = share_round(all, left);
        return;
    }
    for (i = 0; i < all->node_count; i++)
        all->nodes[i].server_count = (int)pp_min_i64(all->nodes[i].rank_count, PP_SERVERS_PER_NODE);
}

static int mark_servers(topology *all)
{
    int count = 0, i, s;
    for (i = 0; i < all->node_count; i++) {
        const node *each = &all->nodes[i];
        for (s = 0; s < each->server_count; s++)
            all->is_server[all->members[each->first + (int64_t)s * each->rank_count / each->server_count].rank] =
                true;
        count += each->server_count;
    }
    return count;
}

static parapet_status list_servers(const topology *all, int size, int **servers, int server_count)
{
    parapet_status status = pp_allocate_array(servers, (size_t)server_count, sizeof **servers);
    int rank, found = 0;
    for (rank = 0; status == PARAPET_OK && rank < size; rank++)
        if (all->is_server[rank])
            (*servers)[found++] = rank;
    return status;
}

static int count_ranks(const topology *all, const pp_comm *comm)
{
    int rank, count = 0;
    for (rank = 0; rank < comm->size; rank++)
        count += all->digests[rank] == comm->node;
    return count;
}

static parapet_status choose(pp_comm *comm, topology *all, int wanted, int **servers, int *server_count)
{
    parapet_status status = gather(comm, comm->node, &all->digests);
    if (status != PARAPET_OK)
        return status;
    find_nodes(all, comm->size);
    comm->node_ranks = count_ranks(all, comm);
    share_servers(all, comm->size, wanted);
    *server_count = mark_servers(all);
    if (comm->size > 1 &&
        (status = pp_endpoint_allow_requests(&comm->endpoint, (size_t)*server_count * PP_PULL_CREDITS)) != PARAPET_OK)
        return status;
    return list_servers(all, comm->size, servers, *server_count);
}

parapet_status pp_comm_choose_servers(pp_comm *comm, int wanted, int **servers, int *server_count)
{
    topology all;
    parapet_status status;
    *servers = NULL;
    *server_count = 0;
    status = pp_comm_agree(comm, "choosing servers", topology_init(&all, comm->size));
    if (status == PARAPET_OK)
        status = pp_comm_agree(comm, "choosing servers", choose(comm, &all, wanted, servers, server_count));
    if (status != PARAPET_OK) {
        pp_free(*servers);
        *servers = NULL;
        *server_count = 0;
    }
    topology_clear(&all);
    return status;
}

int pp_comm_neighbour_count(const pp_comm *comm)
{
    return comm->node_ranks > 0 ? comm->node_ranks - 1 : 0;
}

/* ---- Servers nearby ---- */

/* The same on ranks that reach one storage in one way: on one node, through one mount. */
static uint64_t digest_way(const pp_comm *comm, const uint64_t place[2])
{
    pp_call way;
    pp_call_init(&way, "way");
    pp_call_add(&way, &comm->node, sizeof comm->node);
    pp_call_add(&way, place, 2 * sizeof *place);
    return way.digest;
}

static parapet_status list_near(pp_comm *comm, const uint64_t *ways, const int *servers, int server_count)
{
    parapet_status status;
    int i, count = 0;
    for (i = 0; i < server_count; i++)
        count += ways[servers[i]] == ways[comm->rank];
    pp_free(comm->near);
    comm->near_count = 0;
    status = pp_allocate_array(&comm->near, (size_t)count, sizeof *comm->near);
    for (i = 0; status == PARAPET_OK && i < server_count; i++)
        if (ways[servers[i]] == ways[comm->rank])
            comm->near[comm->near_count++] = servers[i];
    return status;
}

parapet_status pp_comm_find_near(pp_comm *comm, const uint64_t place[2], const int *servers, int server_count)
{
    uint64_t *ways = NULL;
    parapet_status status = pp_allocate_array(&ways, (size_t)comm->size, sizeof *ways);
    if ((status = pp_comm_agree(comm, "finding servers nearby", status)) == PARAPET_OK) {
        if ((status = gather(comm, digest_way(comm, place), &ways)) == PARAPET_OK)
            status = list_near(comm, ways, servers, server_count);
        status = pp_comm_agree(comm, "finding servers nearby", status);
    }
    pp_free(ways);
    return status;
}

const int *pp_comm_near_servers(const pp_comm *comm, int *count)
{
    *count = comm->near_count;
    return comm->near;
}
