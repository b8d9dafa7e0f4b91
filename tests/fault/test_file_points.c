/* Every system call, and every allocation, that writing a file of another format needs fails in turn: the file is not
 * there, or still the old one, or whole; nothing else is left; and the call works once the trouble is gone. The
 * source is in memory, so that all system calls are those of the file. */
#include "scratch.h"

#include <errno.h>
#include <parapet_store.h>

#include "array/open.h"
#include "array/store_handle.h"
#include "shim.h"

enum { ROWS = 30, COLUMNS = 20, FILE_BYTES_MOST = 8192 };

#define OLD "the old file"

static const struct manner {
    const char *name;
    int error_number;
    bool forever, is_short;
} manners[] = {
    {"EIO once", EIO, false, false},     {"EIO forever", EIO, true, false}, {"ENOSPC once", ENOSPC, false, false},
    {"EINTR once", EINTR, false, false}, {"short once", 0, false, true},    {"short forever", 0, true, true},
};
enum { MANNERS = sizeof manners / sizeof manners[0] };

static parapet_store *store;
static char whole[FILE_BYTES_MOST]; /* what the file is to be */
static size_t whole_bytes;
static scratch made;
static char what[200];

static void make_source(void)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {7, 9}, start[2] = {0, 0};
    parapet_array_spec spec = {.type = PARAPET_FLOAT32, .ndim = 2, .shape = shape, .chunks = chunks};
    float values[ROWS * COLUMNS];
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = values};
    parapet_array *array;
    int i;
    for (i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (float)i;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:file_points", PARAPET_CREATE, NULL));
    assert_ok(parapet_array_create(&array, store, "t", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_attribute_set(array, "units", "\"K\""));
    assert_ok(parapet_array_close(&array));
}

static parapet_status write_file_to(const char *name)
{
    parapet_file_request request = {
        .source = store, .source_path = "", .file = scratch_path(&made, name), .overwrite = 1, .verify = 1};
    return parapet_file_write(&request, NULL);
}

/* 0: there is none. */
static size_t read_whole(const char *name, char bytes[FILE_BYTES_MOST])
{
    FILE *file = fopen(scratch_path(&made, name), "rb");
    size_t found = file != NULL ? fread(bytes, 1, FILE_BYTES_MOST, file) : 0;
    if (file != NULL)
        (void)fclose(file);
    return found;
}

static bool has(const char *name, const char *bytes, size_t count)
{
    char data[FILE_BYTES_MOST];
    return read_whole(name, data) == count && memcmp(data, bytes, count) == 0;
}

static bool is_absent(const char *name)
{
    return access(scratch_path(&made, name), F_OK) != 0;
}

/* is_replacing: there is an old file. */
static void check_outcome(parapet_status status, bool is_replacing, bool may_leave)
{
    bool is_new = has("out.nc", whole, whole_bytes);
    bool is_old = is_replacing ? has("out.nc", OLD, strlen(OLD)) : is_absent("out.nc");
    int entries = entry_count(made.path), expected = is_absent("out.nc") ? 0 : 1;
    if (status == PARAPET_OK ? !is_new : !is_new && !is_old)
        fail_msg("%s: returned %s, and the file is neither old nor whole", what, parapet_status_name(status));
    if (status != PARAPET_OK && parapet_error_message()[0] == '\0')
        fail_msg("%s: no sentence", what);
    if (!may_leave && entries != expected)
        fail_msg("%s: something is left: %d entries, not %d", what, entries, expected);
}

static void begin(bool is_replacing)
{
    made = scratch_make(SCRATCH_HERE);
    if (is_replacing)
        write_file(scratch_path(&made, "out.nc"), OLD);
}

static void end(long live, int descriptors)
{
    assert_ok(write_file_to("out.nc"));
    assert_true(has("out.nc", whole, whole_bytes));
    scratch_remove(&made);
    if (descriptor_count() != descriptors || pp_memory_live_count() != live)
        fail_msg("%s: descriptors or memory are left", what);
    assert_int_equal(pp_budget_used(&store->budget), 0);
}

/* Whether the point was reached. */
static bool run_call(shim_call call, const struct manner *how, long at, bool is_replacing)
{
    shim_plan plan = {.call = call,
                      .fail_at = at,
                      .forever = how->forever,
                      .is_short = how->is_short,
                      .error_number = how->error_number};
    long live = pp_memory_live_count();
    int descriptors = descriptor_count();
    parapet_status status;
    (void)snprintf(what, sizeof what, "%s %ld, %s", shim_call_name(call), at, how->name);
    begin(is_replacing);
    shim_arm(&plan);
    status = write_file_to("out.nc");
    shim_arm(NULL);
    check_outcome(status, is_replacing, call == SHIM_UNLINK || (call == SHIM_OPEN && how->forever));
    if (status != PARAPET_OK && (how->error_number == EINTR || how->is_short) &&
        (call == SHIM_READ || call == SHIM_WRITE || call == SHIM_CUT))
        fail_msg("%s: was not repeated: %s", what, parapet_error_message());
    end(live, descriptors);
    return plan.failures > 0;
}

static void test_file__a_system_call_that_fails_leaves_the_old_file_or_none(void **state)
{
    long at, runs = 0;
    int call, i;
    (void)state;
    for (call = 0; call < SHIM_CALLS; call++)
        for (i = 0; i < MANNERS; i++) {
            if (manners[i].is_short && call != SHIM_READ && call != SHIM_WRITE)
                continue;
            for (at = 0; run_call((shim_call)call, &manners[i], at, (at + i) % 2 == 0); at++)
                runs++;
        }
    printf("%ld failures of system calls\n", runs);
}

static bool run_allocation(long at, bool is_replacing)
{
    refusal plan = {.at = at};
    long live = pp_memory_live_count();
    int descriptors = descriptor_count();
    parapet_status status;
    (void)snprintf(what, sizeof what, "allocation %ld", at);
    begin(is_replacing);
    pp_memory_hook_set(refuse_one, &plan);
    status = write_file_to("out.nc");
    pp_memory_hook_set(NULL, NULL);
    check_outcome(status, is_replacing, false);
    if (plan.count > at && status != PARAPET_OK && status != PARAPET_ERR_MEMORY)
        fail_msg("%s: returned %s", what, parapet_status_name(status));
    end(live, descriptors);
    return plan.count > at;
}

static void test_file__an_allocation_that_fails_leaves_the_old_file_or_none(void **state)
{
    long at = 0;
    (void)state;
    while (run_allocation(at, at % 2 == 0))
        at++;
    printf("%ld failures of allocations\n", at);
}

static int set_up(void **state)
{
    (void)state;
    make_source();
    made = scratch_make(SCRATCH_HERE);
    assert_ok(write_file_to("out.nc"));
    whole_bytes = read_whole("out.nc", whole);
    scratch_remove(&made);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return parapet_store_close(&store) == PARAPET_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file__a_system_call_that_fails_leaves_the_old_file_or_none),
        cmocka_unit_test(test_file__an_allocation_that_fails_leaves_the_old_file_or_none),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
