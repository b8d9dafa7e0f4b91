/* write_behind.h - writes finished chunks on a thread of its own, while others are put together: write-behind.
 *
 * A slot is handed over with the encoded chunk in its buffer, and given back when that is written. One thread
 * appends, so the order in a shard is that in which chunks were put. */
#ifndef PARAPET_COPY_WRITE_BEHIND_H
#define PARAPET_COPY_WRITE_BEHIND_H

#include "copy/open_chunks.h"
#include "copy/target.h"

typedef struct pp_copy_behind {
    pp_copy_slots *slots;
    pp_copy_target *target;
    pthread_t thread;
    bool is_running, is_ended, is_writing;
    pp_copy_slot *first, *last; /* that wait to be written */
    pp_failure failure;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pp_copy_behind;

/* Starts the thread. Stop it also after a failure. */
parapet_status pp_copy_behind_start(pp_copy_behind *behind, pp_copy_slots *slots, pp_copy_target *target);

/* Takes a slot whose chunk is encoded. */
void pp_copy_behind_put(pp_copy_behind *behind, pp_copy_slot *slot, pp_bytes encoded);

/* Waits until everything is written; the first failure. */
parapet_status pp_copy_behind_drain(pp_copy_behind *behind);

void pp_copy_behind_stop(pp_copy_behind *behind);

#endif
