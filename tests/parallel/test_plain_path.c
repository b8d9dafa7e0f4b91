/* Writes and reads with the features of a transfer off, or on, and tells gcov of these calls alone: plain_path.py
 * looks which functions they have entered. Only for the preset coverage. Runs under the launcher.
 *
 *     test_plain_path off|on */
#include <parapet.h>
#include <stdio.h>
#include <string.h>

#include "launch.h"

enum { EDGE = 64, CHUNK = 8, SHARD = 32 };

void __gcov_reset(void);
void __gcov_dump(void);

static launch run;
static int32_t data[EDGE * EDGE];

static parapet_store_options options_of(bool is_on)
{
    parapet_store_options options = {0};
    if (is_on) {
        options.keep_descriptions = 1;
        options.cache_bytes = 1 << 20;
        options.write_back = 1;
    }
    return options;
}

/* Rows that this rank has, of `rows` from the first on. */
static void move(parapet_array *array, int64_t first, int64_t rows, bool writes)
{
    int64_t from = rows * run.rank / run.ranks, end = rows * (run.rank + 1) / run.ranks;
    int64_t start[2] = {first + from, 0}, count[2] = {end - from, EDGE};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = data};
    if (writes)
        LAUNCH_OK(&run, parapet_array_write(array, &part, 1));
    else
        LAUNCH_OK(&run, parapet_array_read(array, &part, 1));
}

/* Whole shards, then parts of chunks, of which the rest is read, and all of it. */
static void move_all(parapet_array *array)
{
    move(array, 0, EDGE, true);
    move(array, CHUNK / 2, SHARD, true);
    move(array, 0, EDGE, false);
    move(array, 0, EDGE, false);
}

int main(int argc, char **argv)
{
    static const int64_t shape[] = {EDGE, EDGE}, chunks[] = {CHUNK, CHUNK}, shards[] = {SHARD, SHARD};
    bool is_on = argc > 1 && strcmp(argv[1], "on") == 0;
    parapet_store_options options = options_of(is_on);
    parapet_array_spec spec = {.ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .type = PARAPET_INT32};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    launch_start(&run, &argc, &argv, MPI_THREAD_MULTIPLE);
    launch_case_begin(&run, 0);
    LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, run.folder, PARAPET_CREATE, &options));
    LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec));
    move_all(array);
    if (is_on)
        LAUNCH_OK(&run, parapet_array_seal(array));
    __gcov_reset();
    move_all(array);
    __gcov_dump();
    LAUNCH_OK(&run, parapet_array_close(&array));
    LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, is_on ? "features on" : "features off");
    return launch_finish(&run);
}
