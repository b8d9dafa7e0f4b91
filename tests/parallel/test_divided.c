/* Lists that are too long for the shards that servers could write at once: shards are divided, and written in several
 * passes. Of two shards with one home the one that is listed in full needs nothing of what is stored, which may be
 * damaged, while the other one keeps some of it; and a shard that would not fit if it stayed open between passes is
 * written as a whole. Runs under the launcher. */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "plan/lattice.h"

static launch run;

/* ---- Two shards of one home ---- */

enum { SIDE = 600, CHUNK = 40, SERVERS = 4, SHARDS_MOST = 9, SHARD = SIDE * SIDE };

typedef struct pair {
    int64_t columns;       /* of shards; there are three rows */
    int64_t first, second; /* that have one home, of those that would be divided together */
} pair;

static bool find_pair(int64_t columns, pair *found)
{
    const int64_t cells[2] = {3, columns};
    pp_lattice lattice;
    int64_t i, j;
    if (pp_lattice_choose(&lattice, 2, cells, SERVERS) != PARAPET_OK)
        return false;
    for (i = 0; i < SERVERS; i++)
        for (j = i + 1; j < SERVERS; j++)
            if (pp_lattice_turn(&lattice, 2, (int64_t[]){i / columns, i % columns}, SERVERS) ==
                pp_lattice_turn(&lattice, 2, (int64_t[]){j / columns, j % columns}, SERVERS)) {
                *found = (pair){.columns = columns, .first = i, .second = j};
                return true;
            }
    return false;
}

/* The flat index of an element of a shard. */
static int64_t element_of(const pair *of, int64_t shard, int64_t number)
{
    int64_t row = shard / of->columns * SIDE + number / SIDE, column = shard % of->columns * SIDE + number % SIDE;
    return row * of->columns * SIDE + column;
}

static bool is_listed(int64_t number, bool in_full)
{
    return in_full || number % 7 != 0;
}

/* This rank's share of the shard that is listed in full, and of the other one, in no order. */
static int64_t list_pair(const pair *of, int64_t full, int64_t *starts, int32_t *values)
{
    int64_t i, shard, count = 0;
    for (i = run.rank; i < SHARD; i += run.ranks)
        for (shard = of->first; shard <= of->second; shard += of->second - of->first) {
            int64_t number = i * 7919 % SHARD;
            if (!is_listed(number, shard == full))
                continue;
            starts[count] = element_of(of, shard, number);
            values[count] = (int32_t)(starts[count] + 1);
            count++;
        }
    return count;
}

static void write_pair(const pair *of, int64_t full, const char *url)
{
    const parapet_store_options options = {.memory_bytes = 6 << 20, .servers = SERVERS};
    int64_t *starts = calloc(2 * SHARD, sizeof *starts);
    int32_t *values = calloc(2 * SHARD, sizeof *values);
    parapet_runs runs = {.count = list_pair(of, full, starts, values), .starts = starts, .data = values};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_UPDATE, &options)) &&
        LAUNCH_OK(&run, parapet_array_open(&array, store, "a")))
        (void)LAUNCH_OK(&run, parapet_array_write_runs(array, &runs));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    free(starts);
    free(values);
}

static void create_pair(const pair *of, const char *url)
{
    const int64_t shape[2] = {3 * SIDE, of->columns * SIDE}, chunks[2] = {CHUNK, CHUNK}, shards[2] = {SIDE, SIDE};
    const int64_t start[2] = {0};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    int32_t *values = calloc((size_t)(shape[0] * shape[1]), sizeof *values);
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = values};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    int64_t i;
    for (i = 0; i < shape[0] * shape[1]; i++)
        values[i] = (int32_t)-i;
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_CREATE, NULL)) &&
        LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec)))
        (void)LAUNCH_OK(&run, parapet_array_write(array, &part, run.rank == 0));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    free(values);
}

static void damage(const pair *of, int64_t shard, const char *url)
{
    char name[700];
    (void)snprintf(name, sizeof name, "%s/a/c/%lld/%lld", url, (long long)(shard / of->columns),
                   (long long)(shard % of->columns));
    if (run.rank == 0)
        launch_expect(&run, truncate(name, 100) == 0, "a shard to cut short");
    launch_barrier();
}

static void check_pair(const pair *of, int64_t full, const char *url)
{
    const int64_t shape[2] = {3 * SIDE, of->columns * SIDE}, start[2] = {0};
    int32_t *values = calloc((size_t)(shape[0] * shape[1]), sizeof *values);
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = values};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    int64_t shard, i, wrong = 0;
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_READ, NULL)) &&
        LAUNCH_OK(&run, parapet_array_open(&array, store, "a")))
        (void)LAUNCH_OK(&run, parapet_array_read(array, &part, run.rank == 0));
    for (shard = 0; shard < 3 * of->columns && run.rank == 0; shard++)
        for (i = 0; i < SHARD; i++) {
            int64_t element = element_of(of, shard, i);
            bool is_new = (shard == of->first || shard == of->second) && is_listed(i, shard == full);
            wrong += values[element] != (is_new ? (int32_t)(element + 1) : (int32_t)-element);
        }
    launch_expect(&run, wrong == 0, "new elements where they are listed, old ones elsewhere");
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    free(values);
}

static void test_divided__one_of_two_shards_of_a_home_is_listed_in_full(void)
{
    pair of = {0};
    int64_t columns, full;
    char url[600];
    int turn;
    for (columns = 1; columns <= SHARDS_MOST / 3 && of.columns == 0; columns++)
        (void)find_pair(columns, &of);
    launch_expect(&run, of.columns > 0, "two shards of one home");
    for (turn = 0; turn < 2 && of.columns > 0; turn++) {
        full = turn == 0 ? of.first : of.second;
        (void)snprintf(url, sizeof url, "%s/pair%d.zarr", run.folder, turn);
        create_pair(&of, url);
        damage(&of, full, url);
        write_pair(&of, full, url);
        check_pair(&of, full, url);
    }
}

/* ---- A shard that is taken whole ---- */

/* Lists of chunks take much, so that little is left if they stay; all that is listed is in the first chunk. */
enum { MANY_CHUNKS = 20000, CHUNK_ELEMENTS = 16000, STEP = 16 << 10, MEMORY_MOST = 64 << 20 };

static parapet_status write_first_chunks(parapet_array *array, int64_t count)
{
    int64_t *starts = calloc((size_t)count + 1, sizeof *starts), i, listed = 0;
    int8_t *values = calloc((size_t)count + 1, sizeof *values);
    parapet_runs runs = {.starts = starts, .data = values};
    parapet_status status;
    for (i = run.rank; i < count; i += run.ranks) {
        int64_t number = i * 7919 % count; /* of both shards */
        starts[listed] = number % 2 * MANY_CHUNKS * CHUNK_ELEMENTS + number / 2;
        values[listed++] = (int8_t)(number % 100 + 1);
    }
    runs.count = listed;
    status = LAUNCH_AGREED(&run, parapet_array_write_runs(array, &runs));
    free(starts);
    free(values);
    return status;
}

static bool has_first_chunks(parapet_array *array, int64_t count)
{
    static int8_t values[CHUNK_ELEMENTS];
    int64_t shard, i, start[1], extent[1] = {count / 2};
    bool is_right = true;
    for (shard = 0; shard < 2; shard++) {
        parapet_part part = {.ndim = 1, .start = start, .count = extent, .data = values};
        start[0] = shard * MANY_CHUNKS * CHUNK_ELEMENTS;
        is_right = LAUNCH_OK(&run, parapet_array_read(array, &part, 1)) && is_right;
        for (i = 0; i < count / 2; i++)
            is_right = is_right && values[i] == (int8_t)((2 * i + shard) % 100 + 1);
    }
    return is_right;
}

/* The least memory in which so many servers write the list. */
static int64_t find_least(int servers)
{
    static const int64_t shape[1] = {2 * (int64_t)MANY_CHUNKS * CHUNK_ELEMENTS}, chunks[1] = {CHUNK_ELEMENTS},
                         shards[1] = {(int64_t)MANY_CHUNKS * CHUNK_ELEMENTS};
    parapet_array_spec spec = {
        .type = PARAPET_INT8, .ndim = 1, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    parapet_store_options options = {.servers = servers};
    parapet_status status = PARAPET_ERR_MEMORY;
    char url[600];
    for (options.memory_bytes = 2 << 20; status == PARAPET_ERR_MEMORY && options.memory_bytes < MEMORY_MOST;
         options.memory_bytes += STEP) {
        parapet_store *store = NULL;
        parapet_array *array = NULL;
        (void)snprintf(url, sizeof url, "%s/whole%d-%lld.zarr", run.folder, servers, (long long)options.memory_bytes);
        if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_CREATE, &options)) &&
            LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec)))
            status = write_first_chunks(array, 2 * CHUNK_ELEMENTS);
        if (status == PARAPET_OK)
            launch_expect(&run, has_first_chunks(array, 2 * CHUNK_ELEMENTS), "what was written");
        (void)LAUNCH_OK(&run, parapet_array_close(&array));
        (void)LAUNCH_OK(&run, parapet_store_close(&store));
    }
    launch_expect(&run, status == PARAPET_OK, "a write that succeeds");
    return options.memory_bytes - STEP;
}

/* With one server no shard stays open: each is written on its own, in the least memory that there is for it. */
static void test_divided__a_shard_is_taken_whole_where_its_first_chunk_has_no_room(void)
{
    int64_t one = find_least(1), two = find_least(2);
    launch_expect(&run, two <= one + 2 * STEP, "no more memory than one server needs");
}

int main(int argc, char **argv)
{
    launch_start(&run, &argc, &argv, MPI_THREAD_MULTIPLE);
    launch_case_begin(&run, 0);
    test_divided__one_of_two_shards_of_a_home_is_listed_in_full();
    (void)launch_case_end(&run, "one of two shards of a home is listed in full");
    launch_case_begin(&run, 1);
    test_divided__a_shard_is_taken_whole_where_its_first_chunk_has_no_room();
    (void)launch_case_end(&run, "a shard is taken whole where its first chunk has no room");
    return launch_finish(&run);
}
