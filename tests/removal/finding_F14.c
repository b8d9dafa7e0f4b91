/* Storage that does not answer while something is opened never makes an older state out of the newest: every system
 * call of opening a restore, a series and an array fails in turn, with every error number. The newest is opened, or
 * the call says that it failed. What is only interrupted, or refused for the moment, is repeated. */
#include "store/scratch.h"

#include <errno.h>

#include <parapet.h>

#include "shim.h"

enum { STEPS = 3, GENERATIONS = 2, ELEMENTS = 16 };

static const int error_numbers[] = {EIO,    ENOSPC, EDQUOT, EINTR,  EAGAIN, EMFILE,
                                    ENFILE, EACCES, EROFS,  ESTALE, 0 /* half of the bytes */};

enum { ERROR_NUMBERS = sizeof error_numbers / sizeof error_numbers[0] };

static double values[ELEMENTS];
static int64_t start[2], shape[2] = {ELEMENTS, 0};

static parapet_part whole(void)
{
    return (parapet_part){.ndim = 1, .start = start, .count = shape, .data = values};
}

static void set_values(int number)
{
    int i;
    for (i = 0; i < ELEMENTS; i++)
        values[i] = number * 100 + i;
}

static parapet_array_spec spec_of(void)
{
    return (parapet_array_spec){.type = PARAPET_FLOAT64, .ndim = 1, .shape = shape};
}

static void make_generation(parapet_store *store, int number)
{
    parapet_array_spec spec = spec_of();
    parapet_part part = whole();
    parapet_checkpoint_item item = {.name = "T", .spec = &spec, .parts = &part, .part_count = 1};
    parapet_checkpoint *checkpoint = NULL;
    set_values(number);
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "restart", NULL));
    assert_ok(parapet_checkpoint_put(checkpoint, &item, 1));
    assert_ok(parapet_checkpoint_commit(&checkpoint, NULL));
}

static void make_series(parapet_store *store)
{
    const char *names[] = {"v"};
    int64_t shape_of_series[] = {0, ELEMENTS}, chunks[] = {1, ELEMENTS};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape_of_series, .chunks = chunks};
    parapet_part part = whole();
    parapet_step step = {.parts = &part, .part_count = 1};
    parapet_series *series = NULL;
    int i;
    assert_ok(parapet_series_create(&series, store, "run",
                                    &(parapet_series_spec){.count = 1, .names = names, .specs = &spec}));
    for (i = 0; i < STEPS; i++) {
        set_values(i);
        assert_ok(parapet_series_append(series, i, &step));
    }
    assert_ok(parapet_series_close(&series));
}

static void make_array(parapet_store *store)
{
    parapet_array_spec spec = spec_of();
    parapet_part part = whole();
    parapet_array *array = NULL;
    set_values(7);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
}

/* ---- What is opened, and what it must be then ---- */

typedef struct opened {
    parapet_restore *restore;
    parapet_series *series;
    parapet_array *array;
} opened;

static parapet_status open_restore(parapet_store *store, opened *made)
{
    return parapet_restore_open(&made->restore, store, "restart", 0);
}

static bool is_newest_restore(opened *made)
{
    parapet_restore_info info;
    assert_ok(parapet_restore_get_info(made->restore, &info));
    assert_ok(parapet_restore_close(&made->restore));
    return info.generation == GENERATIONS && info.passed_over == 0;
}

static parapet_status open_series(parapet_store *store, opened *made)
{
    return parapet_series_open(&made->series, store, "run");
}

static bool is_newest_series(opened *made)
{
    parapet_series_info info;
    assert_ok(parapet_series_get_info(made->series, &info));
    assert_ok(parapet_series_close(&made->series));
    return info.steps == STEPS;
}

static parapet_status open_array(parapet_store *store, opened *made)
{
    return parapet_array_open(&made->array, store, "a");
}

static bool is_newest_array(opened *made)
{
    parapet_part part = whole();
    int i, differing = 0;
    assert_ok(parapet_array_read(made->array, &part, 1));
    for (i = 0; i < ELEMENTS; i++)
        differing += values[i] != 700 + i;
    assert_ok(parapet_array_close(&made->array));
    return differing == 0;
}

typedef struct subject {
    const char *name;
    parapet_mode mode;
    parapet_status (*open)(parapet_store *store, opened *made);
    bool (*is_newest)(opened *made);
} subject;

static const subject subjects[] = {
    {"restore_open", PARAPET_READ, open_restore, is_newest_restore},
    {"series_open", PARAPET_UPDATE, open_series, is_newest_series},
    {"array_open", PARAPET_READ, open_array, is_newest_array},
};

enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

/* ---- Runs ---- */

static long runs, refused;

/* A reader repeats what passes; a writer may take it for trouble. */
static bool must_succeed(const subject *of, const shim_plan *plan)
{
    bool passes = plan->error_number == EINTR || plan->error_number == EAGAIN;
    return plan->is_short ||
           (of->mode == PARAPET_READ && passes && (plan->call == SHIM_OPEN || plan->call == SHIM_READ));
}

/* Whether the point was reached. */
static bool run_once(const subject *of, const char *root, shim_plan *plan)
{
    parapet_store *store = NULL;
    opened made = {0};
    parapet_status status;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, root, of->mode, NULL));
    shim_arm(plan);
    status = of->open(store, &made);
    shim_arm(NULL);
    if (status == PARAPET_OK ? !of->is_newest(&made) : must_succeed(of, plan))
        fail_msg("%s, %s %ld, error number %d: %s", of->name, shim_call_name(plan->call), plan->fail_at,
                 plan->error_number, status == PARAPET_OK ? "OK, but not the newest" : parapet_error_message());
    runs++;
    refused += status != PARAPET_OK;
    assert_ok(parapet_store_close(&store));
    return plan->failures > 0;
}

static void run_all(const subject *of, const char *root, shim_call call, int error_number)
{
    long at = 0;
    shim_plan plan;
    do
        plan =
            (shim_plan){.call = call, .fail_at = at++, .error_number = error_number, .is_short = error_number == 0};
    while (run_once(of, root, &plan));
}

static void test_opening__failing_storage_never_leads_to_something_older(void **context)
{
    scratch made = scratch_make(SCRATCH_HERE);
    parapet_store *store = NULL;
    opened last = {0};
    int i, call, number;
    (void)context;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made.root, PARAPET_CREATE, NULL));
    for (i = 1; i <= GENERATIONS; i++)
        make_generation(store, i);
    make_series(store);
    make_array(store);
    assert_ok(parapet_store_close(&store));
    for (i = 0; i < SUBJECTS; i++)
        for (call = 0; call < SHIM_CALLS; call++)
            for (number = 0; number < ERROR_NUMBERS; number++)
                if (error_numbers[number] != 0 || call == SHIM_READ)
                    run_all(&subjects[i], made.root, (shim_call)call, error_numbers[number]);
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made.root, PARAPET_UPDATE, NULL));
    for (i = 0; i < SUBJECTS; i++) {
        assert_ok(subjects[i].open(store, &last));
        assert_true(subjects[i].is_newest(&last));
    }
    assert_ok(parapet_store_close(&store));
    scratch_remove(&made);
    printf("%ld runs, %ld of them refused\n", runs, refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening__failing_storage_never_leads_to_something_older)};
    return cmocka_run_group_tests_name("finding_F14", tests, NULL, NULL);
}
