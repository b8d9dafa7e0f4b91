#include "calls.h"

#include <dirent.h>
#include <sys/stat.h>

#include "support.h"
#include "tree.h"
#include "watch.h"

enum { ROWS = 10, COLUMNS = 12, MANY_EXTENT = 12, MANY_SHARD = 6 };

static const char *const many_paths[SHARED_MANY] = {"m/0", "m/1", "m/2", "m/3", "m/4"};
static const int64_t many_shape[1] = {MANY_EXTENT}, many_chunks[1] = {3}, many_shards[1] = {MANY_SHARD};
static const int32_t fill = STATE_FILL;

bool parallel_has_wrong_values;
place_record *parallel_operations;
static int rank, ranks;

static int32_t value_of(int64_t i, int64_t j, int32_t generation)
{
    return generation * 10000 + (int32_t)(i * 100 + j);
}

/* ---- one array: row i belongs to rank i modulo ranks, so that every rank has a piece of every shard ---- */

typedef struct rows {
    int64_t starts[ROWS][2];
    int64_t count[2];
    int32_t values[ROWS][COLUMNS];
    parapet_part parts[ROWS];
    int part_count;
} rows;

/* Those of the box that begins at start; shift gives them to other ranks. */
static void rows_deal(rows *dealt, const int64_t start[2], const int64_t count[2], int shift)
{
    int64_t i, j;
    *dealt = (rows){.count = {1, count[1]}};
    for (i = start[0]; i < start[0] + count[0]; i++) {
        int number = dealt->part_count;
        if ((i + shift) % ranks != rank)
            continue;
        dealt->starts[number][0] = i;
        dealt->starts[number][1] = start[1];
        for (j = 0; j < count[1]; j++)
            dealt->values[number][j] = value_of(i, start[1] + j, 2);
        dealt->parts[number] = (parapet_part){
            .ndim = 2, .start = dealt->starts[number], .count = dealt->count, .data = dealt->values[number]};
        dealt->part_count++;
    }
}

static parapet_status write_all(bed *used)
{
    static const int64_t start[2] = {0, 0}, count[2] = {ROWS, COLUMNS};
    rows dealt;
    rows_deal(&dealt, start, count, 0);
    return parapet_array_write(used->array, dealt.parts, dealt.part_count);
}

/* Covers no shard and cuts through chunks, as the call of that name in tests/fault. */
static parapet_status write_inside(bed *used)
{
    static const int64_t start[2] = {1, 4}, count[2] = {7, 6};
    rows dealt;
    rows_deal(&dealt, start, count, 1);
    return parapet_array_write(used->array, dealt.parts, dealt.part_count);
}

/* What is written may wait until then. */
static parapet_status write_and_flush(bed *used)
{
    parapet_status status = write_inside(used);
    return status == PARAPET_OK ? parapet_array_flush(used->array) : status;
}

/* Reading describes the parts, from another place in memory. */
static parapet_status write_again(bed *used)
{
    static const int64_t start[2] = {1, 4}, count[2] = {7, 6};
    parapet_status status;
    rows other;
    rows_deal(&other, start, count, 1);
    status = parapet_array_read(used->array, other.parts, other.part_count);
    return status == PARAPET_OK ? write_inside(used) : status;
}

/* The ranks disagree on nothing, so a wrong value fails the job. */
static parapet_status read_expecting(bed *used, int32_t generation)
{
    static const int64_t start[2] = {0, 0}, count[2] = {ROWS, COLUMNS};
    rows dealt;
    parapet_status status;
    int i, j;
    rows_deal(&dealt, start, count, 1);
    memset(dealt.values, 0xee, sizeof dealt.values);
    status = parapet_array_read(used->array, dealt.parts, dealt.part_count);
    for (i = 0; status == PARAPET_OK && i < dealt.part_count; i++)
        for (j = 0; j < COLUMNS; j++)
            if (dealt.values[i][j] != (generation == 0 ? STATE_FILL : value_of(dealt.starts[i][0], j, generation)))
                parallel_has_wrong_values = true;
    return status;
}

static parapet_status read_rows(bed *used)
{
    return read_expecting(used, 1);
}

/* The same as runs, one for each row. */
typedef struct listed_rows {
    int64_t starts[ROWS], lengths[ROWS];
    int32_t values[ROWS * COLUMNS];
    parapet_runs runs;
} listed_rows;

static void rows_list(listed_rows *listed, const rows *dealt)
{
    int32_t *values = listed->values;
    int64_t j;
    int i;
    for (i = 0; i < dealt->part_count; i++) {
        listed->starts[i] = dealt->starts[i][0] * COLUMNS + dealt->starts[i][1];
        listed->lengths[i] = dealt->count[1];
        for (j = 0; j < dealt->count[1]; j++)
            *values++ = dealt->values[i][j];
    }
    listed->runs = (parapet_runs){
        .count = dealt->part_count, .starts = listed->starts, .lengths = listed->lengths, .data = listed->values};
}

static parapet_status write_runs_inside(bed *used)
{
    static const int64_t start[2] = {1, 4}, count[2] = {7, 6};
    listed_rows listed;
    rows dealt;
    rows_deal(&dealt, start, count, 1);
    rows_list(&listed, &dealt);
    return parapet_array_write_runs(used->array, &listed.runs);
}

static parapet_status read_listed_rows(bed *used)
{
    static const int64_t start[2] = {0, 0}, count[2] = {ROWS, COLUMNS};
    listed_rows listed;
    rows dealt;
    parapet_status status;
    int64_t i, j;
    rows_deal(&dealt, start, count, 0);
    rows_list(&listed, &dealt);
    if ((status = parapet_array_read_runs(used->array, &listed.runs)) == PARAPET_OK)
        for (i = 0; i < dealt.part_count; i++)
            for (j = 0; j < COLUMNS; j++)
                if (listed.values[i * COLUMNS + j] != value_of(dealt.starts[i][0], j, 1))
                    parallel_has_wrong_values = true;
    return status;
}

/* The same as points. */
typedef struct pointed_rows {
    int64_t coordinates[ROWS * COLUMNS][2];
    int32_t values[ROWS * COLUMNS];
    parapet_points points;
} pointed_rows;

static void rows_point(pointed_rows *pointed, const rows *dealt)
{
    int64_t j, count = 0;
    int i;
    for (i = 0; i < dealt->part_count; i++)
        for (j = 0; j < dealt->count[1]; j++, count++) {
            pointed->coordinates[count][0] = dealt->starts[i][0];
            pointed->coordinates[count][1] = dealt->starts[i][1] + j;
            pointed->values[count] = dealt->values[i][j];
        }
    pointed->points =
        (parapet_points){.ndim = 2, .count = count, .coordinates = pointed->coordinates[0], .data = pointed->values};
}

static parapet_status write_points_inside(bed *used)
{
    static const int64_t start[2] = {1, 4}, count[2] = {7, 6};
    pointed_rows pointed;
    rows dealt;
    rows_deal(&dealt, start, count, 1);
    rows_point(&pointed, &dealt);
    return parapet_array_write_points(used->array, &pointed.points);
}

static parapet_status read_pointed_rows(bed *used)
{
    static const int64_t start[2] = {0, 0}, count[2] = {ROWS, COLUMNS};
    pointed_rows pointed;
    rows dealt;
    parapet_status status;
    int64_t i;
    rows_deal(&dealt, start, count, 0);
    rows_point(&pointed, &dealt);
    memset(pointed.values, 0xee, sizeof pointed.values);
    if ((status = parapet_array_read_points(used->array, &pointed.points)) == PARAPET_OK)
        for (i = 0; i < pointed.points.count; i++)
            if (pointed.values[i] != value_of(pointed.coordinates[i][0], pointed.coordinates[i][1], 1))
                parallel_has_wrong_values = true;
    return status;
}

static parapet_status read_absent(bed *used)
{
    return read_expecting(used, 0);
}

static void prepare_absent(bed *used)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {2, 3}, shards[2] = {STATE_SHARD, STATE_SHARD};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .fill_value = &fill};
    assert_ok(parapet_array_create(&used->array, used->store, "a", &spec));
}

/* ---- a file of another format, beside the directory of the bed ---- */

enum { FILE_BYTES_LEAST = ROWS * COLUMNS * (int)sizeof(int32_t) };

static bool has_temporary(const char *folder)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;
    bool is_found = false;
    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL)
        is_found = is_found || strncmp(entry->d_name, ".parapet-", 9) == 0;
    (void)closedir(listing);
    return is_found;
}

/* There is a whole file or none, and nothing else. */
static void check_file(const char *path, parapet_status status)
{
    char folder[700];
    struct stat found;
    bool is_there = stat(path, &found) == 0;
    (void)snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    if (has_temporary(folder) || (is_there && found.st_size < FILE_BYTES_LEAST) ||
        (status == PARAPET_OK && !is_there))
        parallel_has_wrong_values = true;
}

static parapet_status write_netcdf(bed *used)
{
    char path[700];
    parapet_file_request request = {
        .source = used->store, .source_path = "", .file = path, .exclude = "g", .overwrite = 1};
    parapet_status status;
    (void)snprintf(path, sizeof path, "%s.nc", ((shared_bed *)used)->folder);
    status = parapet_file_write(&request, NULL);
    if (rank == 0)
        check_file(path, status);
    return status;
}

/* ---- stores ---- */

static parapet_status create_store(bed *used)
{
    return pp_store_open_over(&used->store, MPI_COMM_WORLD, used->faulty, PARAPET_CREATE, &used->options);
}

static parapet_status open_store(bed *used)
{
    return pp_store_open_over(&used->store, MPI_COMM_WORLD, used->faulty, used->mode, &used->options);
}

/* ---- five arrays: element i of each belongs to rank i / 2 modulo ranks ---- */

typedef struct many_parts {
    int64_t starts[SHARED_MANY][MANY_EXTENT][1];
    int32_t values[SHARED_MANY][MANY_EXTENT];
    parapet_part parts[SHARED_MANY][MANY_EXTENT];
    parapet_array_parts list[SHARED_MANY];
} many_parts;

static void many_deal(many_parts *dealt, parapet_array *const *arrays, int rank_count, int own)
{
    static const int64_t one[1] = {1};
    int64_t i;
    int k;
    for (k = 0; k < SHARED_MANY; k++) {
        dealt->list[k] = (parapet_array_parts){.array = arrays[k], .parts = dealt->parts[k]};
        for (i = 0; i < MANY_EXTENT; i++) {
            int number = dealt->list[k].part_count;
            if (i / 2 % rank_count != own)
                continue;
            dealt->starts[k][number][0] = i;
            dealt->parts[k][number] = (parapet_part){
                .ndim = 1, .start = dealt->starts[k][number], .count = one, .data = &dealt->values[k][number]};
            dealt->list[k].part_count++;
        }
    }
}

static void many_fill(many_parts *dealt, int32_t generation)
{
    int k, i;
    for (k = 0; k < SHARED_MANY; k++)
        for (i = 0; i < dealt->list[k].part_count; i++)
            dealt->values[k][i] = value_of(k, dealt->starts[k][i][0], generation);
}

static void many_describe(parapet_array_spec *specs)
{
    int k;
    for (k = 0; k < SHARED_MANY; k++)
        specs[k] = (parapet_array_spec){.type = PARAPET_INT32,
                                        .ndim = 1,
                                        .shape = many_shape,
                                        .chunks = many_chunks,
                                        .shards = many_shards,
                                        .codec = k % 2 == 0 ? "none" : "zstd:1",
                                        .fill_value = &fill};
}

static parapet_status many_create_in(parapet_store *store, parapet_array **arrays)
{
    parapet_array_spec specs[SHARED_MANY];
    many_describe(specs);
    return parapet_arrays_create(arrays, store, many_paths, specs, SHARED_MANY);
}

/* By one process, after what the scenario itself stores. */
static void prepare_many(bed *used)
{
    parapet_array *arrays[SHARED_MANY];
    many_parts dealt;
    scenario_find("array_write, all")->prepare(used);
    assert_ok(many_create_in(used->store, arrays));
    many_deal(&dealt, arrays, 1, 0);
    many_fill(&dealt, 1);
    assert_ok(parapet_arrays_write(dealt.list, SHARED_MANY));
    assert_ok(parapet_arrays_close(arrays, SHARED_MANY));
}

static parapet_status many_create(bed *used)
{
    return many_create_in(used->store, ((shared_bed *)used)->many);
}

static parapet_status many_open(bed *used)
{
    return parapet_arrays_open(((shared_bed *)used)->many, used->store, many_paths, SHARED_MANY);
}

static parapet_status many_close(bed *used)
{
    return parapet_arrays_close(((shared_bed *)used)->many, SHARED_MANY);
}

static parapet_status wait_after(parapet_request **request, parapet_status started)
{
    return started == PARAPET_OK ? parapet_request_wait(request) : started;
}

static parapet_status many_start_write(bed *used)
{
    parapet_request *request = NULL;
    many_parts dealt;
    many_deal(&dealt, ((shared_bed *)used)->many, ranks, rank);
    many_fill(&dealt, 2);
    return wait_after(&request,
                      parapet_arrays_start_write(&request, dealt.list, SHARED_MANY, PARAPET_BUFFERING_COPY));
}

/* With write-back, what the request wrote waits until then. */
static parapet_status start_write_and_flush(bed *used)
{
    static const int64_t start[2] = {1, 4}, count[2] = {7, 6};
    parapet_request *request = NULL;
    parapet_status status;
    rows dealt;
    rows_deal(&dealt, start, count, 1);
    status = wait_after(&request, parapet_array_start_write(&request, used->array, dealt.parts, dealt.part_count,
                                                            PARAPET_BUFFERING_COPY));
    return status == PARAPET_OK ? parapet_array_flush(used->array) : status;
}

static parapet_status many_write(bed *used)
{
    many_parts dealt;
    many_deal(&dealt, ((shared_bed *)used)->many, ranks, rank);
    many_fill(&dealt, 2);
    return parapet_arrays_write(dealt.list, SHARED_MANY);
}

static parapet_status read_next(bed *used, bool is_started)
{
    parapet_request *request = NULL;
    many_parts dealt;
    parapet_status status;
    int k, i;
    many_deal(&dealt, ((shared_bed *)used)->many, ranks, (rank + 1) % ranks);
    memset(dealt.values, 0xee, sizeof dealt.values);
    status = is_started ? wait_after(&request, parapet_arrays_start_read(&request, dealt.list, SHARED_MANY))
                        : parapet_arrays_read(dealt.list, SHARED_MANY);
    for (k = 0; status == PARAPET_OK && k < SHARED_MANY; k++)
        for (i = 0; i < dealt.list[k].part_count; i++)
            if (dealt.values[k][i] != value_of(k, dealt.starts[k][i][0], 1))
                parallel_has_wrong_values = true;
    return status;
}

static parapet_status many_read(bed *used)
{
    return read_next(used, false);
}

static parapet_status many_start_read(bed *used)
{
    return read_next(used, true);
}

/* ---- checkpoints: generations at "c" with arrays like the five; each call from its begin to its end, so that it can
 * be made again ---- */

static const char *const checkpoint_names[SHARED_MANY] = {"0", "1", "2", "3", "4"};

typedef struct checkpoint_parts {
    many_parts dealt;
    parapet_array_spec specs[SHARED_MANY];
    parapet_checkpoint_item items[SHARED_MANY];
} checkpoint_parts;

static void checkpoint_deal(checkpoint_parts *made, int rank_count, int own)
{
    parapet_array *none[SHARED_MANY] = {0};
    int k;
    memset(made, 0, sizeof *made);
    many_describe(made->specs);
    many_deal(&made->dealt, none, rank_count, own);
    for (k = 0; k < SHARED_MANY; k++)
        made->items[k] = (parapet_checkpoint_item){.name = checkpoint_names[k],
                                                   .spec = &made->specs[k],
                                                   .parts = made->dealt.list[k].parts,
                                                   .part_count = made->dealt.list[k].part_count};
}

/* Keeps all: that older ones cannot be removed is no failure. */
static parapet_status checkpoint_begin(parapet_checkpoint **checkpoint, parapet_store *store)
{
    static const parapet_checkpoint_options options = {.keep = -1};
    return parapet_checkpoint_begin(checkpoint, store, "c", &options);
}

/* What failed before stays the sentence. */
static parapet_status checkpoint_give_up(parapet_checkpoint **checkpoint, parapet_status status)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, status);
    (void)parapet_checkpoint_abort(checkpoint);
    return pp_failure_put(&failure);
}

static parapet_status checkpoint_make(parapet_store *store, int rank_count, int own, int32_t generation)
{
    parapet_checkpoint *checkpoint;
    checkpoint_parts parts;
    parapet_status status = checkpoint_begin(&checkpoint, store);
    if (status != PARAPET_OK)
        return status;
    checkpoint_deal(&parts, rank_count, own);
    many_fill(&parts.dealt, generation);
    if ((status = parapet_checkpoint_put(checkpoint, parts.items, SHARED_MANY)) == PARAPET_OK &&
        (status = parapet_checkpoint_attribute_set(checkpoint, "step", "1")) == PARAPET_OK)
        return parapet_checkpoint_commit(&checkpoint, NULL);
    return checkpoint_give_up(&checkpoint, status);
}

static parapet_status checkpoint_commit(bed *used)
{
    return checkpoint_make(used->store, ranks, rank, 2);
}

static parapet_status checkpoint_start(bed *used)
{
    parapet_checkpoint *checkpoint;
    parapet_request *request = NULL;
    checkpoint_parts parts;
    parapet_status status = checkpoint_begin(&checkpoint, used->store);
    if (status != PARAPET_OK)
        return status;
    checkpoint_deal(&parts, ranks, rank);
    many_fill(&parts.dealt, 2);
    status = parapet_checkpoint_start(&request, &checkpoint, parts.items, SHARED_MANY, PARAPET_BUFFERING_COPY, NULL);
    return status == PARAPET_OK ? parapet_request_wait(&request) : checkpoint_give_up(&checkpoint, status);
}

static parapet_status checkpoint_abort(bed *used)
{
    parapet_checkpoint *checkpoint;
    parapet_status status = checkpoint_begin(&checkpoint, used->store);
    return status == PARAPET_OK ? parapet_checkpoint_abort(&checkpoint) : status;
}

/* The generation by its number: with 0, one that cannot be read is passed over. */
static parapet_status checkpoint_get(bed *used)
{
    pp_failure failure = {0};
    parapet_restore *restore;
    checkpoint_parts parts;
    parapet_status status = parapet_restore_open(&restore, used->store, "c", 1), closed;
    int k, i;
    if (status != PARAPET_OK)
        return status;
    checkpoint_deal(&parts, ranks, (rank + 1) % ranks);
    status = parapet_restore_get(restore, parts.items, SHARED_MANY);
    for (k = 0; status == PARAPET_OK && k < SHARED_MANY; k++)
        for (i = 0; i < parts.items[k].part_count; i++)
            if (parts.dealt.values[k][i] != value_of(k, parts.dealt.starts[k][i][0], 1))
                parallel_has_wrong_values = true;
    pp_failure_take(&failure, status);
    closed = parapet_restore_close(&restore);
    return status != PARAPET_OK ? pp_failure_put(&failure) : closed;
}

static int count_generation(void *context, int64_t generation, const char *path)
{
    (void)path;
    *(int64_t *)context += generation;
    return 0;
}

static parapet_status checkpoint_list(bed *used)
{
    int64_t sum = 0;
    parapet_status status = parapet_checkpoint_list(used->store, "c", count_generation, &sum);
    parallel_has_wrong_values = parallel_has_wrong_values || (status == PARAPET_OK && sum != 1);
    return status;
}

static parapet_status collect(bed *used)
{
    return parapet_store_collect(used->store, "", 0, NULL, NULL);
}

static void prepare_checkpoint(bed *used)
{
    scenario_find("group_create")->prepare(used);
    assert_ok(checkpoint_make(used->store, 1, 0, 1));
}

/* A generation beside it that a crash has left. */
static void prepare_remains(bed *used)
{
    pp_write_request request = {.key = "c/g00000009/__parapet/claim", .staging = "__parapet/tmp", .is_small = true};
    prepare_checkpoint(used);
    request.budget = &used->store->budget;
    assert_ok(pp_store_write_all(used->inner, &request, "x", 1, PP_PUBLISH_REPLACE));
}

/* ---- a series at "s" of one array, like one of the five; two steps share a shard ---- */

static parapet_status series_make(parapet_series **series, parapet_store *store)
{
    static const char *const names[1] = {"x"};
    static const int64_t shape[2] = {0, MANY_EXTENT}, chunks[2] = {1, 3}, shards[2] = {SHARED_STEPS, MANY_SHARD};
    parapet_array_spec array = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .fill_value = &fill};
    parapet_series_spec spec = {.count = 1, .names = names, .specs = &array};
    return parapet_series_create(series, store, "s", &spec);
}

static parapet_status series_step(parapet_series *series, int rank_count, int own, int32_t number, bool is_started)
{
    parapet_array *none[SHARED_MANY] = {0};
    parapet_request *request = NULL;
    many_parts dealt = {0};
    parapet_step step;
    many_deal(&dealt, none, rank_count, own);
    many_fill(&dealt, number + 1);
    step = (parapet_step){.parts = dealt.list[0].parts, .part_count = dealt.list[0].part_count};
    return !is_started ? parapet_series_append(series, number, &step)
                       : wait_after(&request, parapet_series_start_append(&request, series, number, &step,
                                                                          PARAPET_BUFFERING_COPY));
}

static parapet_status series_create(bed *used)
{
    parapet_series *series;
    parapet_status status = series_make(&series, used->store);
    return status == PARAPET_OK ? parapet_series_close(&series) : status;
}

/* The second step, unless it has been taken. */
static parapet_status append_second(bed *used, bool is_started)
{
    pp_failure failure = {0};
    parapet_series *series;
    parapet_series_info info;
    parapet_status status = parapet_series_open(&series, used->store, "s"), closed;
    if (status != PARAPET_OK)
        return status;
    assert_ok(parapet_series_get_info(series, &info));
    if (info.steps < SHARED_STEPS)
        status = series_step(series, ranks, rank, 1, is_started);
    if (status == PARAPET_OK)
        status = parapet_series_flush(series);
    pp_failure_take(&failure, status);
    closed = parapet_series_close(&series);
    return status != PARAPET_OK ? pp_failure_put(&failure) : closed;
}

static parapet_status series_append(bed *used)
{
    return append_second(used, false);
}

static parapet_status series_start_append(bed *used)
{
    return append_second(used, true);
}

static parapet_status series_cut(bed *used)
{
    return parapet_series_repair(used->store, "s", PARAPET_BEYOND_CUT);
}

static void prepare_series(bed *used)
{
    parapet_series *series;
    scenario_find("group_create")->prepare(used);
    assert_ok(series_make(&series, used->store));
    assert_ok(series_step(series, 1, 0, 0, false));
    assert_ok(parapet_series_close(&series));
}

/* ---- the table ---- */

/* ---- copies ---- */

static parapet_status copy_with(bed *used, parapet_cooperation cooperation)
{
    parapet_copy_request request = {.source = used->store,
                                    .source_path = "a",
                                    .target = used->store,
                                    .target_path = "g/b",
                                    .changes = {.chunks = "3,2", .shards = "6,6"},
                                    .unit_bytes = 128,
                                    .overwrite = 1,
                                    .no_probe = 1,
                                    .cooperation = cooperation};
    return parapet_copy(&request, NULL);
}

static parapet_status copy_alone(bed *used)
{
    return copy_with(used, PARAPET_COOPERATION_ALONE);
}

static parapet_status copy_together(bed *used)
{
    return copy_with(used, PARAPET_COOPERATION_TOGETHER);
}

static const struct row {
    const char *like;                 /* the scenario of tests/fault that says what is stored and open before */
    const char *name;                 /* NULL: the same */
    parapet_status (*run)(bed *used); /* NULL: the same */
    void (*prepare)(bed *used);       /* NULL: the same */
    bool opens_many, absorbs;
} table[] = {
    {.like = "store_open, creating", .run = create_store},
    {.like = "store_open, for update", .run = open_store},
    {.like = "store_open, for reading", .run = open_store},
    {.like = "store_close"},
    {.like = "group_create"},
    {.like = "group_open"},
    {.like = "group_list"},
    {.like = "group_consolidate"},
    {.like = "group_attribute_set"},
    {.like = "group_close"},
    {.like = "array_create"},
    {.like = "array_create, overwriting sealed"},
    {.like = "store_remove, sealed, consolidated"},
    {.like = "store_remove, a group"},
    {.like = "array_open"},
    {.like = "array_open, sealed"},
    {.like = "array_close"},
    {.like = "array_write, all", .run = write_all},
    {.like = "array_write, uncompressed", .run = write_all},
    {.like = "array_write, unsharded", .run = write_all},
    {.like = "array_write, merging", .run = write_inside},
    {.like = "array_write, merging", .name = "array_write, what was read", .run = write_again},
    {.like = "array_write, merging", .name = "array_flush", .run = write_and_flush},
    {.like = "array_write, merging", .name = "array_flush of what a request wrote", .run = start_write_and_flush},
    {.like = "array_write, sealed", .run = write_inside},
    {.like = "array_write, sealed", .name = "array_flush, sealed", .run = write_and_flush},
    {.like = "array_read", .run = read_rows},
    {.like = "array_read, unsharded", .run = read_rows},
    {.like = "array_read, sealed", .run = read_rows},
    {.like = "array_read, two parts", .name = "array_read, the same on all ranks"},
    {.like = "array_read", .name = "array_read, absent chunks", .run = read_absent, .prepare = prepare_absent},
    {.like = "array_read", .name = "file_write", .run = write_netcdf},
    {.like = "array_write, merging", .name = "array_write_runs, merging", .run = write_runs_inside},
    {.like = "array_read", .name = "array_read_runs", .run = read_listed_rows},
    {.like = "array_write_points", .run = write_points_inside},
    {.like = "array_write_points, sealed", .run = write_points_inside},
    {.like = "array_read_points", .run = read_pointed_rows},
    {.like = "array_read_points, uncompressed", .run = read_pointed_rows},
    {.like = "array_resize, growing"},
    {.like = "array_resize, shrinking sealed"},
    {.like = "array_seal"},
    {.like = "array_unseal"},
    {.like = "array_attribute_set"},
    {.like = "array_attribute_set, sealed"},
    {.like = "array_check"},
    {.like = "group_create", .name = "arrays_create", .run = many_create},
    {.like = "group_open", .name = "arrays_open", .run = many_open, .prepare = prepare_many},
    {.like = "array_write, all",
     .name = "arrays_write",
     .run = many_write,
     .prepare = prepare_many,
     .opens_many = true},
    {.like = "array_write, all",
     .name = "arrays_write, started",
     .run = many_start_write,
     .prepare = prepare_many,
     .opens_many = true},
    {.like = "array_read", .name = "arrays_read", .run = many_read, .prepare = prepare_many, .opens_many = true},
    {.like = "array_read",
     .name = "arrays_read, started",
     .run = many_start_read,
     .prepare = prepare_many,
     .opens_many = true},
    {.like = "array_close", .name = "arrays_close", .run = many_close, .prepare = prepare_many, .opens_many = true},
    /* Beginning tries again where another job may have been in the way; a list tells what it can read. */
    {.like = "group_create", .name = "checkpoint, the first", .run = checkpoint_commit, .absorbs = true},
    {.like = "group_create",
     .name = "checkpoint, put and committed",
     .run = checkpoint_commit,
     .prepare = prepare_checkpoint,
     .absorbs = true},
    {.like = "group_create",
     .name = "checkpoint, started",
     .run = checkpoint_start,
     .prepare = prepare_checkpoint,
     .absorbs = true},
    {.like = "group_create",
     .name = "checkpoint, given up",
     .run = checkpoint_abort,
     .prepare = prepare_checkpoint,
     .absorbs = true},
    {.like = "group_open", .name = "checkpoint, restored", .run = checkpoint_get, .prepare = prepare_checkpoint},
    {.like = "group_open",
     .name = "checkpoint_list",
     .run = checkpoint_list,
     .prepare = prepare_checkpoint,
     .absorbs = true},
    {.like = "group_create", .name = "collect", .run = collect, .prepare = prepare_remains},
    {.like = "group_create", .name = "series_create", .run = series_create},
    {.like = "group_create", .name = "series_append", .run = series_append, .prepare = prepare_series},
    {.like = "group_create", .name = "series_append, started", .run = series_start_append, .prepare = prepare_series},
    {.like = "group_create", .name = "series_repair", .run = series_cut, .prepare = prepare_series},
    /* What is left of a copy that has failed is removed, or else by the next one. */
    {.like = "array_create", .name = "copy, each rank alone", .run = copy_alone, .absorbs = true},
    {.like = "array_create", .name = "copy, all ranks together", .run = copy_together, .absorbs = true},
};

const parallel_call *parallel_calls(int *count)
{
    static parallel_call calls[sizeof table / sizeof table[0]];
    int i;
    *count = (int)(sizeof table / sizeof table[0]);
    for (i = 0; i < *count; i++) {
        const scenario *like = scenario_find(table[i].like);
        calls[i] = (parallel_call){.of = *like,
                                   .alone = table[i].name == NULL ? like : NULL,
                                   .opens_many = table[i].opens_many,
                                   .absorbs = table[i].absorbs};
        if (table[i].name != NULL)
            calls[i].of.name = table[i].name;
        if (table[i].run != NULL)
            calls[i].of.run = table[i].run;
        if (table[i].prepare != NULL)
            calls[i].of.prepare = table[i].prepare;
    }
    return calls;
}

/* ---- what is seen ---- */

/* After an attempt to open an array. Without its document it looks like a group. */
static bool is_array_there(parapet_status status)
{
    return status != PARAPET_ERR_NOT_FOUND &&
           !(status == PARAPET_ERR_ARGUMENT && strstr(parapet_error_message(), "is a group") != NULL);
}

static void take_many(shared_state *seen, parapet_store *store)
{
    int64_t start[1] = {0};
    int k;
    for (k = 0; k < SHARED_MANY; k++) {
        parapet_part part = {.ndim = 1, .start = start, .count = many_shape, .data = seen->values[k]};
        parapet_array *array;
        parapet_status status = parapet_array_open(&array, store, many_paths[k]);
        seen->exists[k] = is_array_there(status);
        if (!seen->exists[k])
            continue;
        assert_ok(status);
        assert_ok(parapet_array_read(array, &part, 1));
        assert_ok(parapet_array_close(&array));
    }
}

static void take_checkpoint(shared_state *seen, parapet_store *store)
{
    parapet_restore *restore;
    checkpoint_parts parts;
    parapet_status status = parapet_restore_open(&restore, store, "c", 0);
    seen->has_checkpoint = status != PARAPET_ERR_NOT_FOUND;
    if (!seen->has_checkpoint)
        return;
    assert_ok(status);
    checkpoint_deal(&parts, 1, 0);
    assert_ok(parapet_restore_get(restore, parts.items, SHARED_MANY));
    assert_ok(parapet_restore_close(&restore));
    memcpy(seen->checkpoint, parts.dealt.values, sizeof seen->checkpoint);
}

/* -1 steps: there is no series. */
static void take_series(shared_state *seen, parapet_store *store)
{
    int64_t start[2] = {0, 0}, count[2] = {0, MANY_EXTENT};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = seen->series};
    parapet_array_info info;
    parapet_array *array;
    parapet_status status = parapet_array_open(&array, store, "s/x");
    seen->steps = -1;
    if (!is_array_there(status))
        return;
    assert_ok(status);
    assert_ok(parapet_array_get_info(array, &info));
    seen->steps = count[0] = info.shape[0];
    assert_in_range(seen->steps, 0, SHARED_STEPS);
    assert_ok(parapet_array_read(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

void shared_state_take(shared_state *seen, pp_store *backend)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store;
    memset(seen, 0, sizeof *seen);
    state_take(&seen->main, backend);
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, backend, PARAPET_READ, &options));
    take_many(seen, store);
    take_checkpoint(seen, store);
    take_series(seen, store);
    assert_ok(parapet_store_close(&store));
}

static bool shard_equals(const shared_state *seen, const shared_state *other, int k, int first)
{
    return other->exists[k] &&
           memcmp(&seen->values[k][first], &other->values[k][first], MANY_SHARD * sizeof(int32_t)) == 0;
}

static bool is_checkpoint_of(const shared_state *seen, const shared_state *other)
{
    return seen->has_checkpoint == other->has_checkpoint &&
           memcmp(seen->checkpoint, other->checkpoint, sizeof seen->checkpoint) == 0;
}

static bool is_series_of(const shared_state *seen, const shared_state *other)
{
    return seen->steps == other->steps && memcmp(seen->series, other->series, sizeof seen->series) == 0;
}

bool shared_state_is_between(const shared_state *seen, const shared_state *old, const shared_state *new,
                             state_rule rule, char problem[256])
{
    int k, first;
    if (!state_is_between(&seen->main, &old->main, &new->main, rule, problem))
        return false;
    if (!is_checkpoint_of(seen, old) && !is_checkpoint_of(seen, new)) {
        (void)snprintf(problem, 256, "the newest generation is neither old nor new");
        return false;
    }
    if (!is_series_of(seen, old) && !is_series_of(seen, new)) {
        (void)snprintf(problem, 256, "the series has %lld steps, or values, neither old nor new",
                       (long long)seen->steps);
        return false;
    }
    for (k = 0; k < SHARED_MANY; k++) {
        if (seen->exists[k] != old->exists[k] && seen->exists[k] != new->exists[k]) {
            (void)snprintf(problem, 256, "array \"%s\": existence neither old nor new", many_paths[k]);
            return false;
        }
        for (first = 0; seen->exists[k] && first < MANY_EXTENT; first += MANY_SHARD)
            if (!shard_equals(seen, old, k, first) && (rule.values_old || !shard_equals(seen, new, k, first))) {
                (void)snprintf(problem, 256, "array \"%s\": values from %d on %s", many_paths[k], first,
                               rule.values_old ? "not old, although nothing was published" : "neither old nor new");
                return false;
            }
    }
    return true;
}

/* ---- the bed of all ranks ---- */

void shared_bed_build(shared_bed *made, const launch *run, const image *before, const parapet_store_options *options)
{
    static long number;
    pp_posix_options posix = {.not_durable = true, .direct_io = PP_DIRECT_IO_NEVER};
    pp_store *inner;
    rank = run->rank;
    ranks = run->ranks;
    memset(made, 0, sizeof *made);
    made->live = pp_memory_live_count();
    (void)snprintf(made->folder, sizeof made->folder, "%s/shared-%ld", run->folder, number++);
    if (rank == 0 && mkdir(made->folder, 0700) != 0)
        fail_msg("cannot make %s", made->folder);
    if (rank == 0) {
        assert_ok(pp_store_posix_build(&inner, made->folder, &posix));
        image_put(before, inner);
        watch_meet();
    } else {
        watch_meet();
        assert_ok(pp_store_posix_build(&inner, made->folder, &posix));
    }
    bed_build(&made->bed, inner);
    made->faulty = made->bed.faulty;
    made->bed.faulty = place_store_build(made->faulty, parallel_operations);
    made->bed.options = *options;
}

void shared_bed_open_handles(shared_bed *used, const parallel_call *call)
{
    bed *own = &used->bed;
    own->mode = call->of.kind == SCENARIO_READS ? PARAPET_READ : PARAPET_UPDATE;
    if (call->of.opens >= OPENS_STORE)
        assert_ok(pp_store_open_over(&own->store, MPI_COMM_WORLD, own->faulty, own->mode, &own->options));
    if (call->of.opens == OPENS_GROUP)
        assert_ok(parapet_group_open(&own->group, own->store, ""));
    if (call->of.opens == OPENS_ARRAY)
        assert_ok(parapet_array_open(&own->array, own->store, "a"));
    if (call->opens_many)
        assert_ok(parapet_arrays_open(used->many, own->store, many_paths, SHARED_MANY));
}

void shared_bed_close_handles(shared_bed *used)
{
    (void)parapet_arrays_close(used->many, SHARED_MANY);
    bed_close_handles(&used->bed);
}

int64_t shared_bed_handles(const shared_bed *used)
{
    int64_t bits = (used->bed.store != NULL) | (used->bed.group != NULL) << 1 | (used->bed.array != NULL) << 2;
    int k;
    for (k = 0; k < SHARED_MANY; k++)
        bits |= (int64_t)(used->many[k] != NULL) << (3 + k);
    return bits;
}

void shared_bed_abandon(shared_bed *used)
{
    memset(used->many, 0, sizeof used->many);
    used->bed.array = NULL;
    used->bed.group = NULL;
    used->bed.store = NULL;
}

void shared_bed_free(shared_bed *used, const launch *run, bool *has_leftover)
{
    shared_bed_close_handles(used);
    pp_store_free(used->bed.faulty);
    used->bed.faulty = used->faulty;
    bed_free(&used->bed);
    watch_meet();
    *has_leftover = false;
    if (run->rank == 0) {
        tree left = {0};
        tree_take(&left, used->folder);
        *has_leftover = tree_has_leftovers(&left);
        tree_clear(&left);
        tree_remove(used->folder);
    }
}
