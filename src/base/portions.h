/* portions.h - divides an amount between threads that come and go, so that none of them fails because of the others.
 *
 * A thread says how much it wants and how little it can do with. It gets what is free, up to what it wants, or waits
 * until there is enough. Threads are served in the order in which they come: one that needs much is not passed over
 * for ever by others that need little. */
#ifndef PARAPET_BASE_PORTIONS_H
#define PARAPET_BASE_PORTIONS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_portions {
    pthread_mutex_t mutex;
    pthread_cond_t has_changed;
    size_t total_bytes, free_bytes;
    uint64_t next_number, served_number; /* of those who wait: who comes next, and whose turn it is */
} pp_portions;

void pp_portions_init(pp_portions *portions, size_t total_bytes);
void pp_portions_destroy(pp_portions *portions);

/* Returns how many bytes were taken, from least to wanted; least must not exceed the total. */
size_t pp_portions_take(pp_portions *portions, size_t least_bytes, size_t wanted_bytes);
void pp_portions_give_back(pp_portions *portions, size_t bytes);

#endif
