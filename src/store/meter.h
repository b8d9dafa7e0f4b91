/* meter.h - how long a process was inside calls of storage: what its storage took, as opposed to messages, codecs and
 * waiting for others. Bytes divided by this are the speed of a server's disk. */
#ifndef PARAPET_STORE_METER_H
#define PARAPET_STORE_METER_H

#include <parapet_status.h>
#include <pthread.h>
#include <stdint.h>

/* Time in which several threads are inside calls is counted once, since they share what is measured. */
typedef struct pp_meter {
    pthread_mutex_t mutex;
    int under_way;    /* calls that have begun and not ended */
    int64_t since_ns; /* since when there was always one of them */
    int64_t total_ns; /* of the time before */
} pp_meter;

void pp_meter_init(pp_meter *meter);
void pp_meter_destroy(pp_meter *meter);

/* Around a call; both take NULL. The second returns the status of the call. */
void pp_meter_begin(pp_meter *meter);
parapet_status pp_meter_end(pp_meter *meter, parapet_status status);

/* Up to now, calls under way included. */
double pp_meter_seconds(pp_meter *meter);

#endif
