#include "transfer/peers.h"

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

parapet_status pp_peers_add(pp_peers *peers, int rank, const pp_direct_card *card)
{
    size_t place = place_of(peers, rank);
    parapet_status status;
    if (place < peers->count && peers->peers[place].rank == rank)
        return PARAPET_OK;
    if (peers->count == peers->capacity) {
        size_t capacity = peers->capacity > 0 ? 2 * peers->capacity : 16;
        if ((status = pp_reallocate(&peers->peers, capacity * sizeof peers->peers[0])) != PARAPET_OK)
            return status;
        peers->capacity = capacity;
    }
    memmove(&peers->peers[place + 1], &peers->peers[place], (peers->count - place) * sizeof peers->peers[0]);
    peers->peers[place].rank = rank;
    peers->peers[place].card = *card;
    atomic_init(&peers->peers[place].is_direct, false);
    peers->count++;
    return PARAPET_OK;
}

void pp_peers_try(pp_peers *peers, const pp_comm *comm, bool uses_direct)
{
    size_t i;
    for (i = 0; i < peers->count; i++)
        atomic_store(&peers->peers[i].is_direct, uses_direct && peers->peers[i].rank != pp_comm_rank(comm) &&
                                                     pp_direct_works(comm, &peers->peers[i].card));
}

void pp_peers_clear(pp_peers *peers)
{
    pp_free(peers->peers);
    *peers = (pp_peers){0};
}
