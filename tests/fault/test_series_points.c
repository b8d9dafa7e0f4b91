/* Every storage operation and every allocation of every call of a series fails, in turn: the call says so and leaves
 * nothing behind in memory; steps that were committed stay, a step in the making is there as a whole or not at all,
 * and the series goes on. What only keeps steps in another way fails once at each place in the code. One process,
 * storage in memory. */
#include "support.h"

#include <parapet_store.h>

#include "array/open.h"
#include "array/store_queries.h"
#include "base/memory.h"
#include "image.h"
#include "places.h"
#include "scratch.h"
#include "stores/faulty.h"

enum { WIDTH = 3, ROW = 2, STEPS_MOST = 16 };

static const char *const names[] = {"u", "v"};

/* How a series keeps its steps: in memory until a row is full, not at all, or in a log, since a row is too large. */
typedef struct manner_of_rows {
    int64_t row, chunk;
    int64_t memory_bytes;
} manner_of_rows;

static const manner_of_rows kept = {.row = ROW, .chunk = 1}, single = {.row = 1, .chunk = 1},
                            staged = {.row = 1 << 15, .chunk = 1 << 12, .memory_bytes = 1 << 20};

typedef struct bed {
    pp_store *inner, *faulty;
    pp_fault_plan plan;
    parapet_store *store;
    const manner_of_rows *rows;
} bed;

static int32_t value_of(int64_t step, int64_t i)
{
    return (int32_t)(100 * step + i);
}

static parapet_status open_over(bed *work, pp_store *backend, parapet_mode mode)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE, .memory_bytes = work->rows->memory_bytes};
    return pp_store_open_over(&work->store, MPI_COMM_NULL, backend, mode, &options);
}

/* Over what is stored before; NULL: nothing. */
static void bed_build(bed *work, const manner_of_rows *rows, const image *before)
{
    *work = (bed){.plan = {.fail_at = -1}, .rows = rows};
    assert_ok(pp_store_memory_build(&work->inner, NULL));
    if (before != NULL)
        image_put(before, work->inner);
    assert_ok(pp_store_faulty_build(&work->faulty, work->inner, &work->plan));
    assert_ok(open_over(work, work->faulty, before != NULL ? PARAPET_UPDATE : PARAPET_CREATE));
}

static void bed_free(bed *work)
{
    assert_ok(parapet_store_close(&work->store));
    pp_store_free(work->faulty);
    pp_store_free(work->inner);
}

/* ---- the calls; each closes what it opened ---- */

static parapet_status close_after(parapet_series **series, parapet_status status)
{
    parapet_status closed = parapet_series_close(series);
    assert_null(*series);
    return status != PARAPET_OK ? status : closed;
}

static parapet_status create_as(parapet_store *store, const manner_of_rows *rows)
{
    int64_t shape[2] = {0, WIDTH}, chunks[2] = {rows->chunk, WIDTH}, shards[2] = {rows->row, WIDTH};
    parapet_array_spec one = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    parapet_array_spec specs[2] = {one, one};
    parapet_series_spec spec = {.count = 2, .names = names, .specs = specs, .attributes = "{\"title\": \"a run\"}"};
    parapet_series *series = NULL;
    parapet_status status = parapet_series_create(&series, store, "s", &spec);
    assert_true((series != NULL) == (status == PARAPET_OK));
    return close_after(&series, status);
}

static parapet_status create(parapet_store *store)
{
    return create_as(store, &kept);
}

static parapet_status append(parapet_series *series, int64_t step)
{
    int32_t values[WIDTH];
    int64_t start[1] = {0}, count[1] = {WIDTH}, i;
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    parapet_step steps[2] = {{&part, 1, {0}}, {&part, 1, {0}}};
    for (i = 0; i < WIDTH; i++)
        values[i] = value_of(step, i);
    return parapet_series_append(series, (double)step, steps);
}

/* So many steps behind those that are there. */
static parapet_status append_some(parapet_store *store, int64_t count)
{
    parapet_series *series = NULL;
    parapet_series_info info = {0};
    parapet_status status = parapet_series_open(&series, store, "s");
    int64_t i;
    assert_true((series != NULL) == (status == PARAPET_OK));
    if (status == PARAPET_OK)
        assert_ok(parapet_series_get_info(series, &info));
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = append(series, info.steps + i);
    return close_after(&series, status);
}

static parapet_status append_one(parapet_store *store)
{
    return append_some(store, 1);
}

static parapet_status append_rows(parapet_store *store)
{
    return append_some(store, ROW + 1);
}

static parapet_status open_only(parapet_store *store)
{
    return append_some(store, 0);
}

static parapet_status print(parapet_store *store)
{
    parapet_series *series = NULL;
    char *text = NULL;
    parapet_status status = parapet_series_open(&series, store, "s");
    if (status == PARAPET_OK && (status = parapet_series_print(series, &text)) == PARAPET_OK)
        assert_non_null(strstr(text, "u"));
    parapet_free(text);
    return close_after(&series, status);
}

static parapet_status adopt(parapet_store *store)
{
    return parapet_series_repair(store, "s", PARAPET_BEYOND_ADOPT);
}

static parapet_status cut(parapet_store *store)
{
    return parapet_series_repair(store, "s", PARAPET_BEYOND_CUT);
}

static parapet_status examine(parapet_store *store)
{
    return parapet_series_repair(store, "s", PARAPET_BEYOND_REFUSE);
}

/* ---- what is stored before ---- */

static void prepare_nothing(bed *work)
{
    (void)work;
}

static void prepare_empty(bed *work)
{
    assert_ok(create_as(work->store, work->rows));
}

/* As a crash leaves it while a series is created: the group does not yet say how many steps it has. */
static void prepare_interrupted(bed *work)
{
    static const char text[] = "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"_parapet\":{\"series\":"
                               "{\"dimension\":\"time\",\"arrays\":[\"u\",\"v\"]}}}}";
    assert_ok(create(work->store));
    assert_ok(pp_store_write_all(
        work->inner,
        &(pp_write_request){
            .key = "s/zarr.json", .staging = "__foreign", .budget = pp_store_budget(work->store), .is_small = true},
        text, sizeof text - 1, PP_PUBLISH_REPLACE));
}

static void prepare_steps(bed *work)
{
    assert_ok(create(work->store));
    assert_ok(append_some(work->store, ROW + 1));
}

/* A step that another program has appended to all arrays, with the values that the series would have given it. */
static void prepare_foreign_step(bed *work)
{
    static const char *const paths[] = {"s/u", "s/v", "s/time"};
    int32_t values[WIDTH];
    double time = ROW + 1;
    int i, k;
    prepare_steps(work);
    for (i = 0; i < WIDTH; i++)
        values[i] = value_of(ROW + 1, i);
    for (k = 0; k < 3; k++) {
        int64_t start[2] = {ROW + 1, 0}, count[2] = {1, WIDTH}, shape[2] = {ROW + 2, WIDTH};
        parapet_part part = {.ndim = k < 2 ? 2 : 1, .start = start, .count = count};
        parapet_array *array;
        part.data = k < 2 ? (void *)values : (void *)&time;
        assert_ok(parapet_array_open(&array, work->store, paths[k]));
        assert_ok(parapet_array_resize(array, shape));
        assert_ok(parapet_array_write(array, &part, 1));
        assert_ok(parapet_array_close(&array));
    }
}

/* ---- what must hold afterwards ---- */

static void check_array(parapet_store *store, const char *path, int64_t steps)
{
    int32_t found[STEPS_MOST][WIDTH];
    int64_t start[2] = {0, 0}, count[2] = {steps, WIDTH}, step, i;
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = found};
    parapet_array *array;
    assert_ok(parapet_array_open(&array, store, path));
    assert_ok(parapet_array_read(array, &part, 1));
    for (step = 0; step < steps; step++)
        for (i = 0; i < WIDTH; i++)
            assert_int_equal(found[step][i], value_of(step, i));
    assert_ok(parapet_array_close(&array));
}

enum { NEEDS_REPAIR = -2, NO_SERIES = -1 };

/* How many steps there are, all of them as they were given. */
static int64_t look(parapet_store *store)
{
    parapet_series *series = NULL;
    parapet_series_info info;
    parapet_status status = parapet_series_open(&series, store, "s");
    if (status == PARAPET_ERR_NOT_FOUND || status == PARAPET_ERR_FORMAT)
        return status == PARAPET_ERR_NOT_FOUND ? NO_SERIES : NEEDS_REPAIR;
    assert_ok(status);
    assert_ok(parapet_series_get_info(series, &info));
    assert_ok(parapet_series_close(&series));
    check_array(store, "s/u", info.steps);
    check_array(store, "s/v", info.steps);
    return info.steps;
}

/* Steps as look tells them, at least and at most, once the act has failed; after a success there are the most. */
typedef struct act {
    const char *name;
    void (*prepare)(bed *work);
    parapet_status (*run)(parapet_store *store);
    int64_t least, most;
    const manner_of_rows *rows;
    bool by_places; /* fails once at each place in the code, and not at every point */
} act;

static const act acts[] = {
    {"open", prepare_steps, open_only, ROW + 1, ROW + 1, &kept, false},
    {"print", prepare_steps, print, ROW + 1, ROW + 1, &kept, false},
    {"adopt", prepare_foreign_step, adopt, NEEDS_REPAIR, ROW + 2, &kept, false},
    {"cut", prepare_foreign_step, cut, NEEDS_REPAIR, ROW + 1, &kept, false},
    {"examine", prepare_steps, examine, ROW + 1, ROW + 1, &kept, false},
    {"create", prepare_nothing, create, NO_SERIES, 0, &kept, false},
    {"create what was interrupted", prepare_interrupted, create, NO_SERIES, 0, &kept, true},
    {"append the first step", prepare_empty, append_one, 0, 1, &kept, false},
    {"append a row and a half", prepare_steps, append_rows, ROW + 1, 2 * ROW + 2, &kept, false},
    {"append single steps", prepare_empty, append_rows, 0, ROW + 1, &single, true},
    {"append steps that a log keeps", prepare_empty, append_rows, 0, ROW + 1, &staged, true},
};

typedef enum manner { MEMORY_ONCE, STORAGE_ONCE, STORAGE_GONE, MANNERS } manner;

/* Runs the act with failure number at; false: it was not reached. */
static bool run_with(bed *work, const act *of, manner how, long at, parapet_status *status)
{
    refusal refused = {.at = at};
    bool is_reached;
    if (how == MEMORY_ONCE)
        pp_memory_hook_set(refuse_one, &refused);
    else
        work->plan = (pp_fault_plan){.fail_at = at, .fail_forever = how == STORAGE_GONE};
    *status = of->run(work->store);
    pp_memory_hook_set(NULL, NULL);
    is_reached = how == MEMORY_ONCE ? refused.count > at : work->plan.failures > 0;
    work->plan = (pp_fault_plan){.fail_at = -1};
    return is_reached;
}

/* Returns whether the failure was reached. */
static bool check_point(const act *of, const image *before, manner how, long at)
{
    long live = pp_memory_live_count();
    parapet_status status;
    int64_t after;
    bool is_reached;
    bed work;
    bed_build(&work, of->rows, before);
    is_reached = run_with(&work, of, how, at, &status);
    if (status != PARAPET_OK && (!is_reached || status != (how == MEMORY_ONCE ? PARAPET_ERR_MEMORY : PARAPET_ERR_IO)))
        fail_msg("%s, manner %d, failure %ld: %s: %s", of->name, (int)how, at, parapet_status_name(status),
                 parapet_error_message());
    after = look(work.store);
    if (after < of->least || after > of->most || (status == PARAPET_OK && after != of->most))
        fail_msg("%s, manner %d, failure %ld: %s, and %lld steps", of->name, (int)how, at,
                 parapet_status_name(status), (long long)after);
    bed_free(&work);
    if (pp_memory_live_count() != live)
        fail_msg("%s, manner %d, failure %ld: memory was not given back", of->name, (int)how, at);
    return is_reached;
}

static int record_allocation(void *context, size_t bytes)
{
    (void)bytes;
    place_record_add(context);
    return 0;
}

/* Where the act allocates, or uses storage. */
static void record_places(const act *of, const image *before, bool is_memory, place_record *passed)
{
    pp_store *recorded;
    bed work;
    bed_build(&work, of->rows, before);
    assert_ok(parapet_store_close(&work.store));
    recorded = place_store_build(work.faulty, passed);
    assert_ok(open_over(&work, is_memory ? work.faulty : recorded, PARAPET_UPDATE));
    passed->is_on = true;
    atomic_store(&passed->count, 0);
    if (is_memory)
        pp_memory_hook_set(record_allocation, passed);
    assert_ok(of->run(work.store));
    pp_memory_hook_set(NULL, NULL);
    passed->is_on = false;
    assert_ok(parapet_store_close(&work.store));
    pp_store_free(recorded);
    pp_store_free(work.faulty);
    pp_store_free(work.inner);
}

static long run_places(const act *of, const image *before, manner how)
{
    static place_record passed;
    static place_set known[MANNERS];
    long at, points = 0;
    record_places(of, before, how == MEMORY_ONCE, &passed);
    for (at = 0; (at = place_set_add_next(&known[how], &passed, at)) >= 0; at++)
        if (points++ % TEST_THINNING == 0)
            (void)check_point(of, before, how, at);
    return points;
}

static long run_points(const act *of, const image *before, manner how)
{
    long at;
    for (at = (long)how % TEST_THINNING; check_point(of, before, how, at); at += TEST_THINNING)
        continue;
    return at;
}

static void test_act(void **context)
{
    const act *of = *context;
    image before;
    bed work;
    int how;
    bed_build(&work, of->rows, NULL);
    of->prepare(&work);
    image_take(&before, work.inner);
    bed_free(&work);
    for (how = 0; how < MANNERS; how++)
        printf("%s, manner %d: %ld points\n", of->name, how,
               of->by_places ? run_places(of, &before, (manner)how) : run_points(of, &before, (manner)how));
    image_free(&before);
}

int main(int argc, char **argv)
{
    enum { COUNT = sizeof acts / sizeof acts[0] };
    static act copies[COUNT];
    struct CMUnitTest list[COUNT];
    int i;
    memcpy(copies, acts, sizeof acts);
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    for (i = 0; i < COUNT; i++)
        list[i] = (struct CMUnitTest){.name = acts[i].name, .test_func = test_act, .initial_state = &copies[i]};
    return _cmocka_run_group_tests("fault_series_points", list, COUNT, NULL, NULL);
}
