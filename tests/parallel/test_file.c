/* A file of another format that ranks write together: its bytes are right although they may use unequally much
 * memory, progress goes forward on all of them, and one of them can give it up for all.
 *
 *     test_file */
#include <dirent.h>
#include <parapet.h>
#include <stdio.h>
#include <string.h>

#include "launch.h"

enum { ROWS = 2000, COLUMNS = 1000, HEADER = 128 };

static launch run;
static int32_t field[ROWS * COLUMNS];

/* The reports to one rank. */
static struct {
    int64_t count, last, total;
    bool is_wrong, gives_up;
} reports;

static int note(void *context, int64_t done, int64_t total)
{
    (void)context;
    reports.is_wrong = reports.is_wrong || done < reports.last || done > total;
    reports.last = done;
    reports.total = total;
    reports.count++;
    return reports.gives_up && reports.count > 1;
}

static void write_source(const char *url)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {170, 330}, start[2] = {0, 0};
    const int64_t count[2] = {run.rank == 0 ? ROWS : 0, COLUMNS};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = field};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    int32_t i;
    for (i = 0; i < ROWS * COLUMNS; i++)
        field[i] = i;
    if (!LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_CREATE, NULL)))
        return;
    if (LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec)))
        (void)LAUNCH_OK(&run, parapet_array_write(array, &part, 1));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
}

static bool is_file_right(const char *path)
{
    static int32_t found[ROWS * COLUMNS];
    FILE *file = fopen(path, "rb");
    bool is_right = file != NULL && fseek(file, HEADER, SEEK_SET) == 0 && fread(found, sizeof found, 1, file) == 1 &&
                    fgetc(file) == EOF && memcmp(found, field, sizeof field) == 0;
    if (file != NULL)
        (void)fclose(file);
    return is_right;
}

static int entries(void)
{
    DIR *listing = opendir(run.folder);
    int count = 0;
    while (listing != NULL && readdir(listing) != NULL)
        count++;
    if (listing != NULL)
        (void)closedir(listing);
    return count - 2;
}

static void check_whole(parapet_store *store, const char *path)
{
    parapet_file_request request = {.source = store, .source_path = "a", .file = path, .verify = 1};
    memset(&reports, 0, sizeof reports);
    (void)LAUNCH_OK(&run, parapet_file_write(&request, NULL));
    launch_expect(&run, !reports.is_wrong && reports.count > 2, "progress goes forward");
    launch_expect(&run, reports.last == reports.total && reports.total == 2 * (int64_t)sizeof field,
                  "progress ends with everything");
    if (run.rank == 0)
        launch_expect(&run, is_file_right(path), "the file has the elements");
    launch_expect(&run, LAUNCH_AGREED(&run, parapet_file_write(&request, NULL)) == PARAPET_ERR_EXISTS,
                  "a file that exists is refused");
}

static void check_given_up(parapet_store *store, const char *path)
{
    parapet_file_request request = {.source = store, .source_path = "a", .file = path};
    memset(&reports, 0, sizeof reports);
    reports.gives_up = run.rank == run.ranks - 1;
    launch_expect(&run, LAUNCH_AGREED(&run, parapet_file_write(&request, NULL)) == PARAPET_ERR_CANCELLED,
                  "one rank gives up for all");
    launch_barrier();
    launch_expect(&run, entries() == 2, "nothing is left of what was given up");
}

/* A shard has no document beside it; the one of its array is above. */
static void check_inside_store(parapet_store *store, const char *url)
{
    char path[700];
    parapet_file_request request = {.source = store, .source_path = "a", .file = path, .overwrite = 1};
    (void)snprintf(path, sizeof path, "raw:%s/a/c/0", url);
    launch_expect(&run, LAUNCH_AGREED(&run, parapet_file_write(&request, NULL)) == PARAPET_ERR_ARGUMENT,
                  "a shard is not replaced");
}

int main(int argc, char **argv)
{
    parapet_store_options options = {.progress = note};
    parapet_store *store = NULL;
    char url[600], path[600], other[600];
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    (void)snprintf(url, sizeof url, "%s/a.zarr", run.folder);
    (void)snprintf(path, sizeof path, "%s/a.npy", run.folder);
    (void)snprintf(other, sizeof other, "%s/b.npy", run.folder);
    options.memory_bytes = (int64_t)(run.rank % 2 + 1) * 4 << 20;
    launch_case_begin(&run, 0);
    write_source(url);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_READ, &options))) {
        check_whole(store, path);
        check_given_up(store, other);
        check_inside_store(store, url);
        (void)LAUNCH_OK(&run, parapet_store_close(&store));
    }
    (void)launch_case_end(&run, "a file that all ranks write");
    return launch_finish(&run);
}
