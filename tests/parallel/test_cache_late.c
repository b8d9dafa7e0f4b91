/* Storage that shows a process what others have published only later, as network file systems do: owners that change
 * from call to call read the past, and lose what others wrote when they keep the rest of a shard; owners in turn do
 * neither, with or without a cache, because each sees its own work.
 *
 *     test_cache_late */
#include <parapet.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/open.h"
#include "launch.h"
#include "stores/wrapper.h"

enum { ROWS = 8, SHARDS = 4, COLUMNS = 4 * SHARDS, FIRST_ROWS = 6 };

static launch run;
static char folder[600]; /* of the store */
static bool is_late;

/* ---- A store that is late ---- */

static pp_store_ops ordinary;

/* Where the object lies that this rank does not know to be replaced by another one. */
static void name_past(char *name, const char *key, int publisher)
{
    char *at;
    (void)snprintf(name, 300, "past/%d/%s", publisher, key);
    for (at = strstr(name, key); *at != '\0'; at++)
        if (*at == '/')
            *at = '_';
}

static const char *seen_key(const char *key, char *past)
{
    char path[1000];
    name_past(past, key, 1 - run.rank);
    (void)snprintf(path, sizeof path, "%s/%s", folder, past);
    return is_late && access(path, F_OK) == 0 ? past : key;
}

static parapet_status late_open(pp_store *store, const char *key, pp_reader **reader)
{
    char past[300];
    return ordinary.open(store, seen_key(key, past), reader);
}

static uint64_t late_version(pp_store *store, const char *key)
{
    char past[300];
    return ordinary.version != NULL ? ordinary.version(store, seen_key(key, past)) : 0;
}

static void keep_past(const char *key)
{
    char past[300], from[1000], to[1000];
    name_past(past, key, run.rank);
    (void)snprintf(from, sizeof from, "%s/%s", folder, key);
    (void)snprintf(to, sizeof to, "%s/%s", folder, past);
    (void)link(from, to); /* unless there is one already, which is older */
}

static parapet_status late_begin(pp_wrapper *wrapper, pp_operation *operation)
{
    (void)wrapper;
    if (is_late && strcmp(operation->name, "publish") == 0)
        keep_past(operation->key);
    return PARAPET_OK;
}

static parapet_status late_end(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status)
{
    (void)wrapper, (void)operation;
    return status;
}

static void late_free(pp_wrapper *wrapper)
{
    (void)wrapper;
}

static const pp_wrapper_hooks late_hooks = {.name = "late", .begin = late_begin, .end = late_end, .free = late_free};

static void build_late(pp_wrapper *made, pp_store *inner)
{
    pp_wrapper_init(made, inner, &late_hooks);
    ordinary = made->ops;
    made->ops.open = late_open;
    made->ops.version = late_version;
}

/* ---- What is read and written ---- */

static int32_t values[ROWS * COLUMNS];

/* These rows, all of them held by one rank. */
static parapet_part rows_of(int64_t *start, int64_t *count, int64_t first, int64_t rows, int holder)
{
    start[0] = first;
    start[1] = 0;
    count[0] = run.rank == holder ? rows : 0;
    count[1] = COLUMNS;
    return (parapet_part){.ndim = 2, .start = start, .count = count, .data = values};
}

static void write_rows(parapet_array *array, int64_t first, int64_t rows, int holder, int32_t value)
{
    int64_t start[2], count[2], i;
    parapet_part part = rows_of(start, count, first, rows, holder);
    for (i = 0; i < rows * COLUMNS; i++)
        values[i] = value;
    (void)LAUNCH_OK(&run, parapet_array_write(array, &part, 1));
}

/* How many of the rows do not have this value. */
static int64_t count_wrong(parapet_array *array, int64_t first, int64_t rows, int holder, int32_t value)
{
    int64_t start[2], count[2], wrong = 0, i;
    parapet_part part = rows_of(start, count, first, rows, holder);
    memset(values, 0, sizeof values);
    (void)LAUNCH_OK(&run, parapet_array_read(array, &part, 1));
    for (i = 0; run.rank == holder && i < rows * COLUMNS; i++)
        wrong += values[i] != value;
    launch_sum(&wrong, 1);
    return wrong;
}

typedef struct harm {
    int64_t stale, lost; /* elements */
} harm;

/* Rank 0 writes most of every shard, rank 1 reads it and writes the rest; then everybody sees everything. */
static harm use_late(parapet_array *array)
{
    harm done;
    write_rows(array, 0, ROWS, 0, 1);
    launch_barrier();
    is_late = true;
    write_rows(array, 0, FIRST_ROWS, 0, 2);
    done.stale = count_wrong(array, 0, FIRST_ROWS, 1, 2);
    write_rows(array, FIRST_ROWS, ROWS - FIRST_ROWS, 1, 3);
    launch_barrier();
    is_late = false;
    done.lost = count_wrong(array, 0, FIRST_ROWS, 0, 2) + count_wrong(array, FIRST_ROWS, ROWS - FIRST_ROWS, 1, 3);
    return done;
}

/* ---- A case ---- */

static void make_folders(const char *name)
{
    char path[700];
    int i;
    (void)snprintf(folder, sizeof folder, "%s/%s", run.folder, name);
    launch_barrier();
    for (i = -2; i < run.ranks && run.rank == 0; i++) {
        if (i < 0)
            (void)snprintf(path, sizeof path, "%s%s", folder, i == -1 ? "/past" : "");
        else
            (void)snprintf(path, sizeof path, "%s/past/%d", folder, i);
        launch_expect(&run, mkdir(path, 0777) == 0, path);
    }
    launch_barrier();
}

static harm run_over(pp_store *late, const parapet_store_options *options)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {2, 4}, shards[2] = {ROWS, 4};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    harm done = {-1, -1};
    if (LAUNCH_OK(&run, pp_store_open_over(&store, MPI_COMM_WORLD, late, PARAPET_CREATE, options)) &&
        LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec)))
        done = use_late(array);
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    return done;
}

static void run_case(const char *name, const parapet_store_options *options, bool is_harmed)
{
    pp_posix_options posix = {.not_durable = true};
    pp_store *inner = NULL;
    pp_wrapper late;
    harm done;
    launch_case_begin(&run, 1);
    make_folders(name);
    if (pp_store_posix_build(&inner, folder, &posix) == PARAPET_OK) {
        build_late(&late, inner);
        done = run_over(&late.store, options);
        pp_store_free(inner);
        launch_expect(&run, is_harmed ? done.stale > 0 : done.stale == 0, "who reads the past");
        launch_expect(&run, is_harmed ? done.lost > 0 : done.lost == 0, "who loses an update");
        if (run.rank == 0)
            printf("%s: %lld elements of the past were read, %lld updates lost\n", name, (long long)done.stale,
                   (long long)done.lost);
    }
    (void)launch_case_end(&run, name);
}

int main(int argc, char **argv)
{
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    run_case("nearest", &(parapet_store_options){.owners = PARAPET_OWNERS_NEAREST}, true);
    run_case("descriptions", &(parapet_store_options){.keep_descriptions = 1}, false);
    run_case("cache", &(parapet_store_options){.keep_descriptions = 1, .cache_bytes = 1 << 20}, false);
    return launch_finish(&run);
}
