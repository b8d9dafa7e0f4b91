/* Parts of chunks that are stored as they are, read by several ranks in far less memory than a chunk takes: random
 * boxes of all ranks against the elements' numbers; plain and with a checksum, by direct copies and by messages,
 * holes chosen, read and skipped. A flipped bit and a chunk cut short fail the call on every rank. */
#include <fcntl.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch.h"

enum { PLANES = 20, ROWS = 60, COLUMNS = 500, PARTS = 4 };

static launch run;
static uint32_t elements[PLANES * ROWS * COLUMNS];
static uint32_t found[PARTS][PLANES * ROWS * COLUMNS];
static const int64_t shape[3] = {PLANES, ROWS, COLUMNS};

static int64_t draw(unsigned *state, int64_t least, int64_t most)
{
    return least + (int64_t)((unsigned)rand_r(state) % (unsigned)(most - least + 1));
}

/* 2.4 MB in one chunk, or in some. */
static void write_array(parapet_store *store, const char *path, bool has_checksum, int64_t planes)
{
    int64_t chunks[3] = {planes, 0, 0}, start[3] = {0};
    parapet_array_spec spec = {.type = PARAPET_UINT32,
                               .ndim = 3,
                               .shape = shape,
                               .chunks = chunks,
                               .codec = "none",
                               .no_checksum = !has_checksum,
                               .unsharded = 1};
    parapet_part part = {.ndim = 3, .start = start, .count = shape, .data = elements};
    parapet_array *array = NULL;
    if (LAUNCH_OK(&run, parapet_array_create(&array, store, path, &spec)))
        (void)LAUNCH_OK(&run, parapet_array_write(array, &part, run.rank == 0));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

static bool is_right(const uint32_t *values, const int64_t *start, const int64_t *count)
{
    int64_t i, j, k;
    for (i = 0; i < count[0]; i++)
        for (j = 0; j < count[1]; j++)
            for (k = 0; k < count[2]; k++)
                if (*values++ != elements[((start[0] + i) * ROWS + start[1] + j) * COLUMNS + start[2] + k])
                    return false;
    return true;
}

static void read_boxes(parapet_array *array, unsigned *state)
{
    int64_t start[PARTS][3], count[PARTS][3];
    parapet_part parts[PARTS];
    int i, d, part_count = (int)draw(state, 0, PARTS);
    for (i = 0; i < part_count; i++) {
        for (d = 0; d < 3; d++) {
            start[i][d] = draw(state, 0, shape[d] - 1);
            count[i][d] = draw(state, 1, draw(state, 1, shape[d] - start[i][d]));
        }
        parts[i] = (parapet_part){.ndim = 3, .start = start[i], .count = count[i], .data = found[i]};
    }
    if (!LAUNCH_OK(&run, parapet_array_read(array, parts, part_count)))
        return;
    for (i = 0; i < part_count; i++)
        launch_expect(&run, is_right(found[i], start[i], count[i]), "the elements that were written");
}

static void read_array(const char *path, const parapet_store_options *options, unsigned *state)
{
    char url[600];
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_statistics done;
    int i;
    (void)snprintf(url, sizeof url, "%s/parts.zarr", run.folder);
    if (!LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_READ, options)))
        return;
    if (LAUNCH_OK(&run, parapet_array_open(&array, store, path)))
        for (i = 0; i < 4; i++)
            read_boxes(array, state);
    if (LAUNCH_OK(&run, parapet_store_get_statistics(store, &done)))
        launch_expect(&run, done.memory_peak_bytes <= options->memory_bytes, "no more memory than allowed");
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
}

static void run_case(const char *path, int number)
{
    unsigned state = 1000u * (unsigned)number + (unsigned)run.rank;
    parapet_store_options options = {.memory_bytes = 2 << 20,
                                     .holes = (parapet_holes)(number % 3),
                                     .transport = number % 2 ? PARAPET_TRANSPORT_MESSAGES : PARAPET_TRANSPORT_DIRECT};
    launch_case_begin(&run, (uint64_t)number);
    read_array(path, &options, &state);
    (void)launch_case_end(&run, path);
}

static void flip_bit(const char *file_name)
{
    char byte = 0;
    int file = open(file_name, O_RDWR);
    launch_expect(&run, file >= 0 && pread(file, &byte, 1, 2000000) == 1, "a byte to flip");
    byte = (char)(byte ^ 1);
    launch_expect(&run, pwrite(file, &byte, 1, 2000000) == 1 && close(file) == 0, "a flipped bit");
}

static void cut_short(const char *file_name)
{
    launch_expect(&run, truncate(file_name, 100000) == 0, "a chunk cut short");
}

/* Every rank is told by the calls in which all take part; by a local one, the rank that made it. */
static void expect_corrupt(parapet_array *array, const parapet_part *part, int part_count)
{
    static const int64_t place[3] = {0, 0, 7};
    uint32_t value;
    parapet_points point = {.ndim = 3, .count = part_count, .coordinates = place, .data = &value};
    parapet_runs run_of_one = {.count = part_count, .starts = place + 2, .data = &value};
    launch_expect(&run, LAUNCH_AGREED(&run, parapet_array_read(array, part, part_count)) == PARAPET_ERR_CORRUPT,
                  "PARAPET_ERR_CORRUPT on every rank");
    launch_expect(&run, LAUNCH_AGREED(&run, parapet_array_read_points(array, &point)) == PARAPET_ERR_CORRUPT,
                  "PARAPET_ERR_CORRUPT of points on every rank");
    launch_expect(&run, LAUNCH_AGREED(&run, parapet_array_read_runs(array, &run_of_one)) == PARAPET_ERR_CORRUPT,
                  "PARAPET_ERR_CORRUPT of runs on every rank");
    launch_expect(&run,
                  parapet_array_read_local(array, part, part_count) ==
                      (part_count > 0 ? PARAPET_ERR_CORRUPT : PARAPET_OK),
                  "PARAPET_ERR_CORRUPT on a rank that reads alone");
}

/* Damages the chunk of an array; then the calls that read the part, or an element of it, say so. */
static void run_damage(const char *path, void (*damage)(const char *file_name), const parapet_part *part,
                       int part_count)
{
    char url[700];
    parapet_store_options options = {
        .memory_bytes = 2 << 20, .local_bytes = 2 << 20, .transport = PARAPET_TRANSPORT_MESSAGES};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    (void)snprintf(url, sizeof url, "%s/parts.zarr/%s/c/0/0/0", run.folder, path);
    launch_case_begin(&run, 99);
    if (run.rank == 0)
        damage(url);
    launch_barrier();
    (void)snprintf(url, sizeof url, "%s/parts.zarr", run.folder);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_READ, &options)) &&
        LAUNCH_OK(&run, parapet_array_open(&array, store, path)))
        expect_corrupt(array, part, part_count);
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, path);
}

/* A bit that is far from what is wanted, and a chunk of which little is left. */
static void run_damages(void)
{
    uint32_t value;
    int64_t start[3] = {0, 0, 7}, count[3] = {1, 1, 1}, corner[3] = {0};
    parapet_part one = {.ndim = 3, .start = start, .count = count, .data = &value};
    parapet_part all = {.ndim = 3, .start = corner, .count = shape, .data = found[0]};
    run_damage("checked", flip_bit, &one, run.rank == run.ranks - 1);
    run_damage("plain", cut_short, &all, 1);
    run_damage("checked", cut_short, &all, 1);
}

int main(int argc, char **argv)
{
    static const char *const paths[] = {"plain", "checked", "plain_small", "checked_small"};
    parapet_store *store = NULL;
    char url[600];
    int i;
    launch_start(&run, &argc, &argv, MPI_THREAD_MULTIPLE);
    for (i = 0; i < PLANES * ROWS * COLUMNS; i++)
        elements[i] = (uint32_t)i * 2654435761u;
    (void)snprintf(url, sizeof url, "%s/parts.zarr", run.folder);
    launch_case_begin(&run, 0);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_CREATE, NULL)))
        for (i = 0; i < 4; i++)
            write_array(store, paths[i], i % 2, i < 2 ? PLANES : 3);
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, "writing");
    for (i = 0; i < 24; i++)
        run_case(paths[i % 4], i);
    run_damages();
    return launch_finish(&run);
}
