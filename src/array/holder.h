/* holder.h - what the text of a lock says: who holds it, and which incarnation of the node it belongs to.
 *
 *     parapet lock 1
 *     incarnation 0123456789abcdef
 *     held by process 4711 on node12 since 2026-11-16T01:39:26Z for copying
 *
 * It is only used in sentences; what a job may do depends only on what is held. */
#ifndef PARAPET_ARRAY_HOLDER_H
#define PARAPET_ARRAY_HOLDER_H

#include "array/hold.h"

/* The name of a node's lock, below it. */
#define PP_LOCK_NAME "__parapet/lock"

/* Whether a name in __parapet is that of the lock, or of an owner record used instead. */
bool pp_is_of_lock(const char *name);

#define PP_HOLDER_BYTES (PP_PROCESS_BYTES + 96)

/* "process 4711 on node12 since 2026-11-16T01:39:26Z for copying", for this process and the current time. */
void pp_holder_print(const char *purpose, char holder[PP_HOLDER_BYTES]);

/* Writes that as the holder. The incarnation does not change. */
parapet_status pp_holder_write(pp_hold *hold, parapet_store *store, const char *path, const char *holder);

/* The incarnation that the text of a lock tells; "": none. A text that says something else says nothing. */
void pp_holder_take_incarnation(const char *text, char incarnation[PP_INCARNATION_BYTES]);

/* Looks at the lock of a node without taking it. */
parapet_status pp_holder_view(parapet_store *store, const char *path, pp_lock_view *view);

/* Whether the text names this process. */
bool pp_holder_is_own(const pp_lock_view *view);

/* PARAPET_ERR_BUSY, with the holder. */
parapet_status pp_holder_fail_busy(parapet_store *store, const char *path);

/* The same for a lock that was looked at. */
parapet_status pp_holder_fail_seen(const char *path, const pp_lock_view *view);

#endif
