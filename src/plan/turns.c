#include "plan/turns.h"

#include <limits.h>

#include "base/checked.h"
#include "base/status.h"

/* A server that waits for its next turn. */
typedef struct waiting {
    int64_t weight, taken;
    int server;
} waiting;

/* Whether a comes before b, in whole numbers: (a.taken + 1) / a.weight against the same of b. */
static bool is_before(const waiting *a, const waiting *b)
{
    int64_t left = (a->taken + 1) * b->weight, right = (b->taken + 1) * a->weight;
    return left != right ? left < right : a->server < b->server;
}

/* Restores the order of a heap of which only the entry at `place` may be too early. */
static void sink(waiting *heap, int count, int place)
{
    for (;;) {
        int child = 2 * place + 1;
        waiting moved;
        if (child >= count)
            return;
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &heap[place]))
            return;
        moved = heap[place];
        heap[place] = heap[child];
        heap[child] = moved;
        place = child;
    }
}

static parapet_status count_turns(const int *weights, int server_count, int *count)
{
    int64_t sum = 0, common = 0;
    int i;
    for (i = 0; i < server_count; i++) {
        sum += weights[i];
        common = pp_greatest_common_divisor(weights[i], common);
    }
    if (sum / common > INT_MAX)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the weights of %d servers are too many turns to list", server_count);
    *count = (int)(sum / common);
    return PARAPET_OK;
}

/* All wait alike at first, so the heap only has to be put in order once. */
static void take_turns(pp_turns *turns, waiting *heap, const int *weights, int server_count)
{
    int i;
    for (i = 0; i < server_count; i++)
        heap[i] = (waiting){.weight = weights[i], .server = i};
    for (i = server_count / 2; i-- > 0;)
        sink(heap, server_count, i);
    for (i = 0; i < turns->count; i++) {
        turns->servers[i] = heap[0].server;
        turns->turns_of[heap[0].server]++;
        heap[0].taken++;
        sink(heap, server_count, 0);
    }
}

parapet_status pp_turns_init(pp_turns *turns, const int *weights, int server_count)
{
    waiting *heap = NULL;
    parapet_status status;
    *turns = (pp_turns){.server_count = server_count};
    if ((status = count_turns(weights, server_count, &turns->count)) == PARAPET_OK &&
        (status = pp_allocate_array(&turns->servers, (size_t)turns->count, sizeof turns->servers[0])) == PARAPET_OK &&
        (status = pp_allocate_array(&turns->turns_of, (size_t)server_count, sizeof turns->turns_of[0])) ==
            PARAPET_OK &&
        (status = pp_allocate_array(&heap, (size_t)server_count, sizeof heap[0])) == PARAPET_OK)
        take_turns(turns, heap, weights, server_count);
    pp_free(heap);
    return status;
}

void pp_turns_clear(pp_turns *turns)
{
    pp_free(turns->servers);
    pp_free(turns->turns_of);
    *turns = (pp_turns){0};
}
