/* wait.h - how to wait for another rank or thread without occupying its core: try, yield a few times, then sleep for
 * short, growing times. A blocking MPI call would spin for whole time slices if ranks share cores.
 *
 *     pp_wait wait = {0};
 *     while (!try()) pp_wait_briefly(&wait); */
#ifndef PARAPET_COMM_WAIT_H
#define PARAPET_COMM_WAIT_H

#include <stdbool.h>

typedef struct pp_wait {
    int idle; /* how often nothing happened since the last progress */
} pp_wait;

void pp_wait_briefly(pp_wait *wait);

/* How long to sleep now, in nanoseconds, for callers that have a better way to sleep; 0: call pp_wait_yield. */
long pp_wait_next(pp_wait *wait);
void pp_wait_yield(void);
void pp_wait_reset(pp_wait *wait);

#endif
