/* schedule_owners.h - who owns the shards of a schedule, if that takes more than arithmetic. */
#ifndef PARAPET_FORECAST_SCHEDULE_OWNERS_H
#define PARAPET_FORECAST_SCHEDULE_OWNERS_H

#include "forecast/schedule.h"
#include "plan/owner.h"

/* The rank of a server: spread evenly over all ranks. */
int64_t pp_server_rank(const pp_schedule_case *by, int server);

/* Asks the strategy for every home in turn, with the claims on its shards, and decides as the servers would. Free
 * *owners, one per shard, with pp_free. *is_self_service: there are none, since every rank reads its parts itself;
 * then they are the servers that hold most of each shard. */
parapet_status pp_schedule_owners_build(int32_t **owners, bool *is_self_service, const pp_schedule_case *by,
                                        const pp_owner_strategy *strategy);

#endif
