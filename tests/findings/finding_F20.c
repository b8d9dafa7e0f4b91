/* Another job consolidates the root while a series is open. The steps that come later must not be hidden by what was
 * consolidated: it goes, or it tells of them. */
#include <parapet.h>
#include <stdio.h>
#include <string.h>

#include "pair.h"

enum { WIDTH = 10 };

static const int64_t shape[2] = {0, WIDTH};

static void append_two(pair *own, parapet_series *series, double first)
{
    static const int64_t start[1] = {0}, count[1] = {WIDTH};
    double values[WIDTH] = {0};
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    parapet_step step = {.parts = &part, .part_count = 1};
    PAIR_OK(own, parapet_series_append(series, first, &step));
    PAIR_OK(own, parapet_series_append(series, first + 1, &step));
    PAIR_OK(own, parapet_series_flush(series));
}

static void consolidate(pair *own, parapet_store *store)
{
    parapet_group *root = NULL;
    PAIR_OK(own, parapet_group_open(&root, store, ""));
    PAIR_OK(own, parapet_group_consolidate(root));
    PAIR_OK(own, parapet_group_close(&root));
}

static bool is_root_consolidated(const pair *own)
{
    static char text[65536];
    char path[700];
    FILE *file;
    size_t bytes = 0;
    (void)snprintf(path, sizeof path, "%s/zarr.json", own->store);
    if ((file = fopen(path, "r")) != NULL) {
        bytes = fread(text, 1, sizeof text - 1, file);
        (void)fclose(file);
    }
    text[bytes] = '\0';
    return strstr(text, "consolidated_metadata") != NULL;
}

static void act_as_model(pair *own, parapet_store *store)
{
    parapet_array_spec array = {.ndim = 2, .type = PARAPET_FLOAT64, .shape = shape};
    parapet_series_spec spec = {.count = 1, .names = (const char *const[]){"u"}, .specs = &array};
    parapet_series *series = NULL;
    PAIR_OK(own, parapet_series_create(&series, store, "run", &spec));
    append_two(own, series, 0);
    pair_meet(own); /* the other one consolidates */
    pair_meet(own);
    append_two(own, series, 2);
    pair_expect(own, !is_root_consolidated(own), "no consolidated metadata of two steps beside four");
    PAIR_OK(own, parapet_series_close(&series));
}

static void act(pair *own)
{
    parapet_store *store = NULL;
    if (own->job == 0)
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_CREATE, NULL));
    pair_meet(own);
    if (own->job == 0)
        act_as_model(own, store);
    else {
        PAIR_OK(own, parapet_store_open(&store, MPI_COMM_NULL, own->store, PARAPET_UPDATE, NULL));
        pair_meet(own);
        consolidate(own, store);
        pair_expect(own, is_root_consolidated(own), "consolidated metadata");
        pair_meet(own);
    }
    PAIR_OK(own, parapet_store_close(&store));
}

int main(void)
{
    return pair_run(act);
}
