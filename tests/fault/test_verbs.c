/* What the verbs of the tool do, in a store that has something of everything, fails once at each place in the code:
 * an operation of storage, before and after it takes effect, and an allocation. The call says so or does without, all
 * memory is given back, whatever the verb is not about reads as before, and the verb works once the trouble is gone.
 *
 * fault_verbs quick|full: quick takes some of the places.
 *
 * fault_sites and fault_*_points ask more of single calls; this asks the same of all. */
#include "support.h"

#include <unistd.h>

#include <parapet_plan.h>

#include "array/open.h"
#include "array/store_queries.h"
#include "base/memory.h"
#include "base/status.h"
#include "image.h"
#include "places.h"
#include "scratch.h"
#include "stores/faulty.h"

enum { EDGE = 10, LENGTH = 24, QUICK_STRIDE = 11 };

static const parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE, .threads = 1};

typedef struct bed {
    pp_store *inner, *faulty;
    pp_fault_plan plan;
    parapet_store *store;
} bed;

/* ---- What is stored before ---- */

static int32_t value_of(int64_t i)
{
    return (int32_t)(1000 + 7 * i);
}

static parapet_status write_values(parapet_array *array, int ndim, const int64_t *count)
{
    int32_t values[EDGE * EDGE];
    int64_t start[2] = {0, 0}, i;
    parapet_part part = {.ndim = ndim, .start = start, .count = count, .data = values};
    for (i = 0; i < EDGE * EDGE; i++)
        values[i] = value_of(i);
    return parapet_array_write(array, &part, 1);
}

/* A sealed one of two dimensions, and one without shards that is written in part. */
static void prepare_arrays(parapet_store *store)
{
    static const int64_t shape[2] = {EDGE, EDGE}, chunks[2] = {2, 5}, shards[2] = {4, 5}, length[1] = {LENGTH};
    static const int64_t chunk[1] = {5}, some[1] = {11};
    static const char *const names[2] = {"y", "x"};
    parapet_array_spec a = {.type = PARAPET_INT32,
                            .ndim = 2,
                            .shape = shape,
                            .chunks = chunks,
                            .shards = shards,
                            .codec = "none",
                            .dimension_names = names,
                            .attributes = "{\"units\": \"K\"}"};
    parapet_array_spec b = {.type = PARAPET_INT32, .ndim = 1, .shape = length, .chunks = chunk, .shards = chunk};
    parapet_group *group;
    parapet_array *array;
    assert_ok(parapet_group_create(&group, store, "g/deep", "{\"title\": \"deep\"}"));
    assert_ok(parapet_group_close(&group));
    assert_ok(parapet_array_create(&array, store, "g/a", &a));
    assert_ok(write_values(array, 2, shape));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_array_create(&array, store, "g/deep/b", &b));
    assert_ok(write_values(array, 1, some));
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_group_open(&group, store, "g"));
    assert_ok(parapet_group_consolidate(group));
    assert_ok(parapet_group_close(&group));
}

/* What others have written, and what is left of files that were never published. */
static void prepare_foreign(pp_store *inner)
{
    static const char old[] = "{\"zarr_format\": 2, \"shape\": [10, 10], \"chunks\": [5, 6], \"dtype\": \"<i4\", "
                              "\"compressor\": null, \"fill_value\": 7, \"order\": \"C\", \"filters\": null}";
    static const char words[] =
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [5], \"data_type\": \"string\", \"fill_value\": "
        "\"f\", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [2]}},"
        " \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}},"
        " \"codecs\": [{\"name\": \"vlen-utf8\"}], \"attributes\": {}}";
    static const char texts[] = "\2\0\0\0\1\0\0\0a\2\0\0\0bc";
    static const char *const temporary = "g/a/__parapet/tmp/.parapet-0123456789abcdef0123456789abcdef.tmp";
    image_put_object(inner, "old/.zarray", old, sizeof old - 1);
    image_put_object(inner, "old/.zattrs", "{\"units\": \"K\"}", 14);
    image_put_object(inner, "words/zarr.json", words, sizeof words - 1);
    image_put_object(inner, "words/c/0", texts, sizeof texts - 1);
    image_put_object(inner, temporary, "half", 4);
}

static parapet_status append(parapet_store *store, int count)
{
    int64_t start[1] = {0}, width[1] = {3};
    int32_t values[3] = {1, 2, 3};
    parapet_part part = {.ndim = 1, .start = start, .count = width, .data = values};
    parapet_step step = {&part, 1, {0}};
    parapet_series *series = NULL;
    parapet_status status = parapet_series_open(&series, store, "s"), closed;
    for (; count > 0 && status == PARAPET_OK; count--)
        status = parapet_series_append(series, count, &step);
    closed = parapet_series_close(&series);
    return status != PARAPET_OK ? status : closed;
}

static void prepare_series(bed *work)
{
    static const int64_t shape[2] = {0, 3}, shards[2] = {2, 3};
    static const char *const name = "u";
    parapet_array_spec array = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = shards, .shards = shards};
    parapet_series_spec spec = {.count = 1, .names = &name, .specs = &array};
    parapet_series *series;
    assert_ok(parapet_series_create(&series, work->store, "s", &spec));
    assert_ok(parapet_series_close(&series));
    assert_ok(append(work->store, 3));
    image_put_object(work->inner, "s/__parapet/open/0", "half", 4);
}

static parapet_status put_generation(parapet_checkpoint **checkpoint, parapet_store *store, const char *path,
                                     int64_t keep)
{
    static const int64_t shape[1] = {LENGTH}, shards[1] = {8}, start[1] = {0};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = shape, .chunks = shards, .shards = shards};
    int32_t values[LENGTH];
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_checkpoint_item item = {.name = "x", .spec = &spec, .parts = &part, .part_count = 1};
    parapet_checkpoint_options how = {.keep = keep};
    parapet_status status;
    int i;
    for (i = 0; i < LENGTH; i++)
        values[i] = value_of(i);
    if ((status = parapet_checkpoint_begin(checkpoint, store, path, &how)) != PARAPET_OK ||
        (status = parapet_checkpoint_put(*checkpoint, &item, 1)) != PARAPET_OK)
        return status;
    return parapet_checkpoint_attribute_set(*checkpoint, "step", "7");
}

static parapet_status commit(parapet_store *store, const char *path, int64_t keep)
{
    parapet_checkpoint *checkpoint = NULL;
    pp_failure failure = {0};
    parapet_status status = put_generation(&checkpoint, store, path, keep);
    if (status == PARAPET_OK)
        return parapet_checkpoint_commit(&checkpoint, NULL);
    pp_failure_take(&failure, status);
    (void)parapet_checkpoint_abort(&checkpoint);
    return pp_failure_put(&failure);
}

typedef struct generations {
    char paths[3][64];
    int count;
} generations;

static int take_generation(void *context, int64_t generation, const char *path)
{
    generations *all = context;
    (void)snprintf(all->paths[all->count++], sizeof all->paths[0], "%s", path);
    return generation <= 0;
}

/* Generations: two at c, and one that was never committed; three at d, of which the newest has a document that nobody
 * can read, and the next one a damaged shard. */
static parapet_checkpoint *prepare_checkpoints(bed *work)
{
    static const char unread[] =
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [24], \"data_type\": \"int32\", \"fill_value\": 0,"
        " \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [8]}},"
        " \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}},"
        " \"codecs\": [{\"name\": \"squeeze\"}], \"attributes\": {}}";
    parapet_checkpoint *open = NULL;
    generations at_d = {0};
    char key[96];
    int i;
    for (i = 0; i < 3; i++) {
        assert_ok(commit(work->store, "c", 2));
        assert_ok(commit(work->store, "d", 3));
    }
    assert_ok(parapet_checkpoint_list(work->store, "d", take_generation, &at_d));
    assert_int_equal(at_d.count, 3);
    (void)snprintf(key, sizeof key, "%s/x/zarr.json", at_d.paths[0]);
    image_put_object(work->inner, key, unread, sizeof unread - 1);
    (void)snprintf(key, sizeof key, "%s/x/c/1", at_d.paths[1]);
    image_put_object(work->inner, key, "damaged", 7);
    assert_ok(put_generation(&open, work->store, "c", 2));
    return open;
}

static parapet_status copy(parapet_store *store, const char *from, const char *to, const char *order)
{
    parapet_copy_request request = {.source = store,
                                    .source_path = from,
                                    .target = store,
                                    .target_path = to,
                                    .changes = {.chunks = order == NULL ? "y/3,x/4" : NULL, .order = order},
                                    .unit_bytes = 64,
                                    .overwrite = 1,
                                    .verify = 1,
                                    .no_probe = 1};
    return parapet_copy(&request, NULL);
}

/* Two copies that storage has left in the middle. */
static void prepare_copies(bed *work)
{
    static const char *const targets[2] = {"half/resumed", "half/left"};
    int i;
    for (i = 0; i < 2; i++) {
        work->plan = (pp_fault_plan){.fail_at = 90, .fail_forever = true};
        assert_int_equal(copy(work->store, "g/a", targets[i], NULL), PARAPET_ERR_IO);
        work->plan = (pp_fault_plan){.fail_at = -1};
    }
}

enum { YEAR_BEFORE = 3, YEAR_ADDED = 2, YEAR_WIDTH = 4 };

static void put_along(parapet_store *store, const char *path, int ndim, int first, int length)
{
    static const char *const names[2] = {"time", "x"};
    const int64_t shape[2] = {length, YEAR_WIDTH}, shards[2] = {2, YEAR_WIDTH}, start[2] = {0, 0};
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = ndim,
                               .shape = shape,
                               .chunks = shards,
                               .shards = shards,
                               .dimension_names = names,
                               .overwrite = 1};
    int32_t values[YEAR_BEFORE * YEAR_WIDTH];
    parapet_part part = {.ndim = ndim, .start = start, .count = shape, .data = values};
    parapet_array *array;
    int i;
    for (i = 0; i < YEAR_BEFORE * YEAR_WIDTH; i++)
        values[i] = first + i;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

/* A coordinate, what lies along it, and what does not: numbers and text. */
static void put_year(bed *work, const char *path, int first, int length)
{
    static const int64_t width[1] = {YEAR_WIDTH}, start[1] = {0};
    static const char *const name = "x";
    static const char text[] =
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [2], \"data_type\": \"string\", \"fill_value\": "
        "\"f\", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [2]}},"
        " \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}},"
        " \"codecs\": [{\"name\": \"vlen-utf8\"}], \"attributes\": {}}";
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 1,
                               .shape = width,
                               .chunks = width,
                               .unsharded = 1,
                               .dimension_names = &name,
                               .overwrite = 1};
    int32_t values[YEAR_WIDTH] = {4, 3, 2, 1};
    parapet_part part = {.ndim = 1, .start = start, .count = width, .data = values};
    parapet_array *array;
    parapet_group *group;
    char key[64];
    assert_ok(parapet_group_create(&group, work->store, path, NULL));
    assert_ok(parapet_group_close(&group));
    (void)snprintf(key, sizeof key, "%s/x", path);
    assert_ok(parapet_array_create(&array, work->store, key, &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
    (void)snprintf(key, sizeof key, "%s/time", path);
    put_along(work->store, key, 1, first, length);
    (void)snprintf(key, sizeof key, "%s/t", path);
    put_along(work->store, key, 2, first, length);
    (void)snprintf(key, sizeof key, "%s/station/zarr.json", path);
    image_put_object(work->inner, key, text, sizeof text - 1);
    assert_ok(parapet_group_open(&group, work->store, path));
    assert_ok(parapet_group_consolidate(group));
    assert_ok(parapet_group_close(&group));
}

static parapet_copy_request year_request(parapet_store *store, const char *target)
{
    return (parapet_copy_request){
        .source = store, .source_path = "years/more", .target = store, .target_path = target, .append = "time"};
}

static parapet_status append_year(parapet_store *store, const char *target)
{
    parapet_copy_request request = year_request(store, target);
    return parapet_copy(&request, NULL);
}

/* Whether there is the record of a change, and the coordinate is so long. */
static bool is_year_left(const bed *work, const char *path, int length)
{
    char key[64], *mark = NULL;
    parapet_array_info info;
    parapet_array *array;
    size_t bytes;
    bool is_left = false;
    (void)snprintf(key, sizeof key, "%s/__parapet/change", path);
    if (pp_store_read_all(work->inner, key, 10000, &mark, &bytes) == PARAPET_OK) {
        (void)snprintf(key, sizeof key, "%s/time", path);
        assert_ok(parapet_array_open(&array, work->store, key));
        assert_ok(parapet_array_get_info(array, &info));
        is_left = info.shape[0] == length;
        assert_ok(parapet_array_close(&array));
    }
    pp_free(mark);
    return is_left;
}

/* An append that storage has left in the middle, when the coordinate was so long. */
static void prepare_interrupted(bed *work, const char *path, int length)
{
    long at;
    for (at = 40; !is_year_left(work, path, length); at += 3) {
        assert_true(at < 1000);
        assert_ok(pp_store_remove_prefix(work->inner, path));
        put_year(work, path, 0, YEAR_BEFORE);
        work->plan = (pp_fault_plan){.fail_at = at, .fail_forever = true};
        assert_int_equal(append_year(work->store, path), PARAPET_ERR_IO);
        work->plan = (pp_fault_plan){.fail_at = -1};
    }
}

static void prepare_years(bed *work)
{
    put_year(work, "years/more", YEAR_BEFORE, YEAR_ADDED);
    put_year(work, "years/all", 0, YEAR_BEFORE);
    prepare_interrupted(work, "years/undone", YEAR_BEFORE);
    prepare_interrupted(work, "years/done", YEAR_BEFORE + YEAR_ADDED);
}

static void bed_build(bed *work, const image *before)
{
    *work = (bed){.plan = {.fail_at = -1}};
    assert_ok(pp_store_memory_build(&work->inner, NULL));
    if (before != NULL)
        image_put(before, work->inner);
    assert_ok(pp_store_faulty_build(&work->faulty, work->inner, &work->plan));
    assert_ok(pp_store_open_over(&work->store, MPI_COMM_NULL, work->faulty,
                                 before != NULL ? PARAPET_UPDATE : PARAPET_CREATE, &options));
}

static void bed_free(bed *work)
{
    assert_ok(parapet_store_close(&work->store));
    pp_store_free(work->faulty);
    pp_store_free(work->inner);
}

static void prepare(image *before)
{
    parapet_checkpoint *open;
    bed work;
    bed_build(&work, NULL);
    prepare_arrays(work.store);
    prepare_foreign(work.inner);
    prepare_series(&work);
    prepare_copies(&work);
    prepare_years(&work);
    open = prepare_checkpoints(&work);
    image_take(before, work.inner);
    assert_ok(parapet_checkpoint_abort(&open));
    bed_free(&work);
}

/* ---- The verbs; each closes what it opened ---- */

static int count_nodes(void *context, const char *name, parapet_node_kind kind)
{
    (void)name;
    (void)kind;
    ++*(int *)context;
    return 0;
}

static parapet_status list(parapet_store *store)
{
    static const char *const paths[] = {"", "g", "g/deep", "half", "c"};
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < sizeof paths / sizeof paths[0] && status == PARAPET_OK; i++) {
        parapet_group *group = NULL;
        int count = 0;
        if ((status = parapet_group_open(&group, store, paths[i])) == PARAPET_OK)
            status = parapet_group_list(group, count_nodes, &count);
        (void)parapet_group_close(&group);
    }
    return status;
}

static parapet_status check(parapet_store *store)
{
    static const char *const paths[] = {"g/a", "g/deep/b", "old", "s/u"};
    parapet_check_summary summary;
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < sizeof paths / sizeof paths[0] && status == PARAPET_OK; i++) {
        parapet_array *array = NULL;
        if ((status = parapet_array_open(&array, store, paths[i])) == PARAPET_OK)
            status = parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary);
        (void)parapet_array_close(&array);
    }
    return status;
}

static int note_removed(void *context, const char *key, const char *reason)
{
    (void)context;
    assert_true(key[0] != '\0' || reason[0] != '\0');
    return 0;
}

static parapet_status collect_dry(parapet_store *store)
{
    return parapet_store_collect(store, "", 1, note_removed, NULL);
}

static parapet_status collect(parapet_store *store)
{
    return parapet_store_collect(store, "", 0, note_removed, NULL);
}

static parapet_status remove_dry(parapet_store *store)
{
    static const char *const paths[] = {"g", "s", "c", "d", "half"};
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < sizeof paths / sizeof paths[0] && status == PARAPET_OK; i++)
        status = parapet_store_remove(store, paths[i], 1, 1, note_removed, NULL);
    return status;
}

static parapet_status remove_group(parapet_store *store)
{
    return parapet_store_remove(store, "g", 1, 0, note_removed, NULL);
}

static parapet_status remove_array(parapet_store *store)
{
    return parapet_store_remove(store, "g/deep/b", 0, 0, note_removed, NULL);
}

static parapet_status remove_checkpoint(parapet_store *store)
{
    return parapet_store_remove(store, "c", 1, 0, note_removed, NULL);
}

static parapet_status remove_series(parapet_store *store)
{
    return parapet_store_remove(store, "s", 1, 0, note_removed, NULL);
}

static parapet_status remove_copies(parapet_store *store)
{
    return parapet_store_remove(store, "half", 1, 0, note_removed, NULL);
}

static parapet_status get_generation(parapet_restore *restore)
{
    static const int64_t count[1] = {LENGTH}, start[1] = {0};
    int32_t values[LENGTH] = {0};
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    parapet_checkpoint_item item = {.name = "x", .parts = &part, .part_count = 1};
    parapet_restore_info info;
    parapet_array_info array;
    char *json = NULL;
    parapet_status status;
    if ((status = parapet_restore_get_info(restore, &info)) != PARAPET_OK ||
        (status = parapet_restore_get_array_info(restore, 0, &array)) != PARAPET_OK ||
        (status = parapet_restore_get(restore, &item, 1)) != PARAPET_OK ||
        (status = parapet_restore_attribute_get(restore, "step", &json)) != PARAPET_OK)
        return status;
    assert_string_equal(json, "7");
    assert_int_equal(values[LENGTH - 1], value_of(LENGTH - 1));
    parapet_free(json);
    return PARAPET_OK;
}

static int ignore_generation(void *context, int64_t generation, const char *path)
{
    (void)context;
    (void)generation;
    (void)path;
    return 0;
}

static parapet_status restore_from(parapet_store *store, const char *path, int64_t passed_over)
{
    parapet_restore *restore = NULL;
    parapet_restore_info info;
    parapet_status status = parapet_restore_open(&restore, store, path, 0);
    if (status != PARAPET_OK)
        return status;
    status = get_generation(restore);
    if (status == PARAPET_OK) {
        assert_ok(parapet_restore_get_info(restore, &info));
        assert_int_equal(info.passed_over, passed_over);
    }
    (void)parapet_restore_close(&restore);
    return status == PARAPET_OK ? parapet_checkpoint_list(store, path, ignore_generation, NULL) : status;
}

static parapet_status restore(parapet_store *store)
{
    return restore_from(store, "c", 0);
}

static parapet_status restore_older(parapet_store *store)
{
    return restore_from(store, "d", 2);
}

static parapet_status commit_one(parapet_store *store)
{
    return commit(store, "c", 1);
}

static parapet_status commit_over_damage(parapet_store *store)
{
    return commit(store, "d", 3);
}

static parapet_status copy_group(parapet_store *store)
{
    return copy(store, "g", "copies/g", NULL);
}

static parapet_status copy_turned(parapet_store *store)
{
    return copy(store, "g/a", "copies/a", "x,-y");
}

static parapet_status copy_over(parapet_store *store)
{
    return copy(store, "g/a", "g/deep/b", NULL);
}

/* What nobody can decode, and once more over itself. */
static parapet_status copy_text_over(parapet_store *store)
{
    parapet_status status = copy(store, "words", "copies/words", "");
    return status == PARAPET_OK ? copy(store, "words", "copies/words", "") : status;
}

static int cancel_third(void *context, int64_t done_bytes, int64_t total_bytes)
{
    (void)done_bytes;
    (void)total_bytes;
    return ++*(int *)context == 3;
}

/* Cancelled at its third report, unless what an earlier one has left is done before that, and then resumed. */
static parapet_status copy_resumed(parapet_store *store)
{
    int reports = 0;
    parapet_store_options cancelling = {
        .io_thread = PARAPET_IO_THREAD_NONE, .threads = 1, .progress = cancel_third, .progress_context = &reports};
    parapet_copy_request request = {.source = store,
                                    .source_path = "g/a",
                                    .target_path = "copies/resumed",
                                    .changes = {.chunks = "y/3,x/4"},
                                    .unit_bytes = 64,
                                    .resume = 1,
                                    .no_probe = 1};
    pp_failure failure = {0};
    parapet_status status =
        pp_store_open_over(&request.target, MPI_COMM_NULL, pp_store_backend(store), PARAPET_UPDATE, &cancelling);
    if (status == PARAPET_OK)
        status = parapet_copy(&request, NULL);
    assert_true(status != PARAPET_OK || reports < 3);
    pp_failure_take(&failure, status);
    (void)parapet_store_close(&request.target);
    if (pp_failure_put(&failure) != PARAPET_ERR_CANCELLED)
        return status;
    request.target = store;
    return parapet_copy(&request, NULL);
}

/* Through a store of its own, of an array that is written in part. */
static parapet_status copy_in_passes(parapet_store *store)
{
    parapet_copy_request request = {.source = store,
                                    .source_path = "g/deep/b",
                                    .target = store,
                                    .target_path = "copies/b",
                                    .changes = {.chunks = "8", .shards = "16"},
                                    .unit_bytes = 64,
                                    .overwrite = 1,
                                    .passes = 2,
                                    .no_probe = 1};
    pp_failure failure = {0};
    parapet_status status =
        parapet_store_open(&request.temporary, MPI_COMM_NULL, "memory:verbs", PARAPET_CREATE, &options);
    if (status == PARAPET_OK)
        status = parapet_copy(&request, NULL);
    pp_failure_take(&failure, status);
    (void)parapet_store_close(&request.temporary);
    pp_store_memory_drop("verbs");
    return pp_failure_put(&failure);
}

static parapet_status append_group(parapet_store *store)
{
    return append_year(store, "years/all");
}

static parapet_status append_undone(parapet_store *store)
{
    return append_year(store, "years/undone");
}

static parapet_status append_done(parapet_store *store)
{
    return append_year(store, "years/done");
}

static parapet_status append_dry(parapet_store *store)
{
    static const char *const sources[] = {"years/more", "years/all"};
    parapet_copy_request request = year_request(store, "years/all");
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < 4 && status == PARAPET_OK; i++) {
        char *text = NULL;
        request.source_path = sources[i / 2];
        status = parapet_copy_request_plan_print(&request, i % 2, &text, NULL);
        parapet_free(text);
    }
    return status;
}

static parapet_status copy_foreign(parapet_store *store)
{
    parapet_status status = copy(store, "words", "copies/words", "");
    return status == PARAPET_OK ? copy(store, "old", "copies/old", "") : status;
}

static parapet_status print_copies(parapet_store *store)
{
    static const char *const paths[] = {"g", "g/a", "words", "g/deep/b"};
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < 8 && status == PARAPET_OK; i++) {
        parapet_copy_request request = {.source = store,
                                        .source_path = paths[i / 2],
                                        .target = store,
                                        .target_path = "copies/new",
                                        .changes = {.codec = "zstd:1"},
                                        .no_probe = 1};
        char *text = NULL, *svg = NULL;
        if (i / 2 == 2)
            request.changes.codec = NULL;
        status = parapet_copy_request_plan_print(&request, i % 2, &text, &svg);
        parapet_free(text);
        parapet_free(svg);
    }
    return status;
}

static parapet_status print_plans(parapet_store *store)
{
    static const int64_t shape[2] = {EDGE, EDGE}, chunks[2] = {2, 5}, shards[2] = {4, 5}, mesh[2] = {2, 1};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_status status = PARAPET_OK;
    int i;
    (void)store;
    for (i = 0; i < 4 && status == PARAPET_OK; i++) {
        parapet_transfer_plan_request transfer = {.is_read = i / 2,
                                                  .spec = spec,
                                                  .distribution = {.ndim = 2, .shape = shape, .mesh = mesh},
                                                  .server = i / 2 - 1,
                                                  .as_json = i % 2};
        parapet_copy_plan_request request = {
            .source = spec, .changes = {.chunks = "5,2"}, .ranks = 2, .as_json = i % 2};
        char *text = NULL, *svg = NULL;
        if ((status = parapet_transfer_plan_print(&transfer, &text, i % 2 == 0 ? &svg : NULL)) == PARAPET_OK) {
            parapet_free(text);
            parapet_free(svg);
            text = svg = NULL;
            status = parapet_copy_plan_print(&request, &text, i % 2 == 0 ? &svg : NULL);
        }
        parapet_free(text);
        parapet_free(svg);
    }
    return status;
}

static char folder[] = "/dev/shm/parapet-verbs-XXXXXX";

static parapet_status write_file_of(parapet_store *store, const char *path, const char *name)
{
    char file[128], *left_out = NULL;
    parapet_file_request request = {
        .source = store, .source_path = path, .file = file, .exclude = "deep", .overwrite = 1, .verify = 1};
    parapet_status status;
    (void)snprintf(file, sizeof file, "%s/%s", folder, name);
    status = parapet_file_write(&request, &left_out);
    parapet_free(left_out);
    return status;
}

static parapet_status write_files(parapet_store *store)
{
    parapet_status status = write_file_of(store, "g", "out.nc");
    return status == PARAPET_OK ? write_file_of(store, "g/a", "out.npy") : status;
}

static parapet_status resize(parapet_store *store)
{
    static const int64_t small[2] = {3, 7}, large[2] = {EDGE, EDGE};
    parapet_array *array = NULL;
    parapet_status status;
    if ((status = parapet_array_open(&array, store, "g/a")) == PARAPET_OK &&
        (status = parapet_array_resize(array, small)) == PARAPET_OK)
        status = parapet_array_resize(array, large);
    (void)parapet_array_close(&array);
    return status;
}

static parapet_status append_steps(parapet_store *store)
{
    return append(store, 2);
}

static parapet_status consolidate(parapet_store *store)
{
    parapet_group *group = NULL;
    parapet_status status = parapet_group_open(&group, store, "g");
    if (status == PARAPET_OK)
        status = parapet_group_consolidate(group);
    (void)parapet_group_close(&group);
    return status;
}

typedef struct verb {
    const char *name;
    parapet_status (*run)(parapet_store *store);
    const char *about;    /* what is at or below this path may be gone, or changed; NULL: nothing is changed */
    parapet_status again; /* which repeating it may return, beside success */
} verb;

static const verb verbs[] = {
    {"list", list, NULL, PARAPET_OK},
    {"check", check, NULL, PARAPET_OK},
    {"collect, dry", collect_dry, NULL, PARAPET_OK},
    {"collect", collect, "half", PARAPET_OK},
    {"remove, dry", remove_dry, NULL, PARAPET_OK},
    {"remove a group", remove_group, "g", PARAPET_ERR_NOT_FOUND},
    {"remove an array", remove_array, "g/deep/b", PARAPET_ERR_NOT_FOUND},
    {"remove a checkpoint", remove_checkpoint, "c", PARAPET_ERR_NOT_FOUND},
    {"remove a series", remove_series, "s", PARAPET_ERR_NOT_FOUND},
    {"remove what copies have left", remove_copies, "half", PARAPET_ERR_NOT_FOUND},
    {"restore", restore, NULL, PARAPET_OK},
    {"restore an older generation", restore_older, NULL, PARAPET_OK},
    {"commit", commit_one, NULL, PARAPET_OK},
    {"commit over damage", commit_over_damage, NULL, PARAPET_OK},
    {"copy a group", copy_group, "copies", PARAPET_OK},
    {"copy in another order", copy_turned, "copies", PARAPET_OK},
    {"copy what others have written", copy_foreign, "copies", PARAPET_OK},
    {"copy over another array", copy_over, "g/deep/b", PARAPET_OK},
    {"copy text over text", copy_text_over, "copies", PARAPET_OK},
    {"resume a copy", copy_resumed, "copies", PARAPET_ERR_EXISTS},
    {"copy in two passes", copy_in_passes, "copies", PARAPET_OK},
    {"append a group", append_group, "years", PARAPET_OK},
    {"append where one was undone", append_undone, "years", PARAPET_OK},
    {"append where one was done", append_done, "years", PARAPET_OK},
    {"append, dry", append_dry, NULL, PARAPET_OK},
    {"print plans of copies", print_copies, NULL, PARAPET_OK},
    {"print plans", print_plans, NULL, PARAPET_OK},
    {"write files", write_files, NULL, PARAPET_OK},
    {"resize", resize, "g/a", PARAPET_OK},
    {"append", append_steps, "s", PARAPET_OK},
    {"consolidate", consolidate, NULL, PARAPET_OK},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

/* ---- What must hold afterwards ---- */

static bool is_about(const verb *of, const char *path)
{
    size_t bytes = of->about != NULL ? strlen(of->about) : 0;
    return of->about != NULL && strncmp(path, of->about, bytes) == 0 && (path[bytes] == '\0' || path[bytes] == '/');
}

static void check_values(parapet_store *store, const char *path, int ndim, const int64_t *count)
{
    static const int64_t start[2] = {0, 0};
    int32_t values[EDGE * EDGE];
    parapet_part part = {.ndim = ndim, .start = start, .count = count, .data = values};
    int64_t elements = ndim == 2 ? count[0] * count[1] : count[0], i;
    parapet_array *array;
    assert_ok(parapet_array_open(&array, store, path));
    assert_ok(parapet_array_read(array, &part, 1));
    for (i = 0; i < elements; i++)
        assert_int_equal(values[i], value_of(i));
    assert_ok(parapet_array_close(&array));
}

static void check_series(parapet_store *store)
{
    parapet_series_info info;
    parapet_series *series;
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_ok(parapet_series_get_info(series, &info));
    assert_int_equal(info.steps, 3);
    assert_ok(parapet_series_close(&series));
}

/* Through a new store, as another program sees it. */
static void check_others(const verb *of, pp_store *inner)
{
    static const int64_t whole[2] = {EDGE, EDGE}, some[1] = {11};
    parapet_store *store;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, inner, PARAPET_UPDATE, &options));
    if (!is_about(of, "g/a"))
        check_values(store, "g/a", 2, whole);
    if (!is_about(of, "g/deep/b"))
        check_values(store, "g/deep/b", 1, some);
    if (!is_about(of, "s"))
        check_series(store);
    if (!is_about(of, "c"))
        assert_ok(restore_from(store, "c", 0));
    assert_ok(parapet_store_close(&store));
}

/* ---- One run ---- */

typedef enum fault_kind { FAULT_STORAGE, FAULT_MEMORY, FAULT_KINDS } fault_kind;

typedef struct point {
    fault_kind kind;
    long at;
    bool is_after; /* the operation takes effect first */
} point;

static place_record passed[FAULT_KINDS];
static place_set known[FAULT_KINDS];
static image before;
static long runs, stride = 1;

static int record_allocation(void *context, size_t bytes)
{
    (void)bytes;
    place_record_add(context);
    return 0;
}

static void record_places(const verb *of, fault_kind kind)
{
    pp_store *recorded;
    bed work;
    bed_build(&work, &before);
    recorded = place_store_build(work.faulty, &passed[FAULT_STORAGE]);
    assert_ok(parapet_store_close(&work.store));
    assert_ok(pp_store_open_over(&work.store, MPI_COMM_NULL, kind == FAULT_STORAGE ? recorded : work.faulty,
                                 PARAPET_UPDATE, &options));
    passed[kind].is_on = true;
    atomic_store(&passed[kind].count, 0);
    if (kind == FAULT_MEMORY)
        pp_memory_hook_set(record_allocation, &passed[FAULT_MEMORY]);
    assert_ok(of->run(work.store));
    pp_memory_hook_set(NULL, NULL);
    passed[kind].is_on = false;
    assert_ok(parapet_store_close(&work.store));
    pp_store_free(recorded);
    pp_store_free(work.faulty);
    pp_store_free(work.inner);
}

static void strike(const verb *of, const point *where)
{
    parapet_status expected = where->kind == FAULT_MEMORY ? PARAPET_ERR_MEMORY : PARAPET_ERR_NO_SPACE, status;
    refusal plan = {.at = where->at};
    long live = pp_memory_live_count();
    char name[128];
    bed work;
    (void)snprintf(name, sizeof name, "%s: %s %ld fails%s", of->name,
                   where->kind == FAULT_STORAGE ? "operation" : "allocation", where->at,
                   where->is_after ? " after taking effect" : "");
    bed_build(&work, &before);
    work.plan = (pp_fault_plan){.fail_at = where->kind == FAULT_STORAGE ? where->at : -1,
                                .fail_after = where->is_after,
                                .status = PARAPET_ERR_NO_SPACE};
    if (where->kind == FAULT_MEMORY)
        pp_memory_hook_set(refuse_one, &plan);
    status = of->run(work.store);
    pp_memory_hook_set(NULL, NULL);
    work.plan = (pp_fault_plan){.fail_at = -1};
    if (status != PARAPET_OK && status != expected)
        fail_msg("%s: it returned %s: %s", name, parapet_status_name(status), parapet_error_message());
    if (pp_budget_used(pp_store_budget(work.store)) != 0)
        fail_msg("%s: %zu bytes of the budget were not given back", name,
                 pp_budget_used(pp_store_budget(work.store)));
    if ((status = of->run(work.store)) != PARAPET_OK && status != of->again)
        fail_msg("%s: repeated, it returned %s: %s", name, parapet_status_name(status), parapet_error_message());
    check_others(of, work.inner);
    bed_free(&work);
    if (pp_memory_live_count() != live)
        fail_msg("%s: %ld allocations were not given back", name, pp_memory_live_count() - live);
    runs++;
}

static void test_verb(void **context)
{
    const verb *of = *context;
    point where = {.kind = FAULT_STORAGE};
    long counts[FAULT_KINDS] = {0};
    for (; where.kind < FAULT_KINDS; where.kind++) {
        record_places(of, where.kind);
        for (where.at = 0; (where.at = place_set_add_next(&known[where.kind], &passed[where.kind], where.at)) >= 0;
             where.at++) {
            if (counts[where.kind]++ % stride != 0)
                continue;
            where.is_after = false;
            strike(of, &where);
            where.is_after = true;
            if (where.kind == FAULT_STORAGE)
                strike(of, &where);
        }
    }
    printf("%-32s %5ld operations, %5ld allocations at places of their own\n", of->name, counts[FAULT_STORAGE],
           counts[FAULT_MEMORY]);
}

int main(int argc, char **argv)
{
    static verb copies[VERBS];
    struct CMUnitTest tests[VERBS];
    scratch made = {0};
    int i, failed;
    memcpy(copies, verbs, sizeof verbs);
    if (argc > 1 && strcmp(argv[1], "quick") == 0)
        stride = QUICK_STRIDE * TEST_THINNING;
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    if (mkdtemp(folder) == NULL)
        return 1;
    prepare(&before);
    for (i = 0; i < VERBS; i++)
        tests[i] = (struct CMUnitTest){.name = verbs[i].name, .test_func = test_verb, .initial_state = &copies[i]};
    failed = _cmocka_run_group_tests("fault_verbs", tests, VERBS, NULL, NULL);
    printf("%ld runs\n", runs);
    image_free(&before);
    (void)snprintf(made.path, sizeof made.path, "%s", folder);
    scratch_remove(&made);
    return failed;
}
