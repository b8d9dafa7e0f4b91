/* Allocations that fail over a real directory: what the memory store cannot show, temporary files and descriptors
 * that stay behind. */
#include "scratch.h"

#include "sites.h"

static scratch made;
static int descriptors;
static long found;

static int count_temporary(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)at;
    found += type == FTW_F && strstr(path, ".parapet-") != NULL ? 1 : 0;
    return 0;
}

static pp_store *build_directory(void)
{
    pp_posix_options options = {.create = true, .not_durable = false, .direct_io = PP_DIRECT_IO_NEVER};
    pp_store *store;
    descriptors = descriptor_count();
    made = scratch_make(SCRATCH_HERE);
    assert_ok(pp_store_posix_build(&store, made.root, &options));
    return store;
}

static void check_directory(void)
{
    found = 0;
    assert_int_equal(nftw(made.path, count_temporary, 16, FTW_PHYS), 0);
    assert_int_equal(found, 0);
    assert_int_equal(descriptor_count(), descriptors);
    scratch_remove(&made);
}

static void test_call(void **context)
{
    fault_point once = {.kind = FAULT_MEMORY}, forever = {.kind = FAULT_MEMORY, .forever = true};
    site_test test;
    site_test_build(&test, scenario_find(*context));
    test.build_inner = build_directory;
    test.check_inner = check_directory;
    (void)site_test_run_all(&test, once);
    (void)site_test_run_all(&test, forever);
    printf("%s: %ld allocations, %ld runs\n", test.of->name, test.sites[FAULT_MEMORY], test.runs);
    site_test_free(&test);
}

int main(void)
{
    static const char *const names[] = {
        "array_write, all",      "array_write, merging",    "array_seal",
        "array_resize, growing", "array_resize, shrinking", "array_create, overwriting",
        "array_read, sealed",    "array_check, sealed",     "array_attribute_set, sealed"};
    enum { NAMES = sizeof names / sizeof names[0] };
    struct CMUnitTest list[NAMES];
    int i;
    for (i = 0; i < NAMES; i++)
        list[i] = (struct CMUnitTest){
            .name = names[i], .test_func = test_call, .initial_state = (void *)(uintptr_t)names[i]};
    return _cmocka_run_group_tests("fault_directory", list, NAMES, NULL, NULL);
}
