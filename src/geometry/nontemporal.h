/* nontemporal.h - copies bytes past the caches.
 *
 * An ordinary store first fetches the cache line that it changes. Memory that is written whole and not read again
 * soon need not be fetched: a rank's own memory, into which a large read is scattered. For what is read again soon,
 * such as a chunk that is encoded next, these copies are slower. */
#ifndef PARAPET_GEOMETRY_NONTEMPORAL_H
#define PARAPET_GEOMETRY_NONTEMPORAL_H

#include <stddef.h>

/* As memcpy. Other threads see the bytes only after pp_nontemporal_end of this thread. */
void pp_nontemporal_copy(void *target, const void *source, size_t bytes);
void pp_nontemporal_end(void);

#endif
