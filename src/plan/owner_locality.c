#include "base/checked.h"
#include "plan/owner.h"

/* Index of a rank among the servers; -1: it is none. */
static int server_of(const pp_owner_case *owner_case, int rank)
{
    int low = 0, high = owner_case->server_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (owner_case->servers[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < owner_case->server_count && owner_case->servers[low] == rank ? low : -1;
}

/* The server that holds most of a shard; the home if none holds more than it does, so that shards that many hold
 * alike are spread evenly. Ranks of a group come in ascending order, as the servers do, so the first of several
 * others that hold the same is the lowest. */
static int find_nearest(const pp_owner_case *owner_case, size_t first, size_t end)
{
    const pp_worklist *list = owner_case->list;
    const pp_tiling *tiling = owner_case->plan->targets[list->work[first].target].tiling;
    int64_t most = 0, at_home = 0;
    int nearest = owner_case->home;
    size_t rank_end;
    pp_box box;
    pp_tiling_shard_box(tiling, list->work[first].shard, &box);
    for (; first < end; first = rank_end) {
        int server = server_of(owner_case, list->work[first].rank);
        int64_t held;
        rank_end = pp_worklist_rank_end(list, first, end);
        held = server < 0 ? 0 : pp_worklist_covered_shard(list, owner_case->plan, first, rank_end, &box);
        if (server == owner_case->home)
            at_home = held;
        if (held > most) {
            most = held;
            nearest = server;
        }
    }
    return at_home == most ? owner_case->home : nearest;
}

static parapet_status choose(const pp_owner_case *owner_case, int *owners)
{
    const pp_worklist *list = owner_case->list;
    int64_t *given, most = 2 * pp_divide_up((int64_t)pp_worklist_group_count(list), owner_case->server_count);
    size_t first, end, group = 0;
    parapet_status status = pp_allocate_array(&given, (size_t)owner_case->server_count, sizeof *given);
    if (status != PARAPET_OK)
        return status;
    for (first = 0; first < list->count; first = end) {
        int nearest;
        end = pp_worklist_group_end(list, first);
        nearest = find_nearest(owner_case, first, end);
        owners[group++] = given[nearest] < most ? nearest : owner_case->home;
        given[nearest]++;
    }
    pp_free(given);
    return PARAPET_OK;
}

const pp_owner_strategy pp_owner_locality = {.moves = true, .choose = choose};
