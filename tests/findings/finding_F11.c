/* A handle is older than what another job has made of the array: larger, or larger and sealed. An attribute that is
 * set through it puts nothing back. */
#include "pair.h"

#include <parapet.h>

static const int64_t shape[2] = {8, 8}, grown[2] = {16, 8}, origin[2] = {0, 0}, behind[2] = {8, 0};

static void write_rows(pair *own, parapet_array *array, const int64_t *start)
{
    double values[64];
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = values};
    int i;
    for (i = 0; i < 64; i++)
        values[i] = 1 + (double)start[0];
    PAIR_OK(own, parapet_array_write(array, &part, 1));
}

static void grow(pair *own, parapet_store *store, const char *path, bool seals)
{
    parapet_array *array = NULL;
    PAIR_OK(own, parapet_array_open(&array, store, path));
    PAIR_OK(own, parapet_array_resize(array, grown));
    write_rows(own, array, behind);
    if (seals)
        PAIR_OK(own, parapet_array_seal(array));
    PAIR_OK(own, parapet_array_close(&array));
}

static void expect_grown(pair *own, parapet_store *store, const char *path, bool is_sealed)
{
    double values[128] = {0};
    parapet_part part = {.ndim = 2, .start = origin, .count = grown, .data = values};
    parapet_array_info info = {0};
    parapet_array *array = NULL;
    char *note = NULL;
    PAIR_OK(own, parapet_array_open(&array, store, path));
    if (array == NULL)
        return;
    PAIR_OK(own, parapet_array_get_info(array, &info));
    pair_expect(own, info.shape[0] == 16 && info.is_sealed == is_sealed, "the shape and the seal of the other job");
    if (info.shape[0] == 16)
        PAIR_OK(own, parapet_array_read(array, &part, 1));
    pair_expect(own, values[0] == 1 && values[127] == 9, "what both have written");
    PAIR_OK(own, parapet_array_attribute_get(array, "note", &note));
    parapet_free(note);
    PAIR_OK(own, parapet_array_close(&array));
}

static void set_late(pair *own, parapet_store *store, const char *path, bool seals)
{
    parapet_array_spec spec = {.ndim = 2, .type = PARAPET_FLOAT64, .shape = shape};
    parapet_array *array = NULL;
    if (own->job == 0) {
        PAIR_OK(own, parapet_array_create(&array, store, path, &spec));
        write_rows(own, array, origin);
    }
    pair_meet(own);
    if (own->job == 1)
        grow(own, store, path, seals);
    pair_meet(own);
    if (own->job == 1)
        return;
    PAIR_OK(own, parapet_array_attribute_set(array, "note", "\"hello\""));
    PAIR_OK(own, parapet_array_close(&array));
    expect_grown(own, store, path, seals);
}

static void act(pair *own)
{
    parapet_store *store = NULL;
    if (own->job == 0)
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_CREATE, NULL));
    pair_meet(own);
    if (own->job == 1)
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_UPDATE, NULL));
    set_late(own, store, "larger", false);
    set_late(own, store, "sealed", true);
    PAIR_OK(own, parapet_store_close(&store));
}

int main(void)
{
    return pair_run(act);
}
