/* odd_sizes.c - very many very small things: memory stays within the limit, lists included, or the call is refused
 * with a limit that then suffices.
 *
 *     odd_sizes parts COUNT NDIM MEBIBYTES      one-element parts of each rank, interleaved
 *     odd_sizes steps COUNT STEPS MEBIBYTES     the same in open steps whose parts lie elsewhere each time
 *     odd_sizes start COUNT NDIM MEBIBYTES      the same in a checkpoint beside the computation
 *     odd_sizes arrays COUNT MEBIBYTES          arrays open at once, every other one sharded
 *     odd_sizes children COUNT MEBIBYTES        groups in one group, listed and consolidated
 */
#include <inttypes.h>
#include <mpi.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resident.h"
#include "tree.h"

#define MEBIBYTE ((int64_t)1 << 20)

static int64_t slack_bytes = 48 * MEBIBYTE; /* for what does not grow with data */

static int rank, size;
static char root[256];
static int64_t resident_before;
static int is_judged = 1; /* sanitizers take memory of their own */
static int is_planned;    /* whatever is used was planned, also by a call that is refused */

static void require(int is_true, const char *words)
{
    if (is_true)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, words, parapet_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- The caller's lists ---- */

typedef struct many {
    int count, ndim;
    int64_t *starts; /* ndim of each */
    double *values;
    parapet_part *parts;
} many;

static int64_t ones[PARAPET_MAX_NDIM];

static double value_of(int64_t place)
{
    return (double)place + 0.5;
}

/* The elements of all ranks take turns, with gaps between them. */
static int64_t place_of(const many *list, int i)
{
    (void)list;
    return 2 * ((int64_t)i * size + rank);
}

static int64_t extent_of(const many *list)
{
    return 2 * (int64_t)list->count * size;
}

static void build_many(many *list, int count, int ndim)
{
    int i;
    *list = (many){.count = count, .ndim = ndim};
    list->starts = calloc((size_t)count * (size_t)ndim, sizeof list->starts[0]);
    list->values = calloc((size_t)count, sizeof list->values[0]);
    list->parts = calloc((size_t)count, sizeof list->parts[0]);
    require(list->starts != NULL && list->values != NULL && list->parts != NULL, "no memory for the test itself");
    for (i = 0; i < count; i++) {
        int64_t *start = list->starts + (size_t)i * (size_t)ndim;
        start[ndim - 1] = place_of(list, i);
        list->values[i] = value_of(start[ndim - 1]);
        list->parts[i] = (parapet_part){.ndim = ndim, .start = start, .count = ones, .data = &list->values[i]};
    }
}

/* The same in every other element. */
static void shift_many(many *list, int by)
{
    int i;
    for (i = 0; i < list->count; i++) {
        int64_t *last = list->starts + (size_t)i * (size_t)list->ndim + list->ndim - 1;
        *last = place_of(list, i) + by;
        list->values[i] = value_of(*last);
    }
}

static void clear_many(many *list)
{
    free(list->starts);
    free(list->values);
    free(list->parts);
}

static void forget_values(many *list)
{
    memset(list->values, 0, (size_t)list->count * sizeof list->values[0]);
}

static int has_values(const many *list)
{
    int i;
    for (i = 0; i < list->count; i++)
        if (list->values[i] != value_of(list->starts[(size_t)i * (size_t)list->ndim + (size_t)list->ndim - 1]))
            return 0;
    return 1;
}

/* ---- What is judged ---- */

static parapet_store *open_store(int64_t memory_bytes)
{
    parapet_store *store = NULL;
    parapet_store_options options = {.memory_bytes = memory_bytes, .durability = PARAPET_DURABILITY_LEAVE};
    require(parapet_store_open(&store, MPI_COMM_WORLD, root, PARAPET_CREATE, &options) == PARAPET_OK, "open");
    resident_before = resident_bytes("VmRSS");
    (void)resident_forget_most();
    return store;
}

static void judge(parapet_store *store, int64_t memory_bytes, const char *what)
{
    int64_t grown = resident_bytes("VmHWM") - resident_before;
    parapet_statistics statistics = {0};
    (void)parapet_store_get_statistics(store, &statistics);
    if (rank == 0)
        printf("%s: limit %.1f MiB, planned %.1f, peak %.1f, resident grew by %.1f\n", what,
               (double)memory_bytes / MEBIBYTE, (double)statistics.memory_planned_bytes / MEBIBYTE,
               (double)statistics.memory_peak_bytes / MEBIBYTE, (double)grown / MEBIBYTE);
    fflush(stdout);
    require(statistics.memory_peak_bytes <= memory_bytes, "the peak is above the limit");
    require(!is_planned || statistics.memory_peak_bytes <= statistics.memory_planned_bytes,
            "more was used than planned");
    require(statistics.memory_planned_bytes <= memory_bytes, "more was planned than the limit allows");
    require(!is_judged || grown <= memory_bytes + slack_bytes, "more memory is resident than the limit allows");
}

/* The number behind the last "at least" of the sentence, which is the same on all ranks. */
static int64_t named_limit(const char *sentence)
{
    const char *found = NULL, *next = sentence;
    while ((next = strstr(next, "at least ")) != NULL)
        found = next += strlen("at least ");
    require(found != NULL, "the refusal names no limit");
    return strtoll(found, NULL, 10);
}

/* Runs a case; when it is refused for memory, once more with the limit that the refusal names. */
typedef parapet_status (*odd_case)(parapet_store *store, many *list);

static void run(odd_case one, many *list, int64_t memory_bytes, const char *what)
{
    int attempt;
    for (attempt = 0;; attempt++) {
        parapet_store *store = open_store(memory_bytes);
        parapet_status status = one(store, list);
        char sentence[2000];
        (void)snprintf(sentence, sizeof sentence, "%s", parapet_error_message());
        judge(store, memory_bytes, what);
        if (status == PARAPET_ERR_MEMORY) {
            if (rank == 0)
                printf("refused: %s\n", sentence);
            require(attempt == 0, "the limit that the refusal named does not suffice");
            memory_bytes = named_limit(sentence);
        } else {
            require(status == PARAPET_OK, what);
        }
        require(parapet_store_close(&store) == PARAPET_OK, "close");
        if (status == PARAPET_OK)
            return;
    }
}

/* ---- The cases ---- */

static parapet_array_spec spec_of(const many *list, int64_t *shape, int64_t *chunks, int64_t *shards)
{
    int d;
    for (d = 0; d < list->ndim; d++)
        shape[d] = chunks[d] = shards[d] = 1;
    d = list->ndim - 1;
    shape[d] = extent_of(list);
    chunks[d] = 1 << 14;
    shards[d] = 1 << 18;
    return (parapet_array_spec){.type = PARAPET_FLOAT64,
                                .ndim = list->ndim,
                                .shape = shape,
                                .chunks = chunks,
                                .shards = shards,
                                .overwrite = 1};
}

static parapet_status write_and_read(parapet_array *array, many *list)
{
    parapet_status status = parapet_array_write(array, list->parts, list->count);
    if (status != PARAPET_OK)
        return status;
    forget_values(list);
    if ((status = parapet_array_read(array, list->parts, list->count)) == PARAPET_OK)
        require(has_values(list), "what was read is not what was written");
    else
        shift_many(list, 0);
    return status;
}

/* Closing keeps the sentence of the failure. */
static parapet_status move_parts(parapet_store *store, many *list)
{
    int64_t shape[PARAPET_MAX_NDIM], chunks[PARAPET_MAX_NDIM], shards[PARAPET_MAX_NDIM];
    parapet_array_spec spec = spec_of(list, shape, chunks, shards);
    parapet_array *array = NULL;
    parapet_status status;
    require(parapet_array_create(&array, store, "a", &spec) == PARAPET_OK, "create");
    status = write_and_read(array, list);
    (void)parapet_array_close(&array);
    return status;
}

static int64_t steps;

static parapet_status append_steps(parapet_store *store, many *list)
{
    int64_t shape[2] = {0, extent_of(list)}, chunks[2] = {1, 1 << 14}, shards[2] = {steps, 1 << 18}, k;
    const char *name = "u";
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_series_spec series_spec = {.count = 1, .names = &name, .specs = &spec};
    parapet_series *series = NULL;
    parapet_status status = PARAPET_OK;
    static int attempts;
    char path[16];
    (void)snprintf(path, sizeof path, "run%d", attempts++);
    require(parapet_series_create(&series, store, path, &series_spec) == PARAPET_OK, "series");
    for (k = 0; k < steps && status == PARAPET_OK; k++) {
        parapet_step step = {.parts = list->parts, .part_count = list->count};
        shift_many(list, (int)(k % 2));
        status = parapet_series_append(series, (double)k, &step);
    }
    (void)parapet_series_close(&series);
    return status;
}

static parapet_status start_checkpoint(parapet_store *store, many *list)
{
    int64_t shape[PARAPET_MAX_NDIM], chunks[PARAPET_MAX_NDIM], shards[PARAPET_MAX_NDIM], generation;
    parapet_array_spec spec = spec_of(list, shape, chunks, shards);
    parapet_checkpoint_item item = {.name = "a", .spec = &spec, .parts = list->parts, .part_count = list->count};
    parapet_checkpoint *checkpoint = NULL;
    parapet_request *request = NULL;
    parapet_status status;
    spec.overwrite = 0;
    require(parapet_checkpoint_begin(&checkpoint, store, "state", NULL) == PARAPET_OK, "begin");
    status = parapet_checkpoint_start(&request, &checkpoint, &item, 1, PARAPET_BUFFERING_COPY, &generation);
    if (status == PARAPET_OK)
        return parapet_request_wait(&request);
    (void)parapet_checkpoint_abort(&checkpoint);
    return status;
}

/* What an open array may take, whatever the limit. */
#define ARRAY_BYTES ((int64_t)12 << 10)
#define ARRAYS_AT_ONCE 500

static int array_count;

static parapet_status create_some(parapet_store *store, parapet_array **arrays, int first, int count)
{
    static const int64_t extent = 4, one = 1;
    parapet_array_spec specs[ARRAYS_AT_ONCE];
    const char *paths[ARRAYS_AT_ONCE];
    char names[ARRAYS_AT_ONCE][32];
    int i;
    for (i = 0; i < count; i++) {
        (void)snprintf(names[i], sizeof names[i], "group/a%d", first + i);
        paths[i] = names[i];
        specs[i] = (parapet_array_spec){.type = PARAPET_FLOAT64,
                                        .ndim = 1,
                                        .shape = &extent,
                                        .chunks = i % 2 == 0 ? NULL : &one,
                                        .shards = i % 2 == 0 ? NULL : &extent,
                                        .overwrite = 1};
    }
    return parapet_arrays_create(arrays + first, store, paths, specs, count);
}

static parapet_status hold_arrays(parapet_store *store, many *list)
{
    parapet_array **arrays = calloc((size_t)array_count, sizeof arrays[0]);
    parapet_status status = PARAPET_OK;
    int64_t grown;
    int count = 0, more;
    (void)list;
    require(arrays != NULL, "no memory for the test itself");
    for (; count < array_count && status == PARAPET_OK; count += status == PARAPET_OK ? more : 0) {
        more = array_count - count < ARRAYS_AT_ONCE ? array_count - count : ARRAYS_AT_ONCE;
        status = create_some(store, arrays, count, more);
    }
    grown = resident_bytes("VmRSS") - resident_before;
    require(!is_judged || grown <= count * ARRAY_BYTES + 4 * MEBIBYTE, "open arrays take too much memory");
    (void)parapet_arrays_close(arrays, count);
    free(arrays);
    return status;
}

static int child_count;

/* As another program would, in a moment. */
static void make_child(int number)
{
    static const char document[] = "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {}}";
    char path[400];
    FILE *file;
    (void)snprintf(path, sizeof path, "%s/group/c%d", root, number);
    (void)mkdir(path, 0777);
    (void)strcat(path, "/zarr.json");
    require((file = fopen(path, "w")) != NULL && fputs(document, file) >= 0 && fclose(file) == 0, "make a child");
}

static int count_child(void *context, const char *name, parapet_node_kind kind)
{
    (void)name;
    *(int *)context += kind == PARAPET_NODE_GROUP;
    return 0;
}

static parapet_status list_children(parapet_store *store, many *list)
{
    parapet_group *group = NULL;
    parapet_status status = parapet_group_create(&group, store, "group", 0);
    int i, listed = 0;
    (void)list;
    if (status == PARAPET_ERR_EXISTS)
        status = parapet_group_open(&group, store, "group");
    for (i = rank; i < child_count && status == PARAPET_OK; i += size)
        make_child(i);
    MPI_Barrier(MPI_COMM_WORLD);
    if (status == PARAPET_OK && (status = parapet_group_list(group, count_child, &listed)) == PARAPET_OK) {
        require(listed == child_count, "not all children were listed");
        status = parapet_group_consolidate(group);
    }
    (void)parapet_group_close(&group);
    return status;
}

/* ---- The program ---- */

static int64_t number_of(int argc, char **argv, int index)
{
    require(index < argc, "too few arguments");
    return strtoll(argv[index], NULL, 10);
}

static void run_named(int argc, char **argv)
{
    const char *name = argv[1];
    int64_t memory_bytes = number_of(argc, argv, argc - 1) * MEBIBYTE;
    many list = {0};
    if (strcmp(name, "children") == 0)
        slack_bytes = 16 * MEBIBYTE; /* there is little else */
    if (strcmp(name, "arrays") == 0 || strcmp(name, "children") == 0) {
        is_planned = 1;
        array_count = child_count = (int)number_of(argc, argv, 2);
        run(strcmp(name, "arrays") == 0 ? hold_arrays : list_children, &list, memory_bytes, name);
        return;
    }
    steps = number_of(argc, argv, 3);
    build_many(&list, (int)number_of(argc, argv, 2), strcmp(name, "steps") == 0 ? 1 : (int)steps);
    run(strcmp(name, "steps") == 0   ? append_steps
        : strcmp(name, "start") == 0 ? start_checkpoint
                                     : move_parts,
        &list, memory_bytes, name);
    clear_many(&list);
}

int main(int argc, char **argv)
{
    const char *folder = getenv("TMPDIR");
    int d, provided, identity = (int)getpid();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&identity, 1, MPI_INT, 0, MPI_COMM_WORLD);
    is_judged = getenv("PARAPET_TEST_SANITIZED") == NULL || *getenv("PARAPET_TEST_SANITIZED") == '\0';
    for (d = 0; d < PARAPET_MAX_NDIM; d++)
        ones[d] = 1;
    (void)snprintf(root, sizeof root, "%s/parapet-odd-sizes-%d", folder != NULL ? folder : "/dev/shm", identity);
    require(argc > 2, "parts, steps, start, arrays or children?");
    run_named(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        tree_remove(root);
    MPI_Finalize();
    return 0;
}
