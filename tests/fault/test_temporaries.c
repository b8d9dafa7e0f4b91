/* Whatever a job was about to write when it died, what it wrote under a temporary name is found: gc removes it, and a
 * check of an array tells of it. The same holds for shards that a resize was about to remove. */
#include "support.h"

#include <parapet.h>

#include "base/status.h"
#include "image.h"

#include "array/open.h"
#include "stores/faulty.h"

enum { EDGE = 8, ELEMENTS = EDGE * EDGE };

static const int64_t shape[2] = {EDGE, EDGE}, chunks[2] = {2, 4}, shards[2] = {4, 4}, origin[2] = {0, 0};

/* A store with one for what lies between the passes of a copy, and where the job on it dies. */
typedef struct bed {
    pp_store *inner[2], *faulty[2];
    parapet_store *stores[2];
    pp_fault_plan plan;
} bed;

typedef parapet_status (*job)(parapet_store *store, parapet_store *between);

/* ---- Dying ---- */

static struct {
    pp_store_ops plain, ops;
    pp_fault_plan *plan;
    long at, begun;             /* objects without a name of their own */
    const pp_store *store;      /* where the job died, and */
    char key[PP_MAX_KEY_BYTES]; /* the object; "": it has not */
} dying;

/* The job dies as soon as it has the temporary object. */
static parapet_status begin_or_die(pp_store *store, const pp_write_request *request, pp_writer **writer)
{
    if (request->name != NULL || dying.begun++ != dying.at)
        return dying.plain.begin(store, request, writer);
    (void)snprintf(dying.key, sizeof dying.key, "%s%s.parapet-%032ld.tmp", request->staging,
                   request->staging[0] != '\0' ? "/" : "", dying.at);
    dying.store = store;
    store->ops = &dying.plain;
    image_put_object(store, dying.key, "", 0);
    store->ops = &dying.ops;
    dying.plan->fail_at = 0;
    dying.plan->fail_forever = true;
    return pp_fail(PARAPET_ERR_IO, "the job has died");
}

static void build(bed *made)
{
    int i;
    *made = (bed){.plan = {.fail_at = -1}};
    for (i = 0; i < 2; i++) {
        assert_ok(pp_store_memory_build(&made->inner[i], NULL));
        dying.plain = dying.ops = *made->inner[i]->ops;
        dying.ops.begin = begin_or_die;
        made->inner[i]->ops = &dying.ops;
        assert_ok(pp_store_faulty_build(&made->faulty[i], made->inner[i], &made->plan));
    }
    dying.plan = &made->plan;
    dying.at = -1;
    dying.key[0] = '\0';
}

static void open_stores(bed *used, bool is_faulty)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE, .memory_bytes = 8 << 20};
    int i;
    for (i = 0; i < 2; i++)
        assert_ok(pp_store_open_over(&used->stores[i], MPI_COMM_NULL, is_faulty ? used->faulty[i] : used->inner[i],
                                     PARAPET_CREATE, &options));
}

static void close_stores(bed *used)
{
    int i;
    for (i = 0; i < 2; i++)
        (void)parapet_store_close(&used->stores[i]);
}

static void free_bed(bed *used)
{
    int i;
    for (i = 0; i < 2; i++) {
        pp_store_free(used->faulty[i]);
        pp_store_free(used->inner[i]);
    }
}

/* ---- Jobs ---- */

static parapet_array_spec plain_spec(bool overwrites)
{
    return (parapet_array_spec){.type = PARAPET_INT32,
                                .ndim = 2,
                                .shape = shape,
                                .chunks = chunks,
                                .shards = shards,
                                .overwrite = overwrites};
}

static parapet_status write_array(parapet_store *store, const char *path, bool overwrites)
{
    static const int32_t values[ELEMENTS] = {1, 2, 3};
    parapet_part part = {.ndim = 2, .start = origin, .count = shape, .data = (void *)(uintptr_t)values};
    parapet_array_spec spec = plain_spec(overwrites);
    parapet_array *array = NULL;
    parapet_status status = parapet_array_create(&array, store, path, &spec);
    if (status == PARAPET_OK)
        status = parapet_array_write(array, &part, 1);
    (void)parapet_array_close(&array);
    return status;
}

static parapet_status make_array(parapet_store *store, parapet_store *between)
{
    (void)between;
    return write_array(store, "below/a", false);
}

static parapet_status change_array(parapet_store *store, parapet_store *between)
{
    static const int64_t grown[2] = {EDGE, 2 * EDGE};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, "a");
    (void)between;
    if (status == PARAPET_OK && (status = parapet_array_attribute_set(array, "units", "\"K\"")) == PARAPET_OK &&
        (status = parapet_array_resize(array, grown)) == PARAPET_OK)
        status = parapet_array_seal(array);
    (void)parapet_array_close(&array);
    return status;
}

static parapet_status overwrite_array(parapet_store *store, parapet_store *between)
{
    (void)between;
    return write_array(store, "a", true);
}

static parapet_status consolidate(parapet_store *store, parapet_store *between)
{
    parapet_group *root = NULL;
    parapet_status status = parapet_group_open(&root, store, "");
    (void)between;
    if (status == PARAPET_OK)
        status = parapet_group_consolidate(root);
    (void)parapet_group_close(&root);
    return status;
}

static parapet_status append(parapet_store *store, parapet_store *between)
{
    static const int64_t step_shape[2] = {0, EDGE}, count[1] = {EDGE};
    static const int32_t values[EDGE] = {1, 2, 3};
    parapet_array_spec spec = {.ndim = 2, .type = PARAPET_INT32, .shape = step_shape};
    parapet_series_spec all = {.count = 1, .names = (const char *const[]){"u"}, .specs = &spec};
    parapet_part part = {.ndim = 1, .start = origin, .count = count, .data = (void *)(uintptr_t)values};
    parapet_step step = {.parts = &part, .part_count = 1};
    parapet_series *series = NULL;
    parapet_status status = parapet_series_create(&series, store, "series", &all), closed;
    (void)between;
    if (status == PARAPET_OK)
        status = parapet_series_append(series, 1.0, &step);
    closed = parapet_series_close(&series);
    return status != PARAPET_OK ? status : closed;
}

static parapet_status commit(parapet_store *store, parapet_store *between)
{
    static const int32_t values[ELEMENTS] = {1, 2, 3};
    parapet_part part = {.ndim = 2, .start = origin, .count = shape, .data = (void *)(uintptr_t)values};
    parapet_array_spec spec = plain_spec(false);
    parapet_checkpoint_item item = {.name = "x", .spec = &spec, .parts = &part, .part_count = 1};
    parapet_checkpoint *checkpoint = NULL;
    int64_t generation;
    parapet_status status = parapet_checkpoint_begin(&checkpoint, store, "checkpoint", NULL);
    (void)between;
    if (status == PARAPET_OK && (status = parapet_checkpoint_put(checkpoint, &item, 1)) == PARAPET_OK)
        return parapet_checkpoint_commit(&checkpoint, &generation);
    if (checkpoint != NULL)
        (void)parapet_checkpoint_abort(&checkpoint);
    return status;
}

static parapet_status copy(parapet_store *store, parapet_store *between, const char *source, const char *target)
{
    parapet_copy_request request = {.source = store,
                                    .source_path = source,
                                    .target = store,
                                    .target_path = target,
                                    .temporary = between,
                                    .changes = {.chunks = "4,2", .shards = "8,4"},
                                    .unit_bytes = 64,
                                    .passes = between != NULL ? 2 : 1,
                                    .overwrite = 1,
                                    .no_probe = 1};
    return parapet_copy(&request, NULL);
}

static parapet_status copy_array(parapet_store *store, parapet_store *between)
{
    (void)between;
    return copy(store, NULL, "a", "t");
}

static parapet_status copy_over_array(parapet_store *store, parapet_store *between)
{
    (void)between;
    return copy(store, NULL, "a", "old");
}

static parapet_status copy_in_passes(parapet_store *store, parapet_store *between)
{
    return copy(store, between, "a", "old");
}

static parapet_status copy_group(parapet_store *store, parapet_store *between)
{
    (void)between;
    return copy(store, NULL, "group", "copies");
}

static const struct {
    const char *name;
    job run;
} jobs[] = {{"an array is made", make_array},
            {"an array is changed", change_array},
            {"an array is overwritten", overwrite_array},
            {"a group is consolidated", consolidate},
            {"a series is made", append},
            {"a checkpoint is committed", commit},
            {"an array is copied", copy_array},
            {"an array is copied over another", copy_over_array},
            {"an array is copied in passes", copy_in_passes},
            {"a group is copied", copy_group}};
enum { JOBS = sizeof jobs / sizeof jobs[0] };

/* ---- What is left ---- */

static void prepare(bed *work)
{
    open_stores(work, false);
    assert_ok(write_array(work->stores[0], "a", false));
    assert_ok(write_array(work->stores[0], "old", false));
    assert_ok(write_array(work->stores[0], "group/b", false));
    close_stores(work);
}

static const char *find_temporary(const image *seen)
{
    size_t i;
    for (i = 0; i < seen->count; i++) {
        const char *slash = strrchr(seen->objects[i].key, '/');
        if (pp_store_is_temporary_name(slash != NULL ? slash + 1 : seen->objects[i].key))
            return seen->objects[i].key;
    }
    return NULL;
}

static int note_finding(void *context, const parapet_finding *finding)
{
    bool *is_told = context;
    *is_told = *is_told || strcmp(finding->key, dying.key) == 0;
    return 0;
}

/* Of the arrays that there are, whatever lies beside one is told of. */
static void check_array(bed *work, const char *path, const char *name)
{
    parapet_check_summary summary;
    parapet_array *array = NULL;
    bool is_told = false;
    char prefix[64];
    (void)snprintf(prefix, sizeof prefix, "%s/__parapet/", path);
    if (dying.store != work->inner[0] || strncmp(dying.key, prefix, strlen(prefix)) != 0 ||
        parapet_array_open(&array, work->stores[0], path) != PARAPET_OK)
        return;
    assert_ok(parapet_array_check(array, PARAPET_CHECK_DATA, note_finding, &is_told, &summary));
    assert_ok(parapet_array_close(&array));
    if (!is_told)
        fail_msg("%s: a check does not tell of %s", name, dying.key);
}

static void collect(bed *work, const char *name)
{
    image seen;
    int i;
    for (i = 0; i < 2; i++) {
        assert_ok(parapet_store_collect(work->stores[i], "", 0, NULL, NULL));
        image_take(&seen, work->inner[i]);
        if (find_temporary(&seen) != NULL)
            fail_msg("%s: gc leaves %s", name, find_temporary(&seen));
        image_free(&seen);
    }
}

/* Whether the job came so far that it wrote that many objects. */
static bool die(const char *name, job run, long at)
{
    bed work;
    bool is_reached;
    parapet_status status;
    build(&work);
    prepare(&work);
    open_stores(&work, true);
    dying.at = at;
    dying.begun = 0;
    status = run(work.stores[0], work.stores[1]);
    is_reached = dying.key[0] != '\0';
    if (is_reached == (status == PARAPET_OK))
        fail_msg("%s: it returned %s: %s", name, parapet_status_name(status), parapet_error_message());
    close_stores(&work);
    work.plan = (pp_fault_plan){.fail_at = -1};
    open_stores(&work, false);
    check_array(&work, "a", name);
    check_array(&work, "old", name);
    collect(&work, name);
    close_stores(&work);
    free_bed(&work);
    return is_reached;
}

static void test_die__anywhere_leaves_what_gc_removes(void **context)
{
    long at;
    int i;
    (void)context;
    for (i = 0; i < JOBS; i++) {
        for (at = 0; die(jobs[i].name, jobs[i].run, at); at++)
            continue;
        printf("%s: %ld objects\n", jobs[i].name, at);
        assert_true(at > 0);
    }
}

/* ---- A resize that dies ---- */

static const int64_t small[2] = {3, 6};

static int count_stray(void *context, const parapet_finding *finding)
{
    if (finding->kind == PARAPET_FINDING_STRAY)
        ++*(int *)context;
    return 0;
}

static int strays_of(parapet_store *store)
{
    parapet_check_summary summary;
    parapet_array *array = NULL;
    int count = 0;
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(parapet_array_check(array, PARAPET_CHECK_DATA, count_stray, &count, &summary));
    assert_ok(parapet_array_close(&array));
    return count;
}

/* What was cut off is not there again when the array grows. */
static void check_cut_off(parapet_store *store)
{
    int32_t values[ELEMENTS] = {0};
    parapet_part part = {.ndim = 2, .start = origin, .count = shape, .data = values};
    parapet_array *array = NULL;
    int i;
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(parapet_array_resize(array, small));
    assert_ok(parapet_array_resize(array, shape));
    assert_ok(parapet_array_read(array, &part, 1));
    for (i = 0; i < ELEMENTS; i++)
        assert_int_equal(values[i], i < 3 ? i + 1 : 0);
    assert_ok(parapet_array_close(&array));
}

static parapet_status shrink(parapet_store *store)
{
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, "a");
    if (status == PARAPET_OK)
        status = parapet_array_resize(array, small);
    (void)parapet_array_close(&array);
    return status;
}

/* Whether the resize failed. *were_stray: how often there was something to remove. */
static bool die_shrinking(long at, int *were_stray)
{
    bed work;
    parapet_status status;
    build(&work);
    prepare(&work);
    open_stores(&work, true);
    work.plan = (pp_fault_plan){.fail_at = at, .fail_forever = true, .status = PARAPET_ERR_IO};
    status = shrink(work.stores[0]);
    close_stores(&work);
    work.plan = (pp_fault_plan){.fail_at = -1};
    open_stores(&work, false);
    *were_stray += strays_of(work.stores[0]) > 0;
    collect(&work, "an array is shrunk");
    assert_int_equal(strays_of(work.stores[0]), 0);
    check_cut_off(work.stores[0]);
    close_stores(&work);
    free_bed(&work);
    return status != PARAPET_OK;
}

static void test_die__while_shrinking_leaves_what_gc_removes(void **context)
{
    int were_stray = 0;
    long at;
    (void)context;
    for (at = 0; die_shrinking(at, &were_stray); at++)
        continue;
    printf("an array is shrunk: %ld operations, after %d of them something is left\n", at, were_stray);
    assert_true(were_stray > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_die__anywhere_leaves_what_gc_removes),
                                       cmocka_unit_test(test_die__while_shrinking_leaves_what_gc_removes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
