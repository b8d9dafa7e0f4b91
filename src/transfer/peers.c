#include "transfer/peers.h"

#include <stdlib.h>
#include <string.h>

/* Where the rank is, or belongs. */
static size_t place_of(const pp_peers *peers, int rank)
{
    size_t low = 0, high = peers->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (peers->peers[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

pp_peer *pp_peers_find(const pp_peers *peers, int rank)
{
    size_t place = place_of(peers, rank);
    return place < peers->count && peers->peers[place].rank == rank ? &peers->peers[place] : NULL;
}

parapet_status pp_peers_init(pp_peers *peers)
{
    parapet_status status;
    *peers = (pp_peers){0};
    if ((status = pp_allocate(&peers->lock, sizeof *peers->lock)) == PARAPET_OK)
        pthread_mutex_init(peers->lock, NULL);
    return status;
}

parapet_status pp_peers_add(pp_peers *peers, int rank, const pp_identity_proof *proof)
{
    parapet_status status;
    pp_peer *peer;
    if (peers->count > 0 && peers->peers[peers->count - 1].rank == rank)
        return PARAPET_OK; /* claims of one rank come together */
    if (peers->count == peers->capacity) {
        size_t capacity = peers->capacity > 0 ? 2 * peers->capacity : 16;
        if ((status = pp_reallocate(&peers->peers, capacity * sizeof peers->peers[0])) != PARAPET_OK)
            return status;
        peers->capacity = capacity;
    }
    peer = &peers->peers[peers->count++];
    peer->rank = rank;
    peer->proof = *proof;
    atomic_init(&peer->is_direct, false);
    return PARAPET_OK;
}

parapet_status pp_peers_append(pp_peers *peers, const pp_peers *others)
{
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < others->count && status == PARAPET_OK; i++) {
        status = pp_peers_add(peers, others->peers[i].rank, &others->peers[i].proof);
        if (status == PARAPET_OK)
            atomic_store(&peers->peers[peers->count - 1].is_direct, atomic_load(&others->peers[i].is_direct));
    }
    return status;
}

static int compare_ranks(const void *left, const void *right)
{
    const pp_peer *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

void pp_peers_sort(pp_peers *peers)
{
    size_t i, kept = 0;
    if (peers->count > 0)
        qsort(peers->peers, peers->count, sizeof peers->peers[0], compare_ranks);
    for (i = 0; i < peers->count; i++)
        if (kept == 0 || peers->peers[kept - 1].rank != peers->peers[i].rank)
            memmove(&peers->peers[kept++], &peers->peers[i], sizeof peers->peers[0]);
    peers->count = kept;
}

void pp_peers_refuse(const pp_peers *peers, int rank)
{
    pp_peer *peer = pp_peers_find(peers, rank);
    if (peer == NULL)
        return;
    pthread_mutex_lock(peers->lock);
    atomic_store(&peer->is_direct, false);
    pthread_mutex_unlock(peers->lock);
}

void pp_peers_try(pp_peers *peers, const pp_comm *comm, bool uses_direct)
{
    size_t i;
    for (i = 0; i < peers->count; i++)
        atomic_store(&peers->peers[i].is_direct, uses_direct && peers->peers[i].rank != pp_comm_rank(comm) &&
                                                     pp_direct_works(comm, &peers->peers[i].proof));
}

void pp_peers_clear(pp_peers *peers)
{
    if (peers->lock != NULL)
        pthread_mutex_destroy(peers->lock);
    pp_free(peers->lock);
    pp_free(peers->peers);
    *peers = (pp_peers){0};
}
