/* schedule.h - what every server and every rank would do in a transfer of a whole array in a regular distribution:
 * computed, not run, and without ever listing ranks times shards.
 *
 * Pure. Depends on base, geometry and plan. Counts messages as the transfer does: server s owns shards, and for every
 * window of a shard and every other rank that has elements in it there is one request, and as many data messages as
 * pieces.h says. What the owner itself holds needs no message. Where every rank reads its parts itself
 * (plan/self_service.h), a server "owns" what its rank holds, and there are no messages. */
#ifndef PARAPET_FORECAST_SCHEDULE_H
#define PARAPET_FORECAST_SCHEDULE_H

#include <parapet_store.h>

#include "forecast/share.h"
#include "plan/lattice.h"

typedef struct pp_schedule_case {
    bool is_read;
    const pp_distribution *distribution;
    const pp_tiling *tiling;
    int window_chunks;
    size_t fragment_bytes;
    int server_count;
    parapet_owners owners;
    parapet_sharing sharing; /* both as in parapet_store_options, but not CHOOSE */
    pp_lattice lattice;      /* where the homes of shards are */
    const pp_turns *turns;   /* of servers that have different weights; NULL: all have the same */
    bool may_read_again;     /* as in pp_target */
} pp_schedule_case;

typedef struct pp_schedule pp_schedule;

parapet_status pp_schedule_build(pp_schedule **schedule, const pp_schedule_case *schedule_case);
void pp_schedule_free(pp_schedule *schedule); /* takes NULL */

/* The rank of a server: spread evenly, as on nodes of equal size. */
int64_t pp_schedule_server_rank(const pp_schedule *schedule, int server);

/* Whether every rank reads its parts itself. */
bool pp_schedule_is_self_service(const pp_schedule *schedule);

/* Index of the server that owns a shard; where there is none, of that which holds most of it. */
int pp_schedule_owner(const pp_schedule *schedule, int64_t shard);

/* The first shard from this one on that a server reads or writes; false: none is left. */
bool pp_schedule_next_shard(const pp_schedule *schedule, int server, int64_t *shard);

/* What a server does for a shard. */
typedef struct pp_shard_share {
    int64_t ranks;   /* that have elements of it, the server included */
    pp_share all;    /* of all of them, as if none were the server */
    pp_share own;    /* of the server: no message */
    pp_share others; /* the difference: by message */
} pp_shard_share;

parapet_status pp_schedule_shard(pp_schedule *schedule, int server, int64_t shard, pp_shard_share *share);

/* What one server does for all its shards, or several servers for all of theirs. */
typedef struct pp_server_share {
    int64_t shards;
    pp_share others, own;
    int64_t most_ranks; /* that have elements of one shard */
    int64_t listed;     /* pairs of a box and a shard that the server and its rank have to list */
} pp_server_share;

parapet_status pp_schedule_server(pp_schedule *schedule, int server, pp_server_share *share);

/* What the rank of a server holds, as if the server did that and nothing else; listed is only for this. */
parapet_status pp_schedule_held(pp_schedule *schedule, int server, pp_server_share *share);

/* The minimum, the median (of two, the lower), the maximum and the sum of many numbers. */
typedef struct pp_spread_of {
    int64_t least, median, most, total;
} pp_spread_of;

typedef struct pp_schedule_summary {
    int64_t ranks, servers;
    pp_spread_of server_shards, server_bytes; /* bytes of the shards that a server owns */
    pp_spread_of server_requests, server_fragments, server_message_bytes, server_own_bytes;
    pp_spread_of rank_requests, rank_fragments, rank_message_bytes; /* with all owners but itself */
    pp_spread_of rank_sent_writing, rank_sent_reading; /* messages that a rank sends as client and as server */
    int64_t most_listed, most_shards, most_ranks;      /* of a server */
} pp_schedule_summary;

parapet_status pp_schedule_summarise(pp_schedule *schedule, pp_schedule_summary *summary);

#endif
