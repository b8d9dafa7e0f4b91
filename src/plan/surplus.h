/* surplus.h - how many of its shards a server gives to one that has run out of work: as many as let both end at the
 * same time. Pure. */
#ifndef PARAPET_PLAN_SURPLUS_H
#define PARAPET_PLAN_SURPLUS_H

#include <stdint.h>

typedef struct pp_surplus {
    int64_t left;       /* shards that nobody has begun */
    double open;        /* shards under way */
    double giver_speed; /* shards per second; 0: not known, and so taken to be that of the other one */
    double thief_speed;
} pp_surplus;

/* 0: the giver ends sooner if it does all of it alone. */
int64_t pp_surplus_to_give(const pp_surplus *surplus);

#endif
