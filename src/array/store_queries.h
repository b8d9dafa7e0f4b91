/* store_queries.h - what other modules can ask the handle of a store. */
#ifndef PARAPET_ARRAY_STORE_QUERIES_H
#define PARAPET_ARRAY_STORE_QUERIES_H

#include "transfer/transfer.h"

bool pp_store_is_read_only(const parapet_store *store);
bool pp_store_is_foreign(const parapet_store *store); /* a file of another format */
parapet_status pp_store_check_writable(const parapet_store *store);

/* The ranks that have it open together. */
pp_comm *pp_store_comm(const parapet_store *store);

/* A number that differs for every store that this process opens. */
uint64_t pp_store_serial(const parapet_store *store);

/* Where its objects are. */
pp_store *pp_store_backend(const parapet_store *store);

struct parapet_store_options; /* see parapet_store.h */

/* Every field is resolved. */
const struct parapet_store_options *pp_store_options(const parapet_store *store);

/* What calls have of memory_bytes: all but what waits to be written. */
int64_t pp_store_call_bytes(const parapet_store *store);

/* The smallest of all ranks, for what they must cut alike. */
int64_t pp_store_least_memory_bytes(const parapet_store *store);

pp_budget *pp_store_budget(parapet_store *store);
pp_counters *pp_store_counters(parapet_store *store);

/* How the ranks of a store work together in a transfer. */
pp_team pp_store_team(const parapet_store *store, pp_direction direction);

/* The server that stores what is kept beside the shards of one of so many new arrays. Neighbours in the list are
 * dealt to the same one. */
int pp_store_keeper(const parapet_store *store, int array, int count);

/* For a call in which ranks may wait for each other without limit. */
void pp_store_suspend_deadline(const parapet_store *store);
void pp_store_resume_deadline(const parapet_store *store);

/* For a call that reports its own progress, of which the reads that it makes are a part. */
void pp_store_suspend_progress(parapet_store *store);
void pp_store_resume_progress(parapet_store *store);

/* The number of open arrays, groups, checkpoints, series and requests: a store cannot be closed while there are any.
 */
int pp_store_handle_count(const parapet_store *store);
void pp_store_add_handles(parapet_store *store, int count);
void pp_store_drop_handles(parapet_store *store, int count);

#endif
