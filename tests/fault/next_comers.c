#include "next_comers.h"

#include <inttypes.h>

enum {
    WIDTH = 5,
    BEFORE = 3,
    ADDED = 4,
    AFTER = BEFORE + ADDED,
    BIG = 12,
    BIG_WIDTH = 8,
    STEPS = 2,
    STEPS_AFTER = 4,
};

static pp_store *source;

/* ---- What is stored ---- */

parapet_status next_store_open(pp_store *backend, parapet_store **store, parapet_mode mode)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE, .memory_bytes = 8 << 20};
    return pp_store_open_over(store, MPI_COMM_NULL, backend, mode, &options);
}

typedef struct shape_of {
    int ndim;
    int64_t extents[2], chunks[2], shards[2];
} shape_of;

static const shape_of wide = {2, {BEFORE, WIDTH}, {2, 2}, {4, 4}}, line = {1, {BEFORE, 0}, {2, 0}, {4, 0}},
                      wide_added = {2, {ADDED, WIDTH}, {2, 2}, {4, 4}}, line_added = {1, {ADDED, 0}, {2, 0}, {4, 0}},
                      wide_after = {2, {AFTER, WIDTH}, {2, 2}, {4, 4}}, big = {2, {BIG, BIG_WIDTH}, {3, 4}, {6, 4}},
                      other = {2, {2, 4}, {2, 4}, {2, 4}};

static parapet_status create_array(parapet_array **array, parapet_store *store, const char *path,
                                   const shape_of *shape, int overwrite)
{
    static const char *const names[2] = {"time", "x"};
    parapet_array_spec spec = {.ndim = shape->ndim,
                               .type = PARAPET_INT32,
                               .shape = shape->extents,
                               .chunks = shape->chunks,
                               .shards = shape->shards,
                               .codec = "none",
                               .dimension_names = names,
                               .attributes = "{\"units\": \"K\"}",
                               .overwrite = overwrite};
    return parapet_array_create(array, store, path, &spec);
}

static void put_array(parapet_store *store, const char *path, const shape_of *shape, int first)
{
    const int64_t start[2] = {0};
    int32_t values[NEXT_VALUES_MOST];
    parapet_part part = {.ndim = shape->ndim, .start = start, .count = shape->extents, .data = values};
    parapet_array *array;
    int i;
    for (i = 0; i < NEXT_VALUES_MOST; i++)
        values[i] = first * (shape->ndim == 2 ? WIDTH : 1) + i;
    assert_ok(create_array(&array, store, path, shape, 0));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

static parapet_status close_array(parapet_array **array, parapet_status status)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, status);
    (void)parapet_array_close(array);
    return pp_failure_put(&failure);
}

static parapet_status seal_at(parapet_store *store, const char *path)
{
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, path);
    return status != PARAPET_OK ? status : close_array(&array, parapet_array_seal(array));
}

parapet_status next_consolidate(parapet_store *store, const char *path)
{
    parapet_group *group = NULL;
    pp_failure failure = {0};
    parapet_status status = parapet_group_open(&group, store, path);
    if (status != PARAPET_OK)
        return status;
    pp_failure_take(&failure, parapet_group_consolidate(group));
    (void)parapet_group_close(&group);
    return pp_failure_put(&failure);
}

static void put_group(parapet_store *store, const char *path)
{
    parapet_group *group;
    assert_ok(parapet_group_create(&group, store, path, "{\"title\": \"of all\"}"));
    assert_ok(parapet_group_close(&group));
}

void next_source_build(void)
{
    parapet_store *store;
    assert_ok(pp_store_memory_build(&source, NULL));
    assert_ok(next_store_open(source, &store, PARAPET_CREATE));
    put_array(store, "more/t", &wide_added, BEFORE);
    put_array(store, "more/deep/u", &wide_added, BEFORE);
    put_array(store, "more/time", &line_added, BEFORE);
    put_array(store, "big", &big, 1000);
    put_array(store, "tree/p", &big, 2000);
    put_array(store, "tree/deep/q", &big, 3000);
    assert_ok(parapet_store_close(&store));
}

void next_source_free(void)
{
    pp_store_free(source);
}

/* ---- The changes ---- */

static parapet_copy_result copied; /* by the last copy */

int64_t next_templates_resumed(void)
{
    return copied.templates_resumed;
}

static parapet_status copy_from(parapet_copy_request *request)
{
    parapet_store *from = NULL;
    pp_failure failure = {0};
    copied = (parapet_copy_result){0};
    if (request->source == NULL) {
        assert_ok(next_store_open(source, &from, PARAPET_READ));
        request->source = from;
    }
    request->no_probe = 1;
    request->unit_bytes = 64;
    pp_failure_take(&failure, parapet_copy(request, &copied));
    (void)parapet_store_close(&from);
    return pp_failure_put(&failure);
}

static void prepare_nothing(parapet_store *store)
{
    (void)store;
}

static void prepare_array(parapet_store *store)
{
    put_array(store, NEXT_NODE, &wide, 0);
}

static void prepare_long(parapet_store *store)
{
    put_array(store, NEXT_NODE, &wide_after, 0);
}

static void prepare_sealed(parapet_store *store)
{
    prepare_array(store);
    assert_ok(seal_at(store, NEXT_NODE));
}

static void prepare_group(parapet_store *store)
{
    put_group(store, NEXT_NODE);
    put_array(store, NEXT_NODE "/t", &wide, 0);
    put_array(store, NEXT_NODE "/deep/u", &wide, 0);
    put_array(store, NEXT_NODE "/time", &line, 0);
}

static void prepare_consolidated(parapet_store *store)
{
    prepare_group(store);
    assert_ok(next_consolidate(store, NEXT_NODE));
}

static parapet_status append(parapet_store *store, bool again)
{
    parapet_copy_request request = {
        .source_path = "more", .target = store, .target_path = NEXT_NODE, .append = "time"};
    (void)again;
    return copy_from(&request);
}

static parapet_status create(parapet_store *store, bool again)
{
    parapet_array *array = NULL;
    parapet_status status = create_array(&array, store, NEXT_NODE, &big, 0);
    (void)again;
    return status != PARAPET_OK ? status : parapet_array_close(&array);
}

static parapet_status overwrite_at(parapet_store *store, const char *path)
{
    parapet_array *array = NULL;
    parapet_status status = create_array(&array, store, path, &other, 1);
    return status != PARAPET_OK ? status : parapet_array_close(&array);
}

static parapet_status overwrite(parapet_store *store, bool again)
{
    (void)again;
    return overwrite_at(store, NEXT_NODE);
}

parapet_status next_remove(parapet_store *store)
{
    return parapet_store_remove(store, NEXT_NODE, 1, 0, NULL, NULL);
}

static parapet_status remove_node(parapet_store *store, bool again)
{
    (void)again;
    return next_remove(store);
}

static parapet_status copy_big(parapet_store *store, const char *path, int resume, int overwrites)
{
    parapet_copy_request request = {.source_path = "big",
                                    .target = store,
                                    .target_path = path,
                                    .changes = {.chunks = "2,4", .shards = "4,8"},
                                    .resume = resume,
                                    .overwrite = overwrites};
    return copy_from(&request);
}

static parapet_status copy_new(parapet_store *store, bool again)
{
    return copy_big(store, NEXT_NODE, again, 0);
}

static parapet_status copy_over(parapet_store *store, bool again)
{
    return copy_big(store, NEXT_NODE, again, 1);
}

static parapet_status copy_group(parapet_store *store, bool again)
{
    parapet_copy_request request = {.source_path = "tree",
                                    .target = store,
                                    .target_path = NEXT_NODE,
                                    .changes = {.chunks = "2,4", .shards = "4,8"},
                                    .resume = again};
    return copy_from(&request);
}

static parapet_status resize_at(parapet_store *store, const char *path, int64_t by)
{
    parapet_array_info info;
    parapet_array *array = NULL;
    int64_t shape[2];
    parapet_status status = parapet_array_open(&array, store, path);
    if (status != PARAPET_OK)
        return status;
    assert_ok(parapet_array_get_info(array, &info));
    shape[0] = by < 0 ? BEFORE - 1 : info.shape[0] + by;
    shape[1] = info.ndim == 2 ? info.shape[1] : 0;
    return close_array(&array, parapet_array_resize(array, shape));
}

static parapet_status shrink(parapet_store *store, bool again)
{
    (void)again;
    return resize_at(store, NEXT_NODE, -1);
}

static parapet_status seal(parapet_store *store, bool again)
{
    (void)again;
    return seal_at(store, NEXT_NODE);
}

static parapet_status consolidate(parapet_store *store, bool again)
{
    (void)again;
    return next_consolidate(store, NEXT_NODE);
}

/* ---- A series ---- */

static const char *const series_names[] = {"t", "v"};

static parapet_status append_step(parapet_series *series, int64_t step)
{
    int32_t values[WIDTH];
    int64_t start[1] = {0}, count[1] = {WIDTH}, i;
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    parapet_step steps[2] = {{&part, 1, {0}}, {&part, 1, {0}}};
    for (i = 0; i < WIDTH; i++)
        values[i] = (int32_t)(100 * step + i);
    return parapet_series_append(series, (double)step, steps);
}

static parapet_status fill_series(parapet_series **series, int64_t steps)
{
    parapet_series_info info;
    pp_failure failure = {0};
    parapet_status status = PARAPET_OK;
    int64_t step;
    assert_ok(parapet_series_get_info(*series, &info));
    for (step = info.steps; step < steps && status == PARAPET_OK; step++)
        status = append_step(*series, step);
    pp_failure_take(&failure, status);
    pp_failure_take(&failure, parapet_series_close(series));
    return pp_failure_put(&failure);
}

static void prepare_series(parapet_store *store)
{
    int64_t shape[2] = {0, WIDTH}, chunks[2] = {1, WIDTH}, shards[2] = {STEPS, WIDTH};
    parapet_array_spec one = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    parapet_array_spec specs[2] = {one, one};
    parapet_series_spec spec = {
        .count = 2, .names = series_names, .specs = specs, .attributes = "{\"title\": \"run\"}"};
    parapet_series *series;
    assert_ok(parapet_series_create(&series, store, NEXT_NODE, &spec));
    assert_ok(fill_series(&series, STEPS));
}

/* A row, behind those that are there. */
static parapet_status append_row(parapet_store *store, bool again)
{
    parapet_series *series = NULL;
    parapet_status status = parapet_series_open(&series, store, NEXT_NODE);
    (void)again;
    return status != PARAPET_OK ? status : fill_series(&series, STEPS_AFTER);
}

/* ---- A checkpoint ---- */

static parapet_status put_generation(parapet_checkpoint *checkpoint, int64_t generation)
{
    const int64_t shape[2] = {BIG, BIG_WIDTH}, shards[2] = {6, BIG_WIDTH}, start[2] = {0};
    int32_t values[BIG * BIG_WIDTH];
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = values};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = shards, .shards = shards, .codec = "none"};
    parapet_checkpoint_item items[2] = {{.name = "t", .spec = &spec, .parts = &part, .part_count = 1},
                                        {.name = "v", .spec = &spec, .parts = &part, .part_count = 1}};
    int i;
    for (i = 0; i < BIG * BIG_WIDTH; i++)
        values[i] = (int32_t)generation * 1000 + i;
    return parapet_checkpoint_put(checkpoint, items, 2);
}

static parapet_status commit(parapet_store *store, int64_t generation)
{
    parapet_checkpoint_options options = {.generation = generation, .keep = 1};
    parapet_checkpoint *checkpoint = NULL;
    pp_failure failure = {0};
    parapet_status status = parapet_checkpoint_begin(&checkpoint, store, NEXT_NODE, &options);
    if (status == PARAPET_OK && (status = put_generation(checkpoint, generation)) == PARAPET_OK)
        return parapet_checkpoint_commit(&checkpoint, NULL);
    pp_failure_take(&failure, status);
    (void)parapet_checkpoint_abort(&checkpoint);
    return pp_failure_put(&failure);
}

static void prepare_checkpoint(parapet_store *store)
{
    assert_ok(commit(store, 1));
}

/* Whoever goes on makes the generation after it, if it is there: that also removes what an older one has left. */
static parapet_status commit_next(parapet_store *store, bool again)
{
    parapet_status status = commit(store, 2);
    return status == PARAPET_ERR_EXISTS && again ? commit(store, 3) : status;
}

/* ---- The table of changes ---- */

#define APPEND_FIRST "complete or undo it first: parapet gc, parapet_store_collect, or the next append"
#define NOT_YET "a job is creating, copying, replacing or removing it, or was interrupted while doing so"
#define RESUME_OR "resume it, or set overwrite to start again"
#define RESUME_FIRST "resume it first"
#define CANNOT_RESUME "the copy cannot be resumed: another array has since appeared"
#define NO_SERIES "is a group without a zarr.json, not a series"

const client clients[] = {
    {.name = "append",
     .prepare = prepare_consolidated,
     .run = append,
     .array = NEXT_NODE "/t",
     .decider = NEXT_NODE "/time:",
     .stride = 29,
     .explained = {APPEND_FIRST}},
    {.name = "row of a series", .prepare = prepare_series, .run = append_row, .array = NEXT_NODE "/t", .stride = 13},
    {.name = "create", .prepare = prepare_nothing, .run = create, .array = NEXT_NODE, .stride = 5},
    {.name = "overwrite",
     .prepare = prepare_array,
     .run = overwrite,
     .array = NEXT_NODE,
     .may_vanish = true,
     .stride = 7,
     .explained = {NOT_YET, NO_SERIES}},
    {.name = "overwrite what is sealed",
     .prepare = prepare_sealed,
     .run = overwrite,
     .array = NEXT_NODE,
     .may_vanish = true,
     .stride = 7,
     .explained = {NOT_YET, NO_SERIES}},
    {.name = "remove an array",
     .prepare = prepare_array,
     .run = remove_node,
     .array = NEXT_NODE,
     .stride = 7,
     .explained = {NOT_YET, NO_SERIES}},
    {.name = "remove a group",
     .prepare = prepare_consolidated,
     .run = remove_node,
     .array = NEXT_NODE "/t",
     .is_in_parts = true,
     .stride = 13,
     .explained = {NOT_YET, "exclude it, if it is to be left out; nothing was changed"}},
    {.name = "copy",
     .prepare = prepare_nothing,
     .run = copy_new,
     .array = NEXT_NODE,
     .is_resumed = true,
     .stride = 13,
     .explained = {NOT_YET, RESUME_OR, RESUME_FIRST, CANNOT_RESUME, NO_SERIES}},
    {.name = "copy over an array",
     .prepare = prepare_array,
     .run = copy_over,
     .array = NEXT_NODE,
     .may_vanish = true,
     .is_resumed = true,
     .stride = 13,
     .explained = {NOT_YET, RESUME_FIRST, CANNOT_RESUME, NO_SERIES}},
    {.name = "copy a group",
     .prepare = prepare_nothing,
     .run = copy_group,
     .array = NEXT_NODE "/p",
     .is_in_parts = true,
     .is_resumed = true,
     .stride = 29,
     .explained = {NOT_YET, RESUME_OR, RESUME_FIRST, CANNOT_RESUME}},
    {.name = "resize shorter", .prepare = prepare_long, .run = shrink, .array = NEXT_NODE, .stride = 5},
    {.name = "seal", .prepare = prepare_array, .run = seal, .array = NEXT_NODE, .stride = 5},
    {.name = "commit a checkpoint",
     .prepare = prepare_checkpoint,
     .run = commit_next,
     .array = NEXT_NODE "/g00000001/t",
     .explained = {"is missing: the array was sealed with it", "and the array goes too"},
     .has_generations = true,
     .stride = 13},
    {.name = "consolidate", .prepare = prepare_group, .run = consolidate, .array = NEXT_NODE "/t", .stride = 5},
};
const int client_count = sizeof clients / sizeof clients[0];

/* There is something beside the node. */
void next_prepare(parapet_store *store, const client *of)
{
    put_array(store, "keep/k", &big, 0);
    assert_ok(seal_at(store, "keep/k"));
    put_group(store, "g");
    put_array(store, "g/b", &wide, 0);
    of->prepare(store);
    assert_ok(next_consolidate(store, "g"));
    assert_ok(next_consolidate(store, ""));
}

/* ---- Next comers ---- */

static parapet_status come_not(parapet_store *store, const client *of)
{
    (void)store;
    (void)of;
    return PARAPET_OK;
}

static parapet_status come_again(parapet_store *store, const client *of)
{
    return of->run(store, false);
}

static parapet_status come_collecting(parapet_store *store, const client *of)
{
    (void)of;
    return parapet_store_collect(store, "", 0, NULL, NULL);
}

static parapet_status come_collecting_dry(parapet_store *store, const client *of)
{
    (void)of;
    return parapet_store_collect(store, "", 1, NULL, NULL);
}

static parapet_status come_removing_dry(parapet_store *store, const client *of)
{
    (void)of;
    return parapet_store_remove(store, NEXT_NODE, 1, 1, NULL, NULL);
}

static parapet_status come_checking(parapet_store *store, const client *of)
{
    parapet_check_summary summary = {0};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, of->array);
    if (status != PARAPET_OK)
        return status;
    status = close_array(&array, parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    if (summary.missing + summary.torn > 0)
        fail_msg("checking %s: %" PRId64 " missing, %" PRId64 " torn", of->array, summary.missing, summary.torn);
    return status;
}

/* The first element of an array, or the last. */
static parapet_status write_at(parapet_store *store, const char *path, bool is_last)
{
    int64_t start[2] = {0}, count[2] = {1, 1};
    int32_t value = 777;
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = &value};
    parapet_array_info info;
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, path);
    if (status != PARAPET_OK)
        return status;
    assert_ok(parapet_array_get_info(array, &info));
    start[0] = is_last ? info.shape[0] - 1 : 0;
    start[1] = is_last ? info.shape[1] - 1 : 0;
    return close_array(&array, parapet_array_write(array, &part, 1));
}

static parapet_status come_writing(parapet_store *store, const client *of)
{
    return write_at(store, of->array, false);
}

static parapet_status come_writing_last(parapet_store *store, const client *of)
{
    return write_at(store, of->array, true);
}

static parapet_status come_describing(parapet_store *store, const client *of)
{
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, of->array);
    return status != PARAPET_OK ? status : close_array(&array, parapet_array_attribute_set(array, "note", "1"));
}

static parapet_status come_describing_group(parapet_store *store, const client *of)
{
    parapet_group *group = NULL;
    pp_failure failure = {0};
    (void)of;
    assert_ok(parapet_group_open(&group, store, "g"));
    pp_failure_take(&failure, parapet_group_attribute_set(group, "note", "2"));
    (void)parapet_group_close(&group);
    return pp_failure_put(&failure);
}

static parapet_status come_growing(parapet_store *store, const client *of)
{
    return resize_at(store, of->array, 3);
}

static parapet_status come_shrinking(parapet_store *store, const client *of)
{
    return resize_at(store, of->array, -1);
}

static parapet_status come_sealing(parapet_store *store, const client *of)
{
    return seal_at(store, of->array);
}

static parapet_status come_consolidating_group(parapet_store *store, const client *of)
{
    (void)of;
    return next_consolidate(store, "g");
}

static parapet_status come_consolidating_root(parapet_store *store, const client *of)
{
    (void)of;
    return next_consolidate(store, "");
}

static parapet_status come_copying_it(parapet_store *store, const client *of)
{
    parapet_copy_request request = {
        .source = store, .source_path = NEXT_NODE, .target = store, .target_path = "elsewhere/n"};
    (void)of;
    return copy_from(&request);
}

static parapet_status come_copying_over(parapet_store *store, const client *of)
{
    return copy_big(store, of->array, 0, 1);
}

static parapet_status come_resuming(parapet_store *store, const client *of)
{
    return of->is_resumed ? of->run(store, true) : copy_big(store, NEXT_NODE, 1, 0);
}

static parapet_status come_appending(parapet_store *store, const client *of)
{
    (void)of;
    return append(store, false);
}

static parapet_status come_creating_beside(parapet_store *store, const client *of)
{
    parapet_array *array = NULL;
    parapet_status status = create_array(&array, store, "g/fresh", &wide, 0);
    (void)of;
    return status != PARAPET_OK ? status : parapet_array_close(&array);
}

static parapet_status come_removing_beside(parapet_store *store, const client *of)
{
    (void)of;
    return parapet_store_remove(store, "g/b", 0, 0, NULL, NULL);
}

static parapet_status come_overwriting(parapet_store *store, const client *of)
{
    return overwrite_at(store, of->array);
}

static parapet_status come_removing(parapet_store *store, const client *of)
{
    (void)of;
    return next_remove(store);
}

static parapet_status come_opening_series(parapet_store *store, const client *of)
{
    parapet_series *series = NULL;
    parapet_status status = parapet_series_open(&series, store, NEXT_NODE);
    (void)of;
    return status != PARAPET_OK ? status : parapet_series_close(&series);
}

static parapet_status come_restoring(parapet_store *store, const client *of)
{
    parapet_restore *restore = NULL;
    parapet_status status = parapet_restore_open(&restore, store, NEXT_NODE, 0);
    (void)of;
    return status != PARAPET_OK ? status : parapet_restore_close(&restore);
}

const comer comers[COMERS] = {
    [NOBODY] = {"nobody", come_not, true, true},
    [GC] = {"gc", come_collecting, false, true},
    [COPY_IT] = {"copy it", come_copying_it, false, true},
    {"the same call", come_again, false, false},
    {"gc, dry", come_collecting_dry, true, true},
    {"remove, dry", come_removing_dry, true, true},
    {"check", come_checking, true, true},
    {"write an element", come_writing, false, false},
    {"write the last element", come_writing_last, false, false},
    {"set an attribute", come_describing, false, false},
    {"set an attribute of the group around", come_describing_group, false, true},
    {"grow", come_growing, false, false},
    {"shrink", come_shrinking, false, false},
    {"seal", come_sealing, false, false},
    {"consolidate the group around", come_consolidating_group, false, true},
    {"consolidate the root", come_consolidating_root, false, true},
    {"copy over it", come_copying_over, false, false},
    {"resume a copy", come_resuming, false, false},
    {"append", come_appending, false, false},
    {"create beside it", come_creating_beside, false, true},
    {"remove beside it", come_removing_beside, false, true},
    {"overwrite", come_overwriting, false, false},
    {"remove", come_removing, false, false},
    {"open the series", come_opening_series, false, false},
    {"restore", come_restoring, true, false},
};
