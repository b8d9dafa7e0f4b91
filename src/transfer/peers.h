/* peers.h - the ranks that hold something of what this server owns, and whether their memory can be reached without
 * messages. Filled before threads start; after that only is_direct changes, and only to false. */
#ifndef PARAPET_TRANSFER_PEERS_H
#define PARAPET_TRANSFER_PEERS_H

#include <stdatomic.h>

#include "comm/direct.h"

typedef struct pp_peer {
    int rank;
    pp_direct_card card;
    atomic_bool is_direct;
} pp_peer;

/* In ascending order of ranks. */
typedef struct pp_peers {
    pp_peer *peers;
    size_t count, capacity;
} pp_peers;

/* Does nothing when the rank is known. */
parapet_status pp_peers_add(pp_peers *peers, int rank, const pp_direct_card *card);

/* NULL: not known. */
pp_peer *pp_peers_find(const pp_peers *peers, int rank);

/* Tries the card of every peer but this rank. */
void pp_peers_try(pp_peers *peers, const pp_comm *comm, bool uses_direct);
void pp_peers_clear(pp_peers *peers);

#endif
