/* Two jobs make one array, neither to overwrite: one of them has made it, the other is told that it is late. */
#include <parapet.h>
#include <stdio.h>

#include "pair.h"

enum { ROUNDS = 300 };

static const int64_t shape[1] = {4096}, chunks[1] = {256}, shards[1] = {1024};

static void make_one(pair *own, parapet_store *store, int round)
{
    parapet_array_spec spec = {
        .ndim = 1, .type = PARAPET_FLOAT64, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_array *array = NULL;
    parapet_status status;
    char path[32];
    (void)snprintf(path, sizeof path, "x%d", round);
    pair_meet(own);
    own->numbers[own->job] = status = parapet_array_create(&array, store, path, &spec);
    pair_expect(own, status == PARAPET_OK || status == PARAPET_ERR_EXISTS || status == PARAPET_ERR_BUSY,
                "OK, EXISTS or BUSY");
    if (status == PARAPET_OK)
        PAIR_OK(own, parapet_array_close(&array));
    pair_meet(own);
    pair_expect(own, (own->numbers[0] == PARAPET_OK) + (own->numbers[1] == PARAPET_OK) == 1, "one that has made it");
}

static void act(pair *own)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_store *store = NULL;
    int round;
    if (own->job == 0)
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_CREATE, &options));
    pair_meet(own);
    if (own->job == 1)
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_UPDATE, &options));
    for (round = 0; round < ROUNDS; round++)
        make_one(own, store, round);
    PAIR_OK(own, parapet_store_close(&store));
}

int main(void)
{
    return pair_run(act);
}
