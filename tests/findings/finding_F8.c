/* Two jobs write chunks of the same shards, none of them both. Who is told OK finds what it wrote; who is told that
 * the shards have changed meanwhile repeats the call. */
#include "pair.h"

#include <parapet.h>

enum { ROUNDS = 150, LENGTH = 4096, CHUNK = 64, OWN_CHUNKS = LENGTH / CHUNK / 2, ATTEMPTS_MOST = 1000 };

static const int64_t shape[1] = {LENGTH}, chunks[1] = {CHUNK}, shards[1] = {1024}, origin[1] = {0};

static parapet_status write_chunks(const pair *own, parapet_array *array, int round)
{
    double values[CHUNK];
    int64_t starts[OWN_CHUNKS];
    parapet_part parts[OWN_CHUNKS];
    parapet_status status;
    int i, attempt = 0;
    for (i = 0; i < CHUNK; i++)
        values[i] = round * 10 + own->job;
    for (i = 0; i < OWN_CHUNKS; i++) {
        starts[i] = (2 * i + own->job) * CHUNK;
        parts[i] = (parapet_part){.ndim = 1, .start = &starts[i], .count = chunks, .data = values};
    }
    do
        status = parapet_array_write(array, parts, OWN_CHUNKS);
    while ((status == PARAPET_ERR_STALE || status == PARAPET_ERR_BUSY) && ++attempt < ATTEMPTS_MOST);
    return status;
}

static void expect_all(pair *own, parapet_array *array, int round)
{
    static double values[LENGTH];
    parapet_part part = {.ndim = 1, .start = origin, .count = shape, .data = values};
    int i, lost = 0;
    PAIR_OK(own, parapet_array_read(array, &part, 1));
    for (i = 0; i < LENGTH; i++)
        lost += values[i] != round * 10 + i / CHUNK % 2;
    pair_expect(own, lost == 0, "what both have written");
}

static void act(pair *own)
{
    parapet_array_spec spec = {
        .ndim = 1, .type = PARAPET_FLOAT64, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    int round;
    if (own->job == 0) {
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_CREATE, &options));
        PAIR_OK(own, parapet_array_create(&array, store, "a", &spec));
    }
    pair_meet(own);
    if (own->job == 1) {
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_UPDATE, &options));
        PAIR_OK(own, parapet_array_open(&array, store, "a"));
    }
    for (round = 1; round <= ROUNDS; round++) {
        pair_meet(own);
        PAIR_OK(own, write_chunks(own, array, round));
        pair_meet(own);
        expect_all(own, array, round);
    }
    PAIR_OK(own, parapet_array_close(&array));
    PAIR_OK(own, parapet_store_close(&store));
}

int main(void)
{
    return pair_run(act);
}
