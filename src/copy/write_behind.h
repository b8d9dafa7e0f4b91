/* write_behind.h - writes finished chunks on a separate thread while others are assembled: write-behind.
 *
 * An open chunk is passed to the thread, in its buffer, when it is encoded, and closed when it is written. One thread
 * appends, so the order in a shard is that in which chunks were put. */
#ifndef PARAPET_COPY_WRITE_BEHIND_H
#define PARAPET_COPY_WRITE_BEHIND_H

#include "base/status.h"
#include "copy/open_chunks.h"
#include "copy/target.h"

typedef struct pp_write_behind {
    pp_open_chunks *open_chunks;
    pp_copy_target *target;
    pthread_t thread;
    bool is_running, is_ended, is_writing;
    pp_open_chunk *first, *last; /* waiting to be written */
    pp_failure failure;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pp_write_behind;

/* Starts the thread. Stop it even after a failure. */
parapet_status pp_write_behind_start(pp_write_behind *behind, pp_open_chunks *open_chunks, pp_copy_target *target);

/* Takes an open chunk that is encoded. Its checksum is computed by the caller's thread, of which there may be many.
 */
void pp_write_behind_put(pp_write_behind *behind, pp_open_chunk *open_chunk, pp_bytes encoded);

/* Waits until everything is written; returns the first failure. */
parapet_status pp_write_behind_drain(pp_write_behind *behind);

void pp_write_behind_stop(pp_write_behind *behind);

#endif
