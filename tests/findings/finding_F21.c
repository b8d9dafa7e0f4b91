/* A reader has an array open while another job puts another one in its place: of another type, then one of the same
 * layout that nobody has written yet. The reader is told so, and is not handed other bits as its values. */
#include "pair.h"

#include <parapet.h>

enum { LENGTH = 1000 };

static const int64_t shape[1] = {LENGTH}, origin[1] = {0};

static void replace(pair *own, parapet_store *store, parapet_type type, const void *values)
{
    parapet_array_spec spec = {
        .ndim = 1, .type = type, .shape = shape, .chunks = shape, .codec = "none", .overwrite = 1};
    parapet_part part = {.ndim = 1, .start = origin, .count = shape, .data = (void *)(uintptr_t)values};
    parapet_array *array = NULL;
    PAIR_OK(own, parapet_array_create(&array, store, "a", &spec));
    if (values != NULL)
        PAIR_OK(own, parapet_array_write(array, &part, 1));
    PAIR_OK(own, parapet_array_close(&array));
}

static void act_as_writer(pair *own, parapet_store *store)
{
    static double halves[LENGTH];
    static int64_t whole[LENGTH];
    int i;
    for (i = 0; i < LENGTH; i++) {
        halves[i] = 3.5;
        whole[i] = 42;
    }
    replace(own, store, PARAPET_FLOAT64, halves);
    pair_meet(own); /* the reader opens */
    pair_meet(own);
    replace(own, store, PARAPET_INT64, whole);
    pair_meet(own); /* and reads */
    pair_meet(own);
    replace(own, store, PARAPET_FLOAT64, halves);
    pair_meet(own); /* opens again */
    pair_meet(own);
    replace(own, store, PARAPET_FLOAT64, NULL);
    pair_meet(own);
}

static void act_as_reader(pair *own, parapet_store *store)
{
    static double values[LENGTH];
    parapet_part part = {.ndim = 1, .start = origin, .count = shape, .data = values};
    parapet_array *array = NULL;
    int round;
    for (round = 0; round < 2; round++) {
        pair_meet(own);
        PAIR_OK(own, parapet_array_open(&array, store, "a"));
        PAIR_OK(own, parapet_array_read(array, &part, 1));
        pair_expect(own, values[0] == 3.5 && values[LENGTH - 1] == 3.5, "what was written");
        pair_meet(own);
        pair_meet(own);
        PAIR_STATUS(own, parapet_array_read(array, &part, 1), PARAPET_ERR_STALE);
        PAIR_OK(own, parapet_array_close(&array));
        if (round == 0)
            pair_meet(own);
    }
}

static void act(pair *own)
{
    parapet_store *store = NULL;
    if (own->job == 0)
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_CREATE, NULL));
    pair_meet(own);
    if (own->job == 1)
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_READ, NULL));
    if (own->job == 0)
        act_as_writer(own, store);
    else
        act_as_reader(own, store);
    PAIR_OK(own, parapet_store_close(&store));
}

int main(void)
{
    return pair_run(act);
}
