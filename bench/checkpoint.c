/* A checkpoint of four arrays with all guarantees, and the bare limit, on the case of case.h.
 *
 *   fpp          a file per rank in a fresh folder, 8 MiB at a time; fsync of the file, the folder and the one above
 *   fpp_direct   the same with O_DIRECT
 *   parapet      begin, put, commit, as one does it with all options left alone; then the newest is restored.
 *                words: shards=blocks (one for each block of a rank; else as Parapet chooses)
 *   beside       what of it is hidden behind computation; see checkpoint_beside.c */
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "own_file.h"

#define FOLDER "bare"

static void bare_write(const bench_case *c, int flags)
{
    char folder[BENCH_PATH_BYTES];
    bench_path(c, FOLDER, folder);
    if (c->rank == 0 && mkdir(folder, 0777) != 0)
        bench_die(folder, strerror(errno));
    bench_wait_for_all();
    bench_own_file_write(c, FOLDER, flags);
    bench_flush(folder);
    bench_wait_for_all();
    if (c->rank == 0)
        bench_flush(c->directory);
}

static void fpp_write(const bench_case *c)
{
    bare_write(c, 0);
}

static void fpp_read(const bench_case *c)
{
    bench_own_file_read(c, FOLDER, 0);
}

static void fpp_direct_write(const bench_case *c)
{
    bare_write(c, O_DIRECT);
}

static void fpp_direct_read(const bench_case *c)
{
    bench_own_file_read(c, FOLDER, O_DIRECT);
}

void bench_must(parapet_status status, const char *what)
{
    if (status != PARAPET_OK)
        bench_die(what, parapet_error_message());
}

void bench_items_init(bench_items *items, const bench_case *c)
{
    int has_shards = strcmp(bench_option(c, "shards", "chosen"), "blocks") == 0;
    bench_state_arrays(c, items->arrays);
    for (int i = 0; i < BENCH_ARRAY_COUNT; i++) {
        const bench_array *array = &items->arrays[i];
        items->specs[i] = (parapet_array_spec){.type = PARAPET_FLOAT64,
                                               .ndim = 3,
                                               .shape = array->shape,
                                               .shards = has_shards ? array->count : NULL,
                                               .codec = "none"};
        items->parts[i] =
            (parapet_part){.ndim = 3, .start = array->start, .count = array->count, .data = array->data};
        items->items[i] = (parapet_checkpoint_item){
            .name = array->name, .spec = &items->specs[i], .parts = &items->parts[i], .part_count = 1};
    }
}

parapet_store *bench_store_open(const bench_case *c, parapet_mode mode, const parapet_store_options *options)
{
    char path[BENCH_PATH_BYTES];
    parapet_store *store = NULL;
    bench_path(c, "parapet.zarr", path);
    bench_must(parapet_store_open(&store, MPI_COMM_WORLD, path, mode, options), "opening the store");
    return store;
}

void bench_checkpoint_put(parapet_store *store, const bench_items *items)
{
    parapet_checkpoint *checkpoint = NULL;
    bench_must(parapet_checkpoint_begin(&checkpoint, store, BENCH_CHECKPOINT_PATH, NULL), "beginning");
    bench_must(parapet_checkpoint_put(checkpoint, items->items, BENCH_ARRAY_COUNT), "putting");
    bench_must(parapet_checkpoint_attribute_set(checkpoint, "step", "4711"), "setting an attribute");
    bench_must(parapet_checkpoint_commit(&checkpoint, NULL), "committing");
}

void bench_checkpoint_restore(const bench_case *c)
{
    parapet_store *store = bench_store_open(c, PARAPET_READ, NULL);
    parapet_restore *restore = NULL;
    bench_items items;
    bench_items_init(&items, c);
    bench_must(parapet_restore_open(&restore, store, BENCH_CHECKPOINT_PATH, 0), "opening the checkpoint");
    bench_must(parapet_restore_get(restore, items.items, BENCH_ARRAY_COUNT), "getting");
    bench_must(parapet_restore_close(&restore), "closing the checkpoint");
    bench_must(parapet_store_close(&store), "closing the store");
}

static int64_t crossed_bytes;

static int64_t parapet_bench_crossed(void)
{
    return crossed_bytes;
}

static void parapet_bench_write(const bench_case *c)
{
    parapet_store *store = bench_store_open(c, PARAPET_CREATE, NULL);
    parapet_statistics statistics;
    bench_items items;
    bench_items_init(&items, c);
    bench_checkpoint_put(store, &items);
    bench_must(parapet_store_get_statistics(store, &statistics), "statistics");
    crossed_bytes = statistics.message_bytes + statistics.direct_bytes;
    bench_must(parapet_store_close(&store), "closing the store");
}

/* Only a checkpoint beside the computation needs threads in MPI, which may cost the others something. */
static void start_mpi(int *argc, char ***argv)
{
    int is_beside = *argc > 1 && strcmp((*argv)[1], "beside") == 0, level;
    MPI_Init_thread(argc, argv, is_beside ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &level);
    if (is_beside && level != MPI_THREAD_MULTIPLE)
        bench_die("beside", "this MPI has no MPI_THREAD_MULTIPLE");
}

int main(int argc, char **argv)
{
    static const bench_method methods[] = {{.name = "fpp", .write = fpp_write, .read = fpp_read},
                                           {.name = "fpp_direct", .write = fpp_direct_write, .read = fpp_direct_read},
                                           {.name = "parapet",
                                            .write = parapet_bench_write,
                                            .read = bench_checkpoint_restore,
                                            .crossed = parapet_bench_crossed},
                                           {.name = "beside",
                                            .write = bench_beside_write,
                                            .read = bench_checkpoint_restore,
                                            .finish = bench_beside_finish},
                                           {0}};
    start_mpi(&argc, &argv);
    return bench_main(argc, argv, methods);
}
