/* copy_ranks.c - copies that take a second or so, under the launcher, to be killed.
 *
 *     copy_ranks make FOLDER                              FOLDER/source: an array "a", and a group "g" with three
 *     copy_ranks plan KIND FOLDER                         what would be done, as JSON
 *     copy_ranks copy KIND FOLDER TARGET [resume] [verify]   to FOLDER/TARGET; prints one line of JSON
 *
 * Every rank leaves a file FOLDER/pids/<its process number>. */
#include <inttypes.h>
#include <mpi.h>
#include <parapet.h>
#include <parapet_plan.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NDIM = 3, PARTS = 8 };

/* How a copy is made. */
typedef struct copy_kind {
    const char *name, *path;
    parapet_copy_changes changes;
    int64_t passes;
    parapet_cooperation cooperation;
} copy_kind;

static const copy_kind kinds[] = {
    {"alone", "a", {.chunks = "32,16,32", .shards = "64,64,128", .codec = "zstd:9"}, 1, 1},
    {"two", "a", {.chunks = "64,8,16", .shards = "64,32,64", .codec = "zstd:9"}, 2, 1},
    {"together", "a", {.chunks = "16,32,16", .shards = "64,64,64", .codec = "zstd:9"}, 1, 2},
    {"unsharded", "a", {.chunks = "32,16,32", .shards = "none", .order = "2,-0,1", .codec = "zstd:9"}, 1, 1},
    {"group", "g", {.chunks = "32,16,32", .shards = "32,64,64", .codec = "zstd:9"}, 0, 0},
};

static const char *folder;
static int rank;

static void require(parapet_status status)
{
    if (status == PARAPET_OK)
        return;
    fprintf(stderr, "copy_ranks: %s: %s\n", parapet_status_name(status), parapet_error_message());
    exit(1);
}

static const copy_kind *find_kind(const char *name)
{
    size_t i;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    fprintf(stderr, "copy_ranks: there is no kind %s\n", name);
    exit(2);
}

static parapet_store *open_store(const char *name, parapet_mode mode)
{
    parapet_store_options options = {.memory_bytes = 8 << 20};
    parapet_store *store = NULL;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    require(parapet_store_open(&store, MPI_COMM_WORLD, path, mode, &options));
    return store;
}

/* Values that compress, but not without effort. */
static void write_array(parapet_store *store, const char *path, const int64_t *shape)
{
    static const int64_t chunks[NDIM] = {16, 32, 32}, shards[NDIM] = {32, 128, 128};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT32, .ndim = NDIM, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    int64_t start[NDIM] = {0}, count[NDIM] = {shape[0] / PARTS, shape[1], shape[2]};
    int64_t elements = count[0] * count[1] * count[2], i;
    float *values = malloc((size_t)elements * sizeof values[0]);
    parapet_part part = {.ndim = NDIM, .start = start, .count = count, .data = values};
    parapet_array *array = NULL;
    uint64_t state = 88172645463325252;
    require(parapet_array_create(&array, store, path, &spec));
    for (; start[0] < shape[0]; start[0] += count[0]) {
        for (i = 0; i < elements; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            values[i] = (float)(i % 977) + (float)(state % 64);
        }
        require(parapet_array_write(array, &part, 1));
    }
    free(values);
    require(parapet_array_close(&array));
}

static void make(void)
{
    static const int64_t large[NDIM] = {64, 256, 256}, small[NDIM] = {32, 128, 256};
    parapet_store *store = open_store("source", PARAPET_CREATE);
    parapet_group *group = NULL;
    require(parapet_group_create(&group, store, "g", "{\"title\": \"three arrays\"}"));
    require(parapet_group_close(&group));
    write_array(store, "a", large);
    write_array(store, "g/first", small);
    write_array(store, "g/second", small);
    write_array(store, "g/third", small);
    require(parapet_store_close(&store));
}

static parapet_copy_request request_of(const copy_kind *kind, const char *target)
{
    return (parapet_copy_request){.source = open_store("source", PARAPET_READ),
                                  .source_path = kind->path,
                                  .target = open_store(target, PARAPET_CREATE),
                                  .target_path = "copy",
                                  .changes = kind->changes,
                                  .unit_bytes = 1 << 18,
                                  .passes = kind->passes,
                                  .cooperation = kind->cooperation,
                                  .no_probe = 1};
}

static void close_stores(parapet_copy_request *request)
{
    require(parapet_store_close(&request->target));
    require(parapet_store_close(&request->source));
}

static void plan(const copy_kind *kind)
{
    parapet_copy_request request = request_of(kind, "planned");
    char *text = NULL;
    require(parapet_copy_request_plan_print(&request, 1, &text, NULL));
    if (rank == 0)
        fputs(text, stdout);
    parapet_free(text);
    close_stores(&request);
}

static void copy(const copy_kind *kind, const char *target, bool resumes, bool verifies)
{
    parapet_copy_request request = request_of(kind, target);
    parapet_copy_result result = {0};
    parapet_status status;
    request.resume = resumes;
    request.verify = verifies;
    status = parapet_copy(&request, &result);
    if (rank == 0) {
        printf("{\"status\": \"%s\", \"templates_resumed\": %" PRId64 ", \"chunks_written\": %" PRId64
               ", \"passes\": %" PRId64 ", \"verified_bytes\": %" PRId64 "}\n",
               parapet_status_name(status), result.templates_resumed, result.chunks_written, result.passes,
               result.verified_bytes);
        if (status != PARAPET_OK)
            fprintf(stderr, "%s\n", parapet_error_message());
    }
    close_stores(&request);
}

static void leave_number(void)
{
    char path[600];
    FILE *file;
    (void)snprintf(path, sizeof path, "%s/pids/%ld", folder, (long)getpid());
    if ((file = fopen(path, "w")) != NULL)
        (void)fclose(file);
}

int main(int argc, char **argv)
{
    bool resumes = false, verifies = false;
    int i;
    if (argc < 3)
        return 2;
    folder = strcmp(argv[1], "make") == 0 ? argv[2] : argv[3];
    leave_number();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (i = 5; i < argc; i++) {
        resumes = resumes || strcmp(argv[i], "resume") == 0;
        verifies = verifies || strcmp(argv[i], "verify") == 0;
    }
    if (strcmp(argv[1], "make") == 0)
        make();
    else if (strcmp(argv[1], "plan") == 0)
        plan(find_kind(argv[2]));
    else
        copy(find_kind(argv[2]), argv[4], resumes, verifies);
    MPI_Finalize();
    return 0;
}
