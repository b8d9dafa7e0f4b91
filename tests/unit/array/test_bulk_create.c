/* Many new arrays in one call, of which another job holds one: whoever holds SHORT of a group does not wait for LONG
 * of what is in it, for which that other job may need the group. */
#include "support.h"

#include <parapet_store.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "stores/wrapper.h"

#define GROUP_LOCK "g/__parapet/lock"
#define ARRAY_LOCK "g/b/__parapet/lock"

/* A store that looks at the lock of the group whenever that of the array is asked for. */
typedef struct watching {
    pp_wrapper wrapper;
    pp_lock *other; /* of the other job, which ends when it is asked for the second time */
    int asked;
    bool has_waited; /* it was asked for again, and the group was still held */
} watching;

static bool is_group_held(pp_store *store)
{
    pp_lock *lock;
    bool is_held;
    assert_ok(pp_store_open_lock(store, GROUP_LOCK, &lock));
    assert_ok(pp_lock_test(lock, PP_LOCK_SHORT, &is_held));
    pp_lock_close(lock);
    return is_held;
}

static parapet_status look(pp_wrapper *wrapper, pp_operation *operation)
{
    watching *self = (watching *)wrapper;
    if (strcmp(operation->name, "set_lock") != 0 || strcmp(operation->key, ARRAY_LOCK) != 0 || ++self->asked != 2)
        return PARAPET_OK;
    self->has_waited = is_group_held(wrapper->inner);
    pp_lock_close(self->other);
    return PARAPET_OK;
}

static parapet_status pass_on(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status)
{
    (void)wrapper;
    (void)operation;
    return status;
}

static void free_nothing(pp_wrapper *wrapper)
{
    (void)wrapper;
}

static void test_bulk_create__does_not_wait_for_an_array_while_it_holds_its_group(void **state)
{
    static const pp_wrapper_hooks hooks = {.name = "watching", .begin = look, .end = pass_on, .free = free_nothing};
    static const char *const paths[2] = {"g/a", "g/b"};
    const int64_t shape[1] = {4};
    const parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = shape}, specs[2] = {spec, spec};
    parapet_array *arrays[2];
    parapet_store *store;
    watching watched = {.asked = 0};
    pp_store *inner;
    (void)state;
    assert_ok(pp_store_memory_build(&inner, NULL));
    pp_wrapper_init(&watched.wrapper, inner, &hooks);
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, &watched.wrapper.store, PARAPET_CREATE,
                                 &(parapet_store_options){.io_thread = PARAPET_IO_THREAD_NONE}));
    assert_ok(pp_store_open_lock(inner, ARRAY_LOCK, &watched.other));
    assert_ok(pp_lock_set(watched.other, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE));
    assert_ok(parapet_arrays_create(arrays, store, paths, specs, 2));
    assert_true(watched.asked >= 2);
    assert_false(watched.has_waited);
    assert_ok(parapet_arrays_close(arrays, 2));
    assert_ok(parapet_store_close(&store));
    pp_store_free(inner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bulk_create__does_not_wait_for_an_array_while_it_holds_its_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
