/* thief.h - ties a transfer to comm/stealing.h: shards of its supply are given away, and what was given by others is
 * served next. All functions are called by the thread that calls MPI. */
#ifndef PARAPET_TRANSFER_THIEF_H
#define PARAPET_TRANSFER_THIEF_H

#include "transfer/run.h"

/* Whether servers take shards from each other in this transfer; the same on all ranks. */
bool pp_thief_is_wanted(const pp_session *session);

/* [collective] Finds out how large shards are on all servers, then gets ready to be asked. Same status on every rank,
 * until the next agreement the one of this rank. */
parapet_status pp_thief_agree(pp_transfer *transfer, parapet_status before);
parapet_status pp_thief_build(pp_transfer *transfer);

/* This rank has served all it had: asks for more. */
void pp_thief_ask(pp_transfer *transfer);

/* More has come: the transfer is ready to run its pipeline again. */
parapet_status pp_thief_refill(pp_transfer *transfer);

#endif
