#include "base/ranks.h"
#include "plan/owner.h"

/* What the servers hold of a shard. */
typedef struct holdings {
    int64_t most;    /* that one of them holds */
    int count;       /* how many hold as much; with `wanted`, those seen so far */
    bool has_home;   /* whether the home is one of them */
    int wanted, got; /* which of them is looked for, and what it is */
} holdings;

static void add_holder(const pp_owner_case *owner_case, int server, int64_t held, holdings *all)
{
    if (held == 0 || held < all->most)
        return;
    if (held > all->most)
        *all = (holdings){.most = held, .wanted = all->wanted, .got = all->got};
    all->has_home = all->has_home || server == owner_case->home;
    if (all->count++ == all->wanted)
        all->got = server;
}

/* Ranks of a group come in ascending order, as the servers do. */
static void add_holders(const pp_owner_case *owner_case, size_t first, size_t end, holdings *all)
{
    const pp_worklist *list = owner_case->list;
    const pp_tiling *tiling = owner_case->plan->targets[list->work[first].target].tiling;
    size_t rank_end;
    pp_box box;
    pp_tiling_shard_box(tiling, list->work[first].shard, &box);
    for (; first < end; first = rank_end) {
        int server = pp_ranks_find(owner_case->servers, owner_case->server_count, list->work[first].rank);
        rank_end = pp_worklist_rank_end(list, first, end);
        if (server >= 0)
            add_holder(owner_case, server, pp_worklist_covered_shard(list, owner_case->plan, first, rank_end, &box),
                       all);
    }
}

/* The server that holds most of a shard. Of several that hold the same the home, or else one that differs from home
 * to home, so that shards that many hold alike are spread evenly. */
static int find_nearest(const pp_owner_case *owner_case, size_t first, size_t end, int64_t *held)
{
    holdings all = {.got = owner_case->home};
    add_holders(owner_case, first, end, &all);
    *held = all.most;
    if (all.count == 0 || all.has_home)
        return owner_case->home;
    if (all.count > 1) {
        int64_t most = all.most;
        all = (holdings){.most = most, .wanted = owner_case->home % all.count};
        add_holders(owner_case, first, end, &all);
    }
    return all.got;
}

const pp_owner_strategy pp_owner_nearest = {.moves = true, .nearest = find_nearest};
