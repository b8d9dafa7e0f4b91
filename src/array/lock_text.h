/* lock_text.h - what the text of a lock says: who holds it, and which incarnation of the node it belongs to.
 *
 *     parapet lock 1
 *     incarnation 0123456789abcdef
 *     held by process 4711 on node12 since 2026-11-16T01:39:26Z for copying
 *
 * It is only used in sentences; what a job may do depends only on what is held. */
#ifndef PARAPET_ARRAY_LOCK_TEXT_H
#define PARAPET_ARRAY_LOCK_TEXT_H

#include "array/node_lock.h"

#define PP_LOCK_LINE_BYTES (PP_PROCESS_BYTES + 96)

/* "process 4711 on node12 since 2026-11-16T01:39:26Z for copying", for this process and the current time. */
void pp_lock_text_print(const char *purpose, char holder[PP_LOCK_LINE_BYTES]);

/* Writes that as the holder. The incarnation does not change. */
parapet_status pp_lock_text_write(pp_node_lock *hold, parapet_store *store, const char *path, const char *holder);

/* The incarnation that the text of a lock tells; "": none. A text that says something else says nothing. */
void pp_lock_text_incarnation(const char *text, char incarnation[PP_INCARNATION_BYTES]);

/* Looks at the lock of a node without taking it. */
parapet_status pp_lock_text_view(parapet_store *store, const char *path, pp_lock_view *view);

/* Whether the text names this process. */
bool pp_lock_text_is_own(const pp_lock_view *view);

/* PARAPET_ERR_BUSY, with the holder. */
parapet_status pp_lock_text_fail_busy(parapet_store *store, const char *path);

/* The same for a lock that was looked at. */
parapet_status pp_lock_text_fail_seen(const char *path, const pp_lock_view *view);

#endif
