/* A job is started again while the old one still appends to a series: the new one is told that it is in use. When
 * the old one has closed it, the new one goes on behind its steps. */
#include "pair.h"

#include <parapet.h>

enum { WIDTH = 100, STEPS = 6 };

static const int64_t shape[2] = {0, WIDTH}, chunks[2] = {1, WIDTH}, shards[2] = {4, WIDTH};

static void append_steps(pair *own, parapet_series *series, double first)
{
    static const int64_t start[1] = {0}, count[1] = {WIDTH};
    double values[WIDTH];
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    parapet_step step = {.parts = &part, .part_count = 1};
    int i, k;
    for (i = 0; i < STEPS; i++) {
        for (k = 0; k < WIDTH; k++)
            values[k] = first + i;
        PAIR_OK(own, parapet_series_append(series, first + i, &step));
    }
}

static void expect_steps(pair *own, parapet_store *store)
{
    static const int64_t start[2] = {0, 0}, count[2] = {2 * STEPS, WIDTH};
    double values[2 * STEPS][WIDTH];
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    parapet_array *array = NULL;
    int i;
    PAIR_OK(own, parapet_array_open(&array, store, "run/u"));
    PAIR_OK(own, parapet_array_read(array, &part, 1));
    for (i = 0; i < STEPS; i++)
        pair_expect(own, values[i][0] == 100 + i && values[STEPS + i][WIDTH - 1] == 200 + i, "the steps of both");
    PAIR_OK(own, parapet_array_close(&array));
}

static void act_as_old(pair *own, parapet_store *store)
{
    parapet_array_spec array = {
        .ndim = 2, .type = PARAPET_FLOAT64, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_series_spec spec = {.count = 1, .names = (const char *const[]){"u"}, .specs = &array};
    parapet_series *series = NULL;
    PAIR_OK(own, parapet_series_create(&series, store, "run", &spec));
    pair_meet(own); /* the new one tries to open it */
    append_steps(own, series, 100);
    pair_meet(own);
    PAIR_OK(own, parapet_series_close(&series));
    pair_meet(own); /* and again */
}

static void act_as_new(pair *own, parapet_store *store)
{
    parapet_series *series = NULL;
    pair_meet(own);
    PAIR_STATUS(own, parapet_series_open(&series, store, "run"), PARAPET_ERR_BUSY);
    if (series != NULL) /* as it was before: both go on */
        append_steps(own, series, 300);
    pair_meet(own);
    if (series != NULL)
        PAIR_OK(own, parapet_series_close(&series));
    pair_meet(own);
    PAIR_OK(own, parapet_series_open(&series, store, "run"));
    append_steps(own, series, 200);
    PAIR_OK(own, parapet_series_close(&series));
    expect_steps(own, store);
}

static void act(pair *own)
{
    parapet_store *store = NULL;
    if (own->job == 0)
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_CREATE, NULL));
    pair_meet(own);
    if (own->job == 1)
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_UPDATE, NULL));
    if (own->job == 0)
        act_as_old(own, store);
    else
        act_as_new(own, store);
    PAIR_OK(own, parapet_store_close(&store));
}

int main(void)
{
    return pair_run(act);
}
