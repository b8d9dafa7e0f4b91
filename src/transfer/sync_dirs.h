/* sync_dirs.h - making durable what several ranks have published. A directory into which many of them have renamed
 * shards is flushed once, by one server of a node: a flush is a wait for the device, whoever asks for it. Once for
 * each node, and on it for each mount, because there are file systems on which a flush waits only for what was
 * changed through the same mount. */
#ifndef PARAPET_TRANSFER_SYNC_DIRS_H
#define PARAPET_TRANSFER_SYNC_DIRS_H

#include "comm/comm.h"
#include "store/store.h"

/* [collective] Once for a store, when all ranks have opened it. Same status on every rank. */
parapet_status pp_sync_dirs_begin(pp_comm *comm, pp_store *store, const int *servers, int server_count);

/* [collective] Makes durable what all ranks have published. mine is the status of this rank so far, which it returns
 * if it is a failure. What follows is the agreement below. */
parapet_status pp_sync_dirs_collectively(pp_comm *comm, pp_store *store, parapet_status mine);

/* [collective] pp_comm_agree. After a success nothing is left to be made durable. After a failure each rank keeps in
 * mind what it has changed, for the next call; or, if some rank has failed to sync something, that what it has
 * changed can no longer be synced: whoever tried again might be told of a success that is none. */
parapet_status pp_sync_dirs_agree(pp_comm *comm, pp_store *store, const char *phase, parapet_status mine);

/* The same; least is a number of this rank, 0 or more, and after a success the least of all ranks. */
parapet_status pp_sync_dirs_agree_min(pp_comm *comm, pp_store *store, const char *phase, parapet_status mine,
                                      int64_t *least);

#endif
