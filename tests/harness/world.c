/* world.c - making a store for a race, and looking at it afterwards: see
 * world.h. */
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARRAY_VALUE = 100, SOURCE_VALUE = 500, FIRST_STEP = 7, FIRST_GENERATION = 70 };

static const int64_t shape[1] = {LENGTH}, chunks[1] = {CHUNK}, shards[1] = {SHARD}, origin[1] = {0};
static const parapet_array_spec array_spec = {
    .ndim = 1, .type = PARAPET_INT64, .shape = shape, .chunks = chunks, .shards = shards};

/* ---- Making ---- */

static parapet_status make_array(parapet_store *store, const char *path, int64_t first, bool seals)
{
    int64_t values[LENGTH];
    parapet_part part = {.ndim = 1, .start = origin, .count = shape, .data = values};
    parapet_array *array = NULL;
    parapet_status status;
    int i;
    for (i = 0; i < LENGTH; i++)
        values[i] = first + i;
    if ((status = parapet_array_create(&array, store, path, &array_spec)) == PARAPET_OK &&
        (status = parapet_array_write(array, &part, 1)) == PARAPET_OK && seals)
        status = parapet_array_seal(array);
    (void)parapet_array_close(&array);
    return status;
}

/* One step in rows of two: the next one is put beside it. */
static parapet_status make_series(parapet_store *store)
{
    static const int64_t step_shape[2] = {0, 2 * CHUNK}, step_chunks[2] = {1, CHUNK}, step_shards[2] = {2, CHUNK};
    parapet_array_spec spec = {
        .ndim = 2, .type = PARAPET_INT64, .shape = step_shape, .chunks = step_chunks, .shards = step_shards};
    parapet_series_spec all = {.count = 1, .names = (const char *const[]){"u"}, .specs = &spec};
    parapet_series *series = NULL;
    parapet_status status = parapet_series_create(&series, store, "s", &all);
    return status == PARAPET_OK ? parapet_series_close(&series) : status;
}

/* Ends a copy in its middle. */
static int stop_half_way(void *context, int64_t done_bytes, int64_t total_bytes)
{
    (void)context;
    return total_bytes > 0 && done_bytes * 2 >= total_bytes;
}

static parapet_status begin_copy(const char *url)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .progress = stop_half_way};
    parapet_store *store = NULL;
    parapet_status status = parapet_store_open(&store, MPI_COMM_NULL, url, PARAPET_UPDATE, &options);
    if (status != PARAPET_OK)
        return status;
    status = operation_copy(store, &(part_of_race){.does = OP_COPY}, false);
    (void)parapet_store_close(&store);
    return status == PARAPET_ERR_CANCELLED ? PARAPET_OK : status;
}

static parapet_status consolidate(parapet_store *store)
{
    parapet_group *root = NULL;
    parapet_status status = parapet_group_open(&root, store, "");
    if (status == PARAPET_OK)
        status = parapet_group_consolidate(root);
    (void)parapet_group_close(&root);
    return status;
}

static parapet_status fill_store(parapet_store *store, const char *url, const race *run)
{
    const actor alone = {.store = store, .ranks = 1};
    parapet_status status = make_array(store, "source", SOURCE_VALUE, false);
    if (status == PARAPET_OK && run->has_array)
        status = make_array(store, "a", ARRAY_VALUE, run->is_sealed);
    if (status == PARAPET_OK && (status = make_series(store)) == PARAPET_OK)
        status = operation_append(&alone, FIRST_STEP);
    if (status == PARAPET_OK)
        status = operation_commit(&alone, FIRST_GENERATION, 0, NULL);
    if (status == PARAPET_OK && run->is_consolidated)
        status = consolidate(store);
    return status == PARAPET_OK && run->is_begun ? begin_copy(url) : status;
}

static void describe(const race *run, world *made)
{
    int i;
    memset(made, 0, sizeof *made);
    if (run->has_array) {
        made->array = (world_array){.exists = true, .is_sealed = run->is_sealed, .length = LENGTH};
        for (i = 0; i < LENGTH; i++)
            made->array.values[i] = ARRAY_VALUE + i;
    }
    made->step_count = 1;
    made->steps[0] = FIRST_STEP;
    made->generation_count = 1;
    made->generations[0] = 1;
    made->marks[0] = FIRST_GENERATION;
}

bool world_make(const char *url, const race *run, world *made)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_store *store = NULL;
    parapet_status status = parapet_store_open(&store, MPI_COMM_NULL, url, PARAPET_CREATE, &options);
    if (status == PARAPET_OK)
        status = fill_store(store, url, run);
    if (status != PARAPET_OK)
        fprintf(stderr, "the store of a race cannot be made: %s\n", parapet_error_message());
    (void)parapet_store_close(&store);
    describe(run, made);
    return status == PARAPET_OK;
}

/* ---- Looking ---- */

static int64_t attribute_of(parapet_array *array, const char *name)
{
    char *json = NULL;
    int64_t value = 0;
    if (parapet_array_attribute_get(array, name, &json) == PARAPET_OK)
        value = strtoll(json, NULL, 10);
    parapet_free(json);
    return value;
}

static parapet_status look_at_array(parapet_store *store, const char *path, world_array *found)
{
    parapet_array_info info = {0};
    parapet_array *array = NULL;
    int64_t count[1];
    parapet_part part = {.ndim = 1, .start = origin, .count = count, .data = found->values};
    parapet_status status = parapet_array_open(&array, store, path);
    if (status != PARAPET_OK)
        return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
    (void)parapet_array_get_info(array, &info);
    found->exists = true;
    found->is_sealed = info.is_sealed;
    found->length = count[0] = info.shape[0];
    found->made = attribute_of(array, "made");
    found->set[0] = attribute_of(array, "job0");
    found->set[1] = attribute_of(array, "job1");
    status = parapet_array_read(array, &part, 1);
    (void)parapet_array_close(&array);
    return status;
}

/* A step is its mark, in all of its values and as its coordinate; -1: it is
 * something else. */
static parapet_status look_at_steps(parapet_store *store, world *found)
{
    int64_t values[STEPS_MOST][2 * CHUNK], start[2] = {0, 0}, count[2] = {0, 2 * CHUNK};
    double times[STEPS_MOST];
    parapet_part parts[2] = {{.ndim = 2, .start = start, .count = count, .data = values},
                             {.ndim = 1, .start = start, .count = count, .data = times}};
    parapet_array *arrays[2] = {NULL, NULL};
    parapet_array_info info = {0};
    parapet_status status = parapet_arrays_open(arrays, store, (const char *const[]){"s/u", "s/time"}, 2);
    int64_t i, k;
    if (status != PARAPET_OK)
        return status;
    (void)parapet_array_get_info(arrays[0], &info);
    found->step_count = count[0] = info.shape[0] < STEPS_MOST ? info.shape[0] : STEPS_MOST;
    if ((status = parapet_array_read(arrays[0], &parts[0], 1)) == PARAPET_OK)
        status = parapet_array_read(arrays[1], &parts[1], 1);
    for (i = 0; i < count[0] && status == PARAPET_OK; i++) {
        found->steps[i] = values[i][0];
        for (k = 0; k < 2 * CHUNK; k++)
            if (values[i][k] != values[i][0] || times[i] != (double)values[i][0])
                found->steps[i] = -1;
    }
    (void)parapet_arrays_close(arrays, 2);
    return status;
}

static int take_generation(void *context, int64_t generation, const char *path)
{
    world *found = context;
    (void)path;
    found->generations[found->generation_count] = generation;
    return ++found->generation_count == GENERATIONS_MOST;
}

static parapet_status look_at_generations(parapet_store *store, world *found)
{
    parapet_status status = parapet_checkpoint_list(store, "c", take_generation, found);
    outcome told = {0};
    int64_t i;
    for (i = 0; i < found->generation_count && status == PARAPET_OK; i++) {
        status = operation_restore(store, found->generations[i], &told);
        found->marks[i] = told.mark;
    }
    return status;
}

static parapet_status look(const char *url, world *found, outcome *checked)
{
    parapet_store *store = NULL;
    parapet_status status = parapet_store_open(&store, MPI_COMM_NULL, url, PARAPET_READ, NULL);
    if (status == PARAPET_OK && (status = look_at_array(store, "a", &found->array)) == PARAPET_OK &&
        (status = look_at_array(store, "t", &found->target)) == PARAPET_OK &&
        (status = look_at_steps(store, found)) == PARAPET_OK &&
        (status = look_at_generations(store, found)) == PARAPET_OK)
        status = operation_check_all(store, checked);
    (void)parapet_store_close(&store);
    return status;
}

/* ---- Consolidated metadata ---- */

static size_t read_root(const char *url, char *text, size_t room)
{
    char path[700];
    size_t bytes = 0;
    FILE *file;
    (void)snprintf(path, sizeof path, "%s/zarr.json", url);
    if ((file = fopen(path, "r")) != NULL) {
        bytes = fread(text, 1, room - 1, file);
        (void)fclose(file);
    }
    text[bytes] = '\0';
    return bytes;
}

/* What is consolidated is what consolidating it again gives. */
static bool is_consolidated_right(const char *url)
{
    static char before[262144], after[262144];
    parapet_store *store = NULL;
    size_t bytes = read_root(url, before, sizeof before);
    bool is_right;
    if (strstr(before, "consolidated_metadata") == NULL)
        return bytes > 0;
    if (parapet_store_open(&store, MPI_COMM_NULL, url, PARAPET_UPDATE, NULL) != PARAPET_OK)
        return false;
    is_right = consolidate(store) == PARAPET_OK;
    (void)parapet_store_close(&store);
    return is_right && read_root(url, after, sizeof after) == bytes && memcmp(before, after, bytes) == 0;
}

/* Other readers warn about the directory. A mark stays in it: whoever copies or removes next consolidates by it. */
static bool has_lock_of_root(const char *url)
{
    char path[700], mark[720];
    (void)snprintf(path, sizeof path, "%s/__parapet", url);
    (void)snprintf(mark, sizeof mark, "%s/consolidate", path);
    return access(path, F_OK) == 0 && access(mark, F_OK) != 0;
}

static bool is_clean(const char *url, const outcome *checked)
{
    if (checked->strays > 0)
        fprintf(stderr, "  check finds %" PRId64 " left over: %s\n", checked->strays, checked->sentence);
    if (has_lock_of_root(url))
        fprintf(stderr, "  the lock of the root was left\n");
    return checked->strays == 0 && !has_lock_of_root(url);
}

bool world_look(const char *url, bool may_leave, world *found)
{
    outcome checked = {0};
    parapet_status status;
    memset(found, 0, sizeof *found);
    if ((status = look(url, found, &checked)) != PARAPET_OK) {
        fprintf(stderr, "  the store cannot be read: %s\n", parapet_error_message());
        return false;
    }
    if (checked.alarms > 0) {
        fprintf(stderr, "  check finds %" PRId64 " damaged: %s\n", checked.alarms, checked.sentence);
        return false;
    }
    if (!is_consolidated_right(url)) {
        fprintf(stderr, "  consolidated metadata are not what they repeat\n");
        return false;
    }
    return may_leave || is_clean(url, &checked);
}

/* ---- Taking over ---- */

static parapet_status take_array(const actor *own, const world *found)
{
    race run = {.jobs = {{.does = OP_WRITE_SHARDS, .mark = 3}}};
    outcome told;
    if (!found->array.exists)
        run.jobs[0].does = OP_OVERWRITE;
    operation_run(own, &run, &told);
    if (told.status != PARAPET_OK || !found->array.exists)
        return told.status;
    run.jobs[0].does = OP_ATTRIBUTE;
    operation_run(own, &run, &told);
    if (told.status != PARAPET_OK)
        return told.status;
    run.jobs[0].does = OP_SEAL;
    operation_run(own, &run, &told);
    return told.status;
}

bool world_take_over(const char *url, const world *found)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    actor own = {.ranks = 1};
    outcome told = {0};
    parapet_status status = parapet_store_open(&own.store, MPI_COMM_NULL, url, PARAPET_UPDATE, &options);
    if (status == PARAPET_OK && (status = take_array(&own, found)) == PARAPET_OK &&
        (status = operation_append(&own, 3)) == PARAPET_OK &&
        (status = operation_commit(&own, 3, 1, NULL)) == PARAPET_OK &&
        (status = parapet_store_collect(own.store, "", 0, NULL, NULL)) == PARAPET_OK)
        status = operation_check_all(own.store, &told);
    if (status != PARAPET_OK)
        fprintf(stderr, "  taking over: %s\n", parapet_error_message());
    else if (told.alarms > 0 || told.strays > 0)
        fprintf(stderr, "  after taking over: %s\n", told.sentence);
    (void)parapet_store_close(&own.store);
    return status == PARAPET_OK && told.alarms == 0 && told.strays == 0;
}

/* ---- Comparing ---- */

static bool array_equals(const world_array *left, const world_array *right, bool has_seal)
{
    world_array other = *right;
    if (!has_seal)
        other.is_sealed = left->is_sealed;
    return left->exists == other.exists && left->is_sealed == other.is_sealed && left->length == other.length &&
           left->made == other.made && left->set[0] == other.set[0] && left->set[1] == other.set[1] &&
           memcmp(left->values, other.values, sizeof left->values) == 0;
}

bool world_equals(const world *left, const world *right, bool has_seal)
{
    size_t generations = (size_t)left->generation_count * sizeof left->generations[0];
    return array_equals(&left->array, &right->array, has_seal) &&
           array_equals(&left->target, &right->target, false) && left->step_count == right->step_count &&
           memcmp(left->steps, right->steps, (size_t)left->step_count * sizeof left->steps[0]) == 0 &&
           left->generation_count == right->generation_count &&
           memcmp(left->generations, right->generations, generations) == 0 &&
           memcmp(left->marks, right->marks, generations) == 0;
}

static void print_array(const char *name, const world_array *of)
{
    int64_t i;
    fprintf(stderr, "    %s: ", name);
    if (!of->exists) {
        fprintf(stderr, "none\n");
        return;
    }
    fprintf(stderr, "%" PRId64 "%s, made %" PRId64 ", set %" PRId64 " %" PRId64 ":", of->length,
            of->is_sealed ? " sealed" : "", of->made, of->set[0], of->set[1]);
    for (i = 0; i < of->length; i += CHUNK / 2)
        fprintf(stderr, " %" PRId64, of->values[i]);
    fprintf(stderr, "\n");
}

void world_print(const char *title, const world *of)
{
    int64_t i;
    fprintf(stderr, "  %s:\n", title);
    print_array("a", &of->array);
    print_array("t", &of->target);
    fprintf(stderr, "    steps");
    for (i = 0; i < of->step_count; i++)
        fprintf(stderr, " %" PRId64, of->steps[i]);
    fprintf(stderr, ", generations");
    for (i = 0; i < of->generation_count; i++)
        fprintf(stderr, " %" PRId64 "(%" PRId64 ")", of->generations[i], of->marks[i]);
    fprintf(stderr, "\n");
}
