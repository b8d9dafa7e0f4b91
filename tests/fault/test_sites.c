/* Every storage operation and every allocation of every public call fails, in turn, in several manners: the call
 * says so, nothing leaks, every shard stays whole, and what was not published is not there.
 *
 * fault_sites quick|full: quick takes one thread and the plainest manners. */
#include "support.h"

#include "sites.h"

static bool is_full;
static site_test *tests;

/* The first two are those of the quick form. */
static const fault_point storage_manners[] = {
    {.kind = FAULT_STORAGE, .status = PARAPET_ERR_IO},
    {.kind = FAULT_STORAGE, .status = PARAPET_ERR_NO_SPACE, .after = true, .forever = true},
    {.kind = FAULT_STORAGE, .status = PARAPET_ERR_IO, .after = true},
    {.kind = FAULT_STORAGE, .status = PARAPET_ERR_IO, .forever = true},
    {.kind = FAULT_STORAGE, .status = PARAPET_ERR_NO_SPACE},
    {.kind = FAULT_STORAGE, .status = PARAPET_ERR_NO_SPACE, .torn = true},
    {.kind = FAULT_STORAGE, .status = PARAPET_ERR_NO_SPACE, .torn = true, .forever = true},
};

static const fault_point memory_manners[] = {
    {.kind = FAULT_MEMORY},
    {.kind = FAULT_MEMORY, .forever = true},
};

static const struct {
    int64_t threads;
    parapet_io_thread io_thread;
} thread_manners[] = {
    {1, PARAPET_IO_THREAD_NONE}, {1, PARAPET_IO_THREAD_OWN}, {3, PARAPET_IO_THREAD_OWN}, {3, PARAPET_IO_THREAD_NONE}};

static void run_manners(site_test *test)
{
    size_t i, memory = is_full ? 2 : 1;
    size_t storage = is_full ? sizeof storage_manners / sizeof storage_manners[0] : 2;
    for (i = 0; i < storage; i++)
        (void)site_test_run_all(test, storage_manners[i]);
    for (i = 0; i < memory; i++)
        (void)site_test_run_all(test, memory_manners[i]);
}

static void test_call(void **context)
{
    site_test *test = *context;
    size_t i, manners = is_full ? 4 : 1;
    site_test_build(test, test->of);
    for (i = 0; i < manners; i++) {
        test->threads = thread_manners[i].threads;
        test->io_thread = thread_manners[i].io_thread;
        run_manners(test);
    }
    site_test_free(test);
}

static void print_table(void)
{
    long storage = 0, memory = 0, runs = 0;
    int i;
    printf("\n%-40s %10s %12s %8s\n", "call", "storage", "allocations", "runs");
    for (i = 0; i < scenario_count; i++) {
        printf("%-40s %10ld %12ld %8ld\n", scenarios[i].name, tests[i].sites[0], tests[i].sites[1], tests[i].runs);
        storage += tests[i].sites[0];
        memory += tests[i].sites[1];
        runs += tests[i].runs;
    }
    printf("%-40s %10ld %12ld %8ld\n", "total", storage, memory, runs);
}

int main(int argc, char **argv)
{
    struct CMUnitTest *list = calloc((size_t)scenario_count, sizeof list[0]);
    int i, failed;
    is_full = argc > 1 && strcmp(argv[1], "full") == 0;
    tests = calloc((size_t)scenario_count, sizeof tests[0]);
    for (i = 0; i < scenario_count; i++) {
        tests[i].of = &scenarios[i];
        list[i] = (struct CMUnitTest){.name = scenarios[i].name, .test_func = test_call, .initial_state = &tests[i]};
    }
    failed = _cmocka_run_group_tests("fault_sites", list, (size_t)scenario_count, NULL, NULL);
    print_table();
    free(tests);
    free(list);
    return failed;
}
