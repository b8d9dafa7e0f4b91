/* reach.h - what servers of given speeds reach together, if shards are divided among them as a schedule says, and at
 * best. Pure; depends on base, geometry and plan. */
#ifndef PARAPET_FORECAST_REACH_H
#define PARAPET_FORECAST_REACH_H

#include "forecast/schedule.h"

/* What one server reads or writes. */
typedef struct pp_server_load {
    int64_t shards, bytes;
    int64_t speed;  /* bytes per second */
    double seconds; /* that it takes for its bytes */
} pp_server_load;

typedef struct pp_reach {
    pp_server_load *loads; /* of every server */
    int server_count;
    double sum;     /* of the speeds */
    double reached; /* of the sum, by the time the last server is done */
    double best;    /* more is not possible with any owners, because shards are whole; 1 where there are no owners */
} pp_reach;

/* With one speed for every server of the schedule. Clear it even after a failure. */
parapet_status pp_reach_init(pp_reach *reach, pp_schedule *schedule, const pp_schedule_case *by,
                             const int64_t *speeds);
void pp_reach_clear(pp_reach *reach);

/* The least time in which servers of these speeds are done with so many pieces of the same size. */
double pp_reach_least_seconds(const pp_server_load *servers, int server_count, int64_t pieces, double piece_bytes);

#endif
