/* proposals.h - how shards go to the servers that hold most of them, and no server gets more than its share.
 *
 * Pure. Depends on base. The home of a shard proposes it to the server that holds most of it. That server accepts
 * what it holds most of, up to a limit that everybody knows. What is not accepted stays at home as long as that is
 * within the limit. What is left then is dealt out to servers that have room. */
#ifndef PARAPET_PLAN_PROPOSALS_H
#define PARAPET_PLAN_PROPOSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One shard. */
typedef struct pp_proposal {
    int64_t shard;
    int64_t load_bytes; /* that the call moves of it */
    int64_t held_bytes; /* of those, by the server that it is proposed to */
    int32_t target;
    int32_t home, server; /* indices; server is the one that it is proposed to, and may be the home */
    int32_t owner;        /* index; PP_NO_OWNER: not decided yet */
} pp_proposal;

#define PP_NO_OWNER (-1)

/* What servers may be given in a call. */
typedef struct pp_fair_share {
    double mean_bytes, limit_bytes;
} pp_fair_share;

/* The limit is 1.10 of the mean, or as many whole shards as cannot be avoided, if that is more. */
pp_fair_share pp_fair_share_of(int64_t bytes, int64_t shards, int server_count);

/* In which order a server accepts: what it holds most of first, then by target and shard. */
int pp_proposal_compare_held(const void *left, const void *right);

/* By target and shard. */
int pp_proposal_compare_shards(const void *left, const void *right);

/* A server accepts, in the order above, what it has room for: their owner becomes the server. Adds to *given what it
 * accepts. At least one is accepted. */
void pp_proposals_accept(pp_proposal *proposals, size_t count, const pp_fair_share *fair, int64_t *given);

/* What homes could not keep. */
typedef struct pp_left {
    int64_t count, bytes;
} pp_left;

/* A home keeps what no server has accepted, as far as it has room, and adds it to *given. Returns the rest, which
 * still has no owner. */
pp_left pp_proposals_keep(pp_proposal *proposals, size_t count, const pp_fair_share *fair, int64_t *given);

/* A server after that. */
typedef struct pp_room {
    int64_t server; /* index */
    int64_t given;  /* bytes so far */
    pp_left left;   /* as a home */
} pp_room;

/* Some shards of a home go to a server. */
typedef struct pp_deal {
    int64_t home, server, count;
} pp_deal;

/* Deals out what is left, to the first that has room below the limit; then to the first that has less than the mean,
 * so that nothing stays behind. Shards of a home count as if they were all of one size. */
typedef struct pp_dealer {
    pp_fair_share fair;
    pp_room *rooms; /* of all servers, in ascending order */
    size_t count;
    size_t from, to;   /* the first that has something left, and the first that has room */
    bool reaches_mean; /* all are full up to the limit */
} pp_dealer;

/* false: nothing is left. */
bool pp_dealer_next(pp_dealer *dealer, pp_deal *deal);

/* A home gives the next shards without an owner to the server of the deal, beginning with proposal *next. */
void pp_proposals_give(pp_proposal *proposals, size_t count, const pp_deal *deal, size_t *next);

/* Whatever has no owner stays at home. */
void pp_proposals_finish(pp_proposal *proposals, size_t count);

#endif
