/* node_lock.h - who may change what, when several jobs work on one store.
 *
 * Every node has a lock, <node>/__parapet/lock, of which four parts can be held:
 *
 *     LONG        by rank 0, for as long as a change takes.
 *                 Shared: writing parts, so that two jobs may write one array.
 *                 Alone: all else that changes an array, a copy's target, a series, a checkpoint.
 *     SHORT       by rank 0, alone, around publishing: the documents of a node, or the shards of a write.
 *                 Never from one call to the next.
 *     DELEGATES   by every other rank that works for one who has LONG alone.
 *     PUBLISHING  by every other rank that publishes for one who has SHORT,
 *                 from before all agree to publish until its last object is visible.
 *
 * If rank 0 dies, the system frees what it held, while other ranks may still be about to publish. So a job that
 * gets LONG proceeds only when no rank holds DELEGATES any more, and a job that gets SHORT, or LONG alone, only
 * when no rank holds PUBLISHING.
 *
 * A server that makes new arrays for a call of many (bulk_create.h) holds LONG and SHORT of these itself, and is one
 * of the other ranks for the groups above them.
 *
 * Readers neither take nor create locks (invariant 13 of docs/design/change.md). The lock file of an array stays;
 * that of a group, which readers list, is removed when it is released. A held lock belongs to this process and is
 * freed when it dies. If owner records are used instead of locks, the record of a process that died stays until
 * another job proves that it died. */
#ifndef PARAPET_ARRAY_NODE_LOCK_H
#define PARAPET_ARRAY_NODE_LOCK_H

#include <parapet_types.h>

#include "store/store.h"

/* Identifies an incarnation of a node: 16 hexadecimal digits, or "" if its lock has none. */
#define PP_INCARNATION_BYTES 17

typedef struct pp_node_lock {
    pp_lock *lock;
    bool is_named; /* its text says who holds it */
    bool is_kept;  /* its text says more than that, and is kept */
} pp_node_lock;

/* What is to be held. */
typedef struct pp_node_lock_wish {
    parapet_store *store;
    const char *const *paths;
    int count;
    pp_lock_mode mode;
    const char *purpose; /* for the error message of jobs that are kept out: "copying" */
    bool is_for_all;     /* every rank becomes a delegate, not only servers */
} pp_node_lock_wish;

/* Rank 0, or the keeper of new arrays: holds LONG of all paths, or of none. PARAPET_ERR_BUSY, after wait_seconds,
 * says who else holds it. holds has room for count entries, all zero. */
parapet_status pp_node_locks_take(pp_node_lock *holds, const pp_node_lock_wish *wish);

/* The same without waiting. */
parapet_status pp_node_locks_try(pp_node_lock *holds, const pp_node_lock_wish *wish);

/* Other ranks: become delegates of rank 0, which holds LONG alone. */
parapet_status pp_node_locks_delegate(pp_node_lock *holds, const pp_node_lock_wish *wish);

/* The same on ranks that have to: servers, or all; on others, and on rank 0, it does nothing. */
parapet_status pp_node_locks_delegate_if_due(pp_node_lock *holds, const pp_node_lock_wish *wish);

/* [collective] Rank 0 holds LONG alone, and the others are its delegates. Same status on every rank. */
parapet_status pp_node_locks_take_collectively(pp_node_lock *holds, const pp_node_lock_wish *wish);

/* Rank 0: held LONG alone so far, and shares it from now on. */
parapet_status pp_node_locks_share(const pp_node_lock *holds, int count);

/* The holder of LONG: also holds SHORT, once no other rank is publishing. */
parapet_status pp_node_locks_begin_publishing(const pp_node_lock *holds, const pp_node_lock_wish *wish);

/* The same without waiting. */
parapet_status pp_node_locks_try_publishing(const pp_node_lock *holds, const pp_node_lock_wish *wish);

/* Other ranks: publish for rank 0, which holds SHORT. */
parapet_status pp_node_locks_join_publishing(pp_node_lock *holds, const pp_node_lock_wish *wish);

/* Releases SHORT. */
void pp_node_locks_end_publishing(const pp_node_lock *holds, int count);

/* Releases everything, and resets all entries to zero. */
void pp_node_locks_release(pp_node_lock *holds, int count);

/* Rank 0: proves, just before something is published, that what was held is still held. */
parapet_status pp_node_lock_prove(const pp_node_lock *hold);

/* Of a random number; each incarnation has a number of its own. */
void pp_incarnation_print(uint64_t number, char incarnation[PP_INCARNATION_BYTES]);

/* The holder of LONG alone: gives the node that is being created this incarnation. */
parapet_status pp_node_lock_write_incarnation(pp_node_lock *hold, const char *incarnation);

/* The same with a new one. */
parapet_status pp_node_lock_renew_incarnation(pp_node_lock *hold, char incarnation[PP_INCARNATION_BYTES]);

/* The incarnation at a path; needs no lock. */
parapet_status pp_incarnation_read(parapet_store *store, const char *path, char incarnation[PP_INCARNATION_BYTES]);

/* Rank 0: SHORT of a node and of all groups above it, the root first. */
typedef struct pp_edit {
    pp_node_lock *holds;
    int count;
} pp_edit;

parapet_status pp_edit_begin(pp_edit *edit, parapet_store *store, const char *path);

/* Rank 0: of these nodes, outer ones before inner ones, and of no others. */
parapet_status pp_edit_begin_nodes(pp_edit *edit, parapet_store *store, const char *const *paths, int count);
void pp_edit_end(pp_edit *edit);

/* Rank 0: instead, LONG of all groups above a node, shared, so that no job has one of them alone: no series, no
 * checkpoint and no copy is being made there. The root has none above it. With outer, only of those between the two.
 */
parapet_status pp_edit_share_above(pp_edit *edit, parapet_store *store, const char *outer, const char *path,
                                   const char *purpose);

/* Proves, just before something is published, that what was held is still held. */
parapet_status pp_edit_prove(const pp_edit *edit);

#endif
