/* peers.h - the ranks that hold parts of the shards that this server owns, and whether their memory can be reached
 * without messages. Filled before threads start; after that only is_direct changes, and only to false. */
#ifndef PARAPET_TRANSFER_PEERS_H
#define PARAPET_TRANSFER_PEERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "comm/direct.h"

typedef struct pp_peer {
    int rank;
    pp_identity_proof proof;
    atomic_bool is_direct;
} pp_peer;

/* In ascending order of ranks. */
typedef struct pp_peers {
    pp_peer *peers;
    size_t count, capacity;
    pthread_mutex_t *lock; /* of is_direct, for code that reads it twice and must see the same value */
} pp_peers;

/* To be called first. */
parapet_status pp_peers_init(pp_peers *peers);

/* Appends; pp_peers_sort must follow before the first pp_peers_find. */
parapet_status pp_peers_add(pp_peers *peers, int rank, const pp_identity_proof *proof);

parapet_status pp_peers_append(pp_peers *peers, const pp_peers *others);
void pp_peers_sort(pp_peers *peers);

/* NULL: not known. */
pp_peer *pp_peers_find(const pp_peers *peers, int rank);

/* The system refuses to copy: uses messages from now on. */
void pp_peers_refuse(const pp_peers *peers, int rank);

/* Tries the identity proof of every peer except this rank. */
void pp_peers_try(pp_peers *peers, const pp_comm *comm, bool uses_direct);
void pp_peers_clear(pp_peers *peers);

#endif
