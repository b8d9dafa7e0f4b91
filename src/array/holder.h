/* holder.h - what the text of a lock says: who holds it, and which incarnation of the node it is the lock of.
 *
 *     parapet lock 1
 *     incarnation 0123456789abcdef
 *     held by process 4711 on node12 since 2026-11-16T01:39:26Z for copying
 *
 * It is only ever believed in sentences; what anybody may do depends on what is held alone. */
#ifndef PARAPET_ARRAY_HOLDER_H
#define PARAPET_ARRAY_HOLDER_H

#include "array/hold.h"

/* The name of a node's lock, below it. */
#define PP_LOCK_NAME "__parapet/lock"

/* Whether a name in __parapet is that of the lock, or of an owner record, which stands in for it. */
bool pp_is_of_lock(const char *name);

#define PP_HOLDER_BYTES (PP_PROCESS_BYTES + 96)

/* "process 4711 on node12 since 2026-11-16T01:39:26Z for copying", of this process, from now on. */
void pp_holder_print(const char *purpose, char holder[PP_HOLDER_BYTES]);

/* Makes that the holder. The incarnation stays as it is. */
parapet_status pp_holder_write(pp_hold *hold, parapet_store *store, const char *path, const char *holder);

/* Looks at the lock of a node; needs none. */
parapet_status pp_holder_view(parapet_store *store, const char *path, pp_lock_view *view);

/* PARAPET_ERR_BUSY, with the holder. */
parapet_status pp_holder_fail_busy(parapet_store *store, const char *path);

#endif
