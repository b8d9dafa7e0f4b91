#include "plan/proposals.h"

#include "base/checked.h"

#define LIMIT_OVER_MEAN 1.10

pp_fair_share pp_fair_share_of(int64_t bytes, int64_t shards, int server_count)
{
    double mean = (double)bytes / server_count;
    double whole = shards > 0 ? (double)pp_divide_up(shards, server_count) * ((double)bytes / (double)shards) : 0;
    return (pp_fair_share){.mean_bytes = mean,
                           .limit_bytes = whole > LIMIT_OVER_MEAN * mean ? whole : LIMIT_OVER_MEAN * mean};
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int pp_proposal_compare_shards(const void *left, const void *right)
{
    const pp_proposal *a = left, *b = right;
    return a->target != b->target ? compare_numbers(a->target, b->target) : compare_numbers(a->shard, b->shard);
}

int pp_proposal_compare_held(const void *left, const void *right)
{
    const pp_proposal *a = left, *b = right;
    return a->held_bytes != b->held_bytes ? compare_numbers(b->held_bytes, a->held_bytes)
                                          : pp_proposal_compare_shards(left, right);
}

/* A server that has nothing yet has room for one shard of any size. */
static bool has_room(const pp_fair_share *fair, int64_t given, int64_t bytes)
{
    return given == 0 || (double)given + (double)bytes <= fair->limit_bytes;
}

void pp_proposals_accept(pp_proposal *proposals, size_t count, const pp_fair_share *fair, int64_t *given)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (has_room(fair, *given, proposals[i].load_bytes)) {
            proposals[i].owner = proposals[i].server;
            *given += proposals[i].load_bytes;
        }
}

pp_left pp_proposals_keep(pp_proposal *proposals, size_t count, const pp_fair_share *fair, int64_t *given)
{
    pp_left left = {0};
    size_t i;
    for (i = 0; i < count; i++) {
        if (proposals[i].owner != PP_NO_OWNER)
            continue;
        if (has_room(fair, *given, proposals[i].load_bytes)) {
            proposals[i].owner = proposals[i].home;
            *given += proposals[i].load_bytes;
        } else {
            left.bytes += proposals[i].load_bytes;
            left.count++;
        }
    }
    return left;
}

/* How many shards of this size a server can take: up to the limit, or, if that does not do for all, until it has the
 * mean. */
static int64_t free_for(const pp_dealer *dealer, int64_t given, double shard_bytes)
{
    double room =
        ((dealer->reaches_mean ? dealer->fair.mean_bytes : dealer->fair.limit_bytes) - (double)given) / shard_bytes;
    int64_t whole = room > 0 ? (int64_t)room : 0;
    if (dealer->reaches_mean)
        return room > (double)whole ? whole + 1 : whole;
    return given == 0 ? pp_max_i64(whole, 1) : whole;
}

/* The first server that has room for shards of this size; NULL: none has any more. */
static pp_room *find_room(pp_dealer *dealer, double shard_bytes, int64_t *room)
{
    for (;; dealer->to = 0, dealer->reaches_mean = true) {
        for (; dealer->to < dealer->count; dealer->to++)
            if ((*room = free_for(dealer, dealer->rooms[dealer->to].given, shard_bytes)) > 0)
                return &dealer->rooms[dealer->to];
        if (dealer->reaches_mean)
            return NULL;
    }
}

bool pp_dealer_next(pp_dealer *dealer, pp_deal *deal)
{
    pp_room *from, *to;
    double shard_bytes;
    int64_t room;
    while (dealer->from < dealer->count && dealer->rooms[dealer->from].left.count == 0)
        dealer->from++;
    if (dealer->from == dealer->count)
        return false;
    from = &dealer->rooms[dealer->from];
    shard_bytes = (double)pp_max_i64(from->left.bytes, 1) / (double)from->left.count;
    if ((to = find_room(dealer, shard_bytes, &room)) == NULL)
        return false;
    *deal = (pp_deal){.home = from->server, .server = to->server, .count = pp_min_i64(from->left.count, room)};
    to->given += (int64_t)(shard_bytes * (double)deal->count);
    from->left.bytes -= (int64_t)(shard_bytes * (double)deal->count);
    from->left.count -= deal->count;
    return true;
}

void pp_proposals_give(pp_proposal *proposals, size_t count, const pp_deal *deal, size_t *next)
{
    int64_t given = 0;
    for (; *next < count && given < deal->count; ++*next)
        if (proposals[*next].owner == PP_NO_OWNER) {
            proposals[*next].owner = (int32_t)deal->server;
            given++;
        }
}

void pp_proposals_finish(pp_proposal *proposals, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (proposals[i].owner == PP_NO_OWNER)
            proposals[i].owner = proposals[i].home;
}
