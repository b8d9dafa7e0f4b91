/* Nothing that somebody else has put into a store goes, whatever removes something there. Random layouts: files,
 * nodes of Zarr v2, dates as names, links, in and beside everything that collecting, overwriting, a copy that fails
 * or replaces, committing, opening a series, shrinking and removing nodes can remove.
 *
 *     foreign_bytes LAYOUTS        PARAPET_TEST_SEED repeats one */
#include "scratch.h"

#include <parapet.h>

enum { EXTENT = 16, FOLDERS_MOST = 200, FOREIGN_MOST = 24, PATH_MOST = 400 };

typedef struct layout {
    scratch made;
    parapet_store *store;
    unsigned random;
    char folders[FOLDERS_MOST][PATH_MOST];
    int folder_count;
    char foreign[FOREIGN_MOST][PATH_MOST]; /* paths of files, each of which holds its own path */
    char links[FOREIGN_MOST][PATH_MOST];   /* all of them to the file outside */
    int foreign_count, link_count;
    char outside[PATH_MOST];
} layout;

static layout all;
static double values[EXTENT];
static long layouts, files, refusals;

static unsigned draw(unsigned below)
{
    all.random = all.random * 1664525u + 1013904223u;
    return (all.random >> 8) % below;
}

/* ---- Things of our own ---- */

static parapet_array_spec spec_of(int64_t *shape, int64_t *chunks, int overwrite)
{
    return (parapet_array_spec){.type = PARAPET_FLOAT64,
                                .ndim = 1,
                                .shape = shape,
                                .chunks = chunks,
                                .shards = chunks,
                                .codec = "none",
                                .overwrite = overwrite};
}

static parapet_status make_array(const char *path, int64_t chunk, int overwrite)
{
    int64_t start[] = {0}, shape[] = {EXTENT}, chunks[] = {chunk};
    parapet_array_spec spec = spec_of(shape, chunks, overwrite);
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_create(&array, all.store, path, &spec), closed;
    if (status != PARAPET_OK)
        return status;
    values[0] = 1;
    status = parapet_array_write(array, &part, 1);
    closed = parapet_array_close(&array);
    return status != PARAPET_OK ? status : closed;
}

static parapet_status make_generation(bool commits)
{
    int64_t start[] = {0}, shape[] = {EXTENT}, chunks[] = {4};
    parapet_array_spec spec = spec_of(shape, chunks, 0);
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_checkpoint_item item = {.name = "T", .spec = &spec, .parts = &part, .part_count = 1};
    parapet_checkpoint_options options = {.keep = 1};
    parapet_checkpoint *checkpoint = NULL;
    parapet_status status = parapet_checkpoint_begin(&checkpoint, all.store, "r", &options);
    if (status != PARAPET_OK)
        return status;
    status = parapet_checkpoint_put(checkpoint, &item, 1);
    if (status != PARAPET_OK || !commits) {
        (void)parapet_checkpoint_abort(&checkpoint);
        return status;
    }
    return parapet_checkpoint_commit(&checkpoint, NULL);
}

static void make_series(void)
{
    const char *names[] = {"v"};
    int64_t start[] = {0}, count[] = {EXTENT}, shape[] = {0, EXTENT}, chunks[] = {1, EXTENT};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks};
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    parapet_step step = {.parts = &part, .part_count = 1};
    parapet_series *series = NULL;
    assert_ok(parapet_series_create(&series, all.store, "s",
                                    &(parapet_series_spec){.count = 1, .names = names, .specs = &spec}));
    assert_ok(parapet_series_append(series, 1, &step));
    assert_ok(parapet_series_append(series, 2, &step));
    assert_ok(parapet_series_close(&series));
}

/* ---- Things of others ---- */

static int note_folder(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found;
    (void)at;
    if (type == FTW_D && strstr(path, "__parapet") == NULL && all.folder_count < FOLDERS_MOST)
        (void)snprintf(all.folders[all.folder_count++], PATH_MOST, "%s", path);
    return 0;
}

static void put_file(const char *folder, const char *name)
{
    char *path = all.foreign[all.foreign_count];
    assert_true((size_t)snprintf(path, PATH_MOST, "%s/%s", folder, name) < PATH_MOST);
    if (access(path, F_OK) == 0)
        return;
    write_file(path, path);
    all.foreign_count++;
    files++;
}

static void put_link(const char *folder)
{
    char *path = all.links[all.link_count];
    assert_true((size_t)snprintf(path, PATH_MOST, "%s/link-%d", folder, all.link_count) < PATH_MOST);
    assert_int_equal(symlink(all.outside, path), 0);
    all.link_count++;
}

static void put_folder(const char *folder, const char *name)
{
    static const char *const inside[] = {".zarray", ".zgroup", "0.0", "notes.txt", "data.csv"};
    char path[PATH_MOST];
    assert_true((size_t)snprintf(path, PATH_MOST, "%s/%s", folder, name) < PATH_MOST);
    if (mkdir(path, 0777) == 0)
        put_file(path, inside[draw(5)]);
}

/* None of these is the key of a shard, or a name that only the library gives. */
static void put_something(void)
{
    static const char *const names[] = {"notes.txt", "README", "c.txt", "0.0", ".zattrs",
                                        "x.tmp",     "01",     "c0",    "-1",  ".parapet-mine.tmp"};
    static const char *const dates[] = {"g20260101", "g00000001-7", "g19991231", "g00000009", "plots"};
    char folder[PATH_MOST];
    memcpy(folder, all.folders[draw((unsigned)all.folder_count)], sizeof folder);
    switch (draw(4)) {
    case 0:
        put_folder(folder, dates[draw(5)]);
        break;
    case 1:
        put_link(folder);
        break;
    default:
        put_file(folder, names[draw(10)]);
    }
}

static void assert_whole(const char *after)
{
    char target[PATH_MOST];
    int i;
    for (i = 0; i < all.foreign_count; i++) {
        if (access(all.foreign[i], F_OK) != 0)
            fail_msg("after %s, %s is gone", after, all.foreign[i]);
        assert_file(all.foreign[i], all.foreign[i]);
    }
    for (i = 0; i < all.link_count; i++)
        if (readlink(all.links[i], target, sizeof target) < 0)
            fail_msg("after %s, the link %s is gone", after, all.links[i]);
    assert_file(all.outside, "outside");
}

/* ---- What removes ---- */

static parapet_status collect(void)
{
    return parapet_store_collect(all.store, "", 0, NULL, NULL);
}

static parapet_status overwrite(void)
{
    return make_array("a", draw(2) == 0 ? 4 : 8, 1);
}

static parapet_status copy(const char *source, const char *target, int overwrites)
{
    parapet_copy_request request = {.source = all.store,
                                    .source_path = source,
                                    .target = all.store,
                                    .target_path = target,
                                    .overwrite = overwrites,
                                    .no_probe = 1};
    request.changes.chunks = "8";
    return parapet_copy(&request, NULL);
}

static parapet_status copy_that_fails(void)
{
    return copy("damaged", "plain", 0);
}

static parapet_status copy_that_fails_to_replace(void)
{
    return copy("damaged", "a", 1);
}

static parapet_status copy_that_replaces(void)
{
    return copy("source", "a", 1);
}

static parapet_status commit(void)
{
    return make_generation(true);
}

static parapet_status give_up(void)
{
    return make_generation(false);
}

static parapet_status open_series(void)
{
    parapet_series *series = NULL;
    parapet_status status = parapet_series_open(&series, all.store, "s");
    return status == PARAPET_OK ? parapet_series_close(&series) : status;
}

static parapet_status shrink(void)
{
    int64_t shape[] = {5};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, all.store, "a"), closed;
    if (status != PARAPET_OK)
        return status;
    status = parapet_array_resize(array, shape);
    closed = parapet_array_close(&array);
    return status != PARAPET_OK ? status : closed;
}

static parapet_status remove_some(void)
{
    static const char *const paths[] = {"a", "source", "r", "s", "s/v", "plain", ""};
    return parapet_store_remove(all.store, paths[draw(7)], 1, 0, NULL, NULL);
}

/* What was just made goes, whatever lies elsewhere; a link in it stays. */
static parapet_status remove_fresh(void)
{
    char folder[PATH_MOST];
    assert_true((size_t)snprintf(folder, sizeof folder, "%s/fresh/a", all.made.root) < sizeof folder);
    assert_ok(make_array("fresh/a", 4, 1));
    put_link(folder);
    assert_ok(parapet_store_remove(all.store, "fresh", 1, 0, NULL, NULL));
    return PARAPET_OK;
}

typedef struct remover {
    const char *name;
    parapet_status (*run)(void);
} remover;

static const remover removers[] = {
    {"collecting", collect},
    {"overwriting", overwrite},
    {"a copy that fails", copy_that_fails},
    {"a copy that fails to replace", copy_that_fails_to_replace},
    {"a copy that replaces", copy_that_replaces},
    {"committing", commit},
    {"giving up a checkpoint", give_up},
    {"opening a series", open_series},
    {"shrinking", shrink},
    {"removing", remove_some},
    {"removing what was just made", remove_fresh},
};

enum { REMOVERS = sizeof removers / sizeof removers[0] };

/* ---- Layouts ---- */

static void damage(const char *name)
{
    FILE *file = fopen(scratch_path(&all.made, name), "r+");
    assert_non_null(file);
    assert_int_equal(fputc(0x55, file), 0x55);
    assert_int_equal(fclose(file), 0);
}

static void build(unsigned seed)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    unsigned things;
    all = (layout){.random = seed};
    all.made = scratch_make(SCRATCH_MEMORY);
    (void)snprintf(all.outside, sizeof all.outside, "%s/outside", all.made.path);
    write_file(all.outside, "outside");
    assert_ok(parapet_store_open(&all.store, MPI_COMM_NULL, all.made.root, PARAPET_CREATE, &options));
    assert_ok(make_array("source", 4, 0));
    assert_ok(make_array("damaged", 4, 0));
    assert_ok(make_array("a", 4, 0));
    assert_ok(make_generation(true));
    assert_ok(make_generation(true));
    make_series();
    damage("store/damaged/c/3");
    assert_int_equal(mkdir(scratch_path(&all.made, "store/plain"), 0777), 0);
    (void)nftw(all.made.root, note_folder, 16, FTW_PHYS);
    for (things = 4 + draw(12); things > 0; things--)
        put_something();
}

static void run_layout(unsigned seed)
{
    unsigned steps;
    build(seed);
    for (steps = 3 + draw(4); steps > 0; steps--) {
        const remover *next = &removers[draw(REMOVERS)];
        char name[80];
        (void)snprintf(name, sizeof name, "%s, seed %u", next->name, seed);
        refusals += next->run() != PARAPET_OK;
        assert_whole(name);
    }
    assert_ok(parapet_store_close(&all.store));
    scratch_remove(&all.made);
}

static void test_removing__leaves_what_others_have_put_there(void **context)
{
    const char *given = getenv("PARAPET_TEST_SEED");
    unsigned seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : 1;
    long i;
    (void)context;
    for (i = 0; i < (given != NULL ? 1 : layouts); i++)
        run_layout(seed + (unsigned)i);
    printf("%ld layouts, %ld foreign files, %ld calls refused, 0 foreign bytes gone\n", i, files, refusals);
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_removing__leaves_what_others_have_put_there)};
    layouts = count > 1 ? strtol(words[1], NULL, 10) : 25;
    return cmocka_run_group_tests_name("foreign_bytes", tests, NULL, NULL);
}
