/* Storage that does not answer while something is opened never makes an older state out of the newest: every system
 * call of opening a restore, a series and an array fails in turn, with every error number, once and from then on; and
 * every allocation is refused in turn. The newest is opened, or the call says that it failed. What is only
 * interrupted, or refused for the moment, is repeated. What this version cannot read is an error too, unless it is
 * damage. */
#include "scratch.h"

#include <errno.h>

#include <parapet.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "shim.h"
#include "zarr/commit_record.h"

enum { STEPS = 3, GENERATIONS = 2, ELEMENTS = 16 };

static const int error_numbers[] = {EIO,    ENOSPC, EDQUOT, EINTR,  EAGAIN,    EMFILE, ENFILE,
                                    EACCES, EROFS,  ESTALE, ENOMEM, ETIMEDOUT, 0 /* half of the bytes */};

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
static bool is_full; /* every error number also from then on */

/* A reader repeats what passes; a writer may take it for trouble. */
static bool must_succeed(const subject *of, const shim_plan *plan)
{
    bool passes = !plan->forever && (plan->error_number == EINTR || plan->error_number == EAGAIN);
    return (plan->is_short && !plan->forever) ||
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

static void run_all(const subject *of, const char *root, shim_plan manner)
{
    long at = 0;
    shim_plan plan;
    manner.is_short = manner.error_number == 0;
    do {
        plan = manner;
        plan.fail_at = at++;
    } while (run_once(of, root, &plan));
}

static void run_everywhere(const subject *of, const char *root)
{
    int call, number;
    for (call = 0; call < SHIM_CALLS; call++)
        for (number = 0; number < ERROR_NUMBERS; number++)
            if (error_numbers[number] != 0 || call == SHIM_READ) {
                shim_plan manner = {.call = (shim_call)call, .error_number = error_numbers[number]};
                run_all(of, root, manner);
                manner.forever = true;
                if (is_full || error_numbers[number] == EIO)
                    run_all(of, root, manner);
            }
}

/* ---- Memory ---- */

static void run_without_memory(const subject *of, const char *root)
{
    refusal plan = {.at = 0, .count = 1};
    parapet_store *store = NULL;
    opened made = {0};
    parapet_status status;
    long at;
    for (at = 0; plan.count > plan.at; at++) {
        plan = (refusal){.at = at};
        assert_ok(parapet_store_open(&store, MPI_COMM_NULL, root, of->mode, NULL));
        pp_memory_hook_set(refuse_one, &plan);
        status = of->open(store, &made);
        pp_memory_hook_set(NULL, NULL);
        if (status == PARAPET_OK && !of->is_newest(&made))
            fail_msg("%s, allocation %ld refused: OK, but not the newest", of->name, at);
        assert_ok(parapet_store_close(&store));
        runs++;
        refused += status != PARAPET_OK;
    }
}

static void test_opening__failing_storage_never_leads_to_something_older(void **context)
{
    scratch made = scratch_make(SCRATCH_HERE);
    parapet_store *store = NULL;
    opened last = {0};
    int i;
    (void)context;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made.root, PARAPET_CREATE, NULL));
    for (i = 1; i <= GENERATIONS; i++)
        make_generation(store, i);
    make_series(store);
    make_array(store);
    assert_ok(parapet_store_close(&store));
    for (i = 0; i < SUBJECTS; i++) {
        run_everywhere(&subjects[i], made.root);
        run_without_memory(&subjects[i], made.root);
    }
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made.root, PARAPET_UPDATE, NULL));
    for (i = 0; i < SUBJECTS; i++) {
        assert_ok(subjects[i].open(store, &last));
        assert_true(subjects[i].is_newest(&last));
    }
    assert_ok(parapet_store_close(&store));
    scratch_remove(&made);
    printf("%ld runs, %ld of them refused\n", runs, refused);
}

/* ---- What this version cannot read ---- */

static char *read_text(const char *path, size_t *bytes)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *bytes = fread(text, 1, sizeof text - 1, file);
    text[*bytes] = '\0';
    (void)fclose(file);
    return text;
}

static void write_text(const char *path, const char *text, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* Another codec than any that there is. */
static void change_document(const scratch *made, unsigned char digest[PP_SHA256_BYTES])
{
    const char *path = scratch_path(made, "store/restart/g00000002/T/zarr.json");
    size_t bytes;
    char *text = read_text(path, &bytes), *codec = strstr(text, "\"crc32c\"");
    assert_non_null(codec);
    codec[1] = 'x';
    pp_sha256_of(text, bytes, digest);
    write_text(path, text, bytes);
}

/* As a later version would have committed it. */
static void change_record(const scratch *made, const unsigned char digest[PP_SHA256_BYTES])
{
    const char *path = scratch_path(made, "store/restart/__parapet/commits/00000002");
    pp_text again = {0};
    pp_commit commit;
    size_t bytes;
    char *text = read_text(path, &bytes);
    assert_ok(pp_commit_parse(&commit, text, bytes));
    memcpy(commit.arrays[0].document, digest, PP_SHA256_BYTES);
    pp_commit_print(&commit, &again);
    assert_ok(again.status);
    write_text(path, again.data, again.bytes);
    pp_text_free(&again);
    pp_commit_clear(&commit);
}

static parapet_status restore_newest(const scratch *made, int64_t *generation, int64_t *passed_over)
{
    parapet_store *store = NULL;
    parapet_restore *restore = NULL;
    parapet_restore_info info = {0};
    parapet_status status;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made->root, PARAPET_READ, NULL));
    status = parapet_restore_open(&restore, store, "restart", 0);
    if (status == PARAPET_OK)
        assert_ok(parapet_restore_get_info(restore, &info));
    *generation = info.generation;
    *passed_over = info.passed_over;
    assert_ok(parapet_restore_close(&restore));
    assert_ok(parapet_store_close(&store));
    return status;
}

static void test_restore__what_cannot_be_read_is_passed_over_only_if_it_is_damage(void **context)
{
    scratch made = scratch_make(SCRATCH_HERE);
    unsigned char digest[PP_SHA256_BYTES];
    parapet_store *store = NULL;
    int64_t generation, passed_over;
    int i;
    (void)context;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made.root, PARAPET_CREATE, NULL));
    for (i = 1; i <= GENERATIONS; i++)
        make_generation(store, i);
    assert_ok(parapet_store_close(&store));
    change_document(&made, digest);
    assert_ok(restore_newest(&made, &generation, &passed_over));
    assert_true(generation == 1 && passed_over == 1);
    change_record(&made, digest);
    assert_int_equal(restore_newest(&made, &generation, &passed_over), PARAPET_ERR_UNSUPPORTED);
    scratch_remove(&made);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening__failing_storage_never_leads_to_something_older),
        cmocka_unit_test(test_restore__what_cannot_be_read_is_passed_over_only_if_it_is_damage)};
    is_full = argc > 1 && strcmp(argv[1], "full") == 0;
    return cmocka_run_group_tests_name("finding_F14", tests, NULL, NULL);
}
