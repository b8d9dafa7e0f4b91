/* The choice of servers: the same on every rank, as many as wanted, spread evenly over nodes and over their ranks. */
#include "comm/topology.h"

#include "inside.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Every rank passes the same value. */
static void expect_same(pp_comm *comm, int64_t value, const char *what)
{
    int64_t smallest = value, largest = -value;
    expect(pp_comm_agree_min(comm, "test", PARAPET_OK, &smallest) == PARAPET_OK, "smallest");
    expect(pp_comm_agree_min(comm, "test", PARAPET_OK, &largest) == PARAPET_OK, "largest");
    expect(smallest == value && largest == -value, "the same %s everywhere", what);
}

/* Servers of the node of ranks first .. first + count - 1 are at equal distances; returns how many there are. */
static int check_node(const int *servers, int server_count, int first, int count)
{
    int found = 0, i, previous = -1, mine = 0;
    for (i = 0; i < server_count; i++)
        mine += servers[i] >= first && servers[i] < first + count;
    for (i = 0; i < server_count; i++) {
        if (servers[i] < first || servers[i] >= first + count)
            continue;
        if (previous >= 0)
            expect(servers[i] - previous == count / mine || servers[i] - previous == count / mine + 1,
                   "even distances, not %d of %d", servers[i] - previous, count / mine);
        else
            expect(servers[i] == first, "the first rank %d of the node serves, not %d", first, servers[i]);
        previous = servers[i];
        found++;
    }
    return found;
}

/* The servers on this rank's node that have the storage at the same place, and no others. */
static void check_near(pp_comm *comm, const int *servers, int server_count, int per_node, int places)
{
    int count, i, found = 0, rank = pp_comm_rank(comm);
    const uint64_t place[2] = {7, (uint64_t)(rank % places)};
    const int *near;
    expect(pp_comm_find_near(comm, place, servers, server_count) == PARAPET_OK, "servers nearby");
    near = pp_comm_near_servers(comm, &count);
    for (i = 0; i < server_count; i++)
        if (servers[i] / per_node == rank / per_node && servers[i] % places == rank % places) {
            expect(found < count && near[found] == servers[i], "server %d is near", servers[i]);
            found++;
        }
    expect(found == count, "%d servers are near, not %d", found, count);
}

static void check_choice(pp_comm *comm, int ranks_per_node, int wanted)
{
    int size = pp_comm_size(comm), per_node = ranks_per_node > 0 ? ranks_per_node : size;
    int *servers = NULL, server_count = -1, first, expected = 0, fewest = size, most = 0;
    int64_t digest = 0;
    pp_comm_pretend_nodes(comm, ranks_per_node);
    expect(pp_comm_choose_servers(comm, wanted, &servers, &server_count) == PARAPET_OK, "servers");
    for (first = 0; first < size; first += per_node) {
        int count = least(per_node, size - first), found = check_node(servers, server_count, first, count);
        if (wanted == 0)
            expect(found == least(count, PP_SERVERS_PER_NODE), "%d servers on a node of %d", found, count);
        most = found > most ? found : most;
        if (found < count)
            fewest = least(found, fewest);
        expected += least(count, PP_SERVERS_PER_NODE);
    }
    if (wanted > 0) {
        expected = least(wanted, size);
        /* A node with fewer than others has no more ranks. */
        expect(most <= fewest + 1, "%d to %d servers per node", fewest, most);
    }
    expect(server_count == expected, "%d servers, not %d", server_count, expected);
    for (first = 0; first < server_count; first++) {
        expect(first == 0 || servers[first] > servers[first - 1], "ascending ranks");
        digest = digest * 1000 + servers[first] + 1;
    }
    expect_same(comm, digest % 1000000007, "servers");
    first = pp_comm_rank(comm) / per_node * per_node;
    expect(pp_comm_neighbour_count(comm) == least(per_node, size - first) - 1, "%d others on the node",
           pp_comm_neighbour_count(comm));
    check_near(comm, servers, server_count, per_node, 1);
    check_near(comm, servers, server_count, per_node, 2);
    pp_free(servers);
}

typedef struct refusal {
    long left;
    bool has_refused;
} refusal;

static int refuse_one(void *context, size_t bytes)
{
    refusal *of = context;
    (void)bytes;
    if (of->left-- != 0)
        return 0;
    of->has_refused = true;
    return 1;
}

/* Each allocation of one rank fails in turn: every rank says so, and nothing is left behind. */
static void check_without_memory(pp_comm *comm)
{
    const uint64_t place[2] = {0};
    int chosen = pp_comm_size(comm) - 1;
    int64_t has_refused = -1;
    long n;
    for (n = 0; has_refused == -1; n++) {
        refusal of = {n, false};
        int *servers = NULL, server_count = 0;
        parapet_status status;
        if (pp_comm_rank(comm) == chosen)
            pp_memory_hook_set(refuse_one, &of);
        status = pp_comm_choose_servers(comm, 0, &servers, &server_count);
        if (status == PARAPET_OK)
            status = pp_comm_find_near(comm, place, servers, server_count);
        pp_memory_hook_set(NULL, NULL);
        has_refused = of.has_refused ? -1 : 0;
        expect(pp_comm_agree_min(comm, "test", PARAPET_OK, &has_refused) == PARAPET_OK, "agreement");
        expect(status == (has_refused == -1 ? PARAPET_ERR_MEMORY : PARAPET_OK), "allocation %ld: status %d", n,
               status);
        expect(status != PARAPET_OK || servers != NULL, "servers were chosen");
        pp_free(servers);
    }
    expect(n > 6, "%ld allocations", n);
}

static void check(pp_comm *comm)
{
    int size = pp_comm_size(comm), per_node, wanted;
    for (per_node = 0; per_node <= size; per_node++)
        for (wanted = 0; wanted <= size + 2; wanted++)
            check_choice(comm, per_node, wanted);
    pp_comm_pretend_nodes(comm, 0);
    check_without_memory(comm);
}

int main(int argc, char **argv)
{
    return run_parallel(&argc, &argv, check);
}
