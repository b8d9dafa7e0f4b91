/* Copies between processes: of very many runs, and where the other process is gone. */
#include "support.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/direct.h"
#include "comm/internal.h"

enum { RUNS = 3000 }; /* more than one call of the system takes */

/* Every other element of one list and every third of another. */
static pp_direct_copy copy_of(int64_t process, int32_t *local, int32_t *remote)
{
    static const int64_t count[] = {RUNS}, local_strides[] = {2 * sizeof *local},
                         remote_strides[] = {3 * sizeof *remote};
    return (pp_direct_copy){.process = process,
                            .ndim = 1,
                            .element_bytes = sizeof *local,
                            .count = count,
                            .local = local,
                            .local_strides = local_strides,
                            .remote = (uintptr_t)remote,
                            .remote_strides = remote_strides};
}

static void test_direct__thousands_of_runs_arrive_and_nothing_else_changes(void **state)
{
    static int32_t local[2 * RUNS], remote[3 * RUNS];
    pp_direct_copy copy = copy_of(getpid(), local, remote);
    int i;
    (void)state;
    for (i = 0; i < 3 * RUNS; i++)
        remote[i] = i + 1;
    if (!pp_direct_read(&copy))
        skip(); /* the system allows nobody to do so */
    for (i = 0; i < RUNS; i++) {
        assert_int_equal(local[2 * i], 3 * i + 1);
        assert_int_equal(local[2 * i + 1], 0);
        local[2 * i] = -i;
    }
    assert_true(pp_direct_write(&copy));
    for (i = 0; i < RUNS; i++) {
        assert_int_equal(remote[3 * i], -i);
        assert_int_equal(remote[3 * i + 1], 3 * i + 2);
    }
}

/* Runs that are neighbours on one side only; and none at all. */
static void test_direct__runs_may_be_neighbours_on_one_side(void **state)
{
    static const int64_t none[] = {0}, dense[] = {sizeof(int32_t)};
    static int32_t local[2 * RUNS], remote[3 * RUNS];
    pp_direct_copy copy = copy_of(getpid(), local, remote);
    int i;
    (void)state;
    copy.local_strides = dense;
    for (i = 0; i < 3 * RUNS; i++)
        remote[i] = i + 1;
    if (!pp_direct_read(&copy))
        skip();
    for (i = 0; i < RUNS; i++)
        assert_int_equal(local[i], 3 * i + 1);
    assert_int_equal(local[RUNS], 0);
    copy.count = none;
    copy.process = -1;
    assert_true(pp_direct_read(&copy));
}

/* The system copies as far as there is memory, and then says so. */
static void test_direct__of_memory_that_ends_fails(void **state)
{
    enum { PAGE = 4096 };
    static const int64_t count[] = {2 * PAGE}, dense[] = {1};
    static char local[2 * PAGE];
    char *remote = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pp_direct_copy copy = {.process = getpid(),
                           .ndim = 1,
                           .element_bytes = 1,
                           .count = count,
                           .local = local,
                           .local_strides = dense,
                           .remote = (uintptr_t)remote,
                           .remote_strides = dense};
    (void)state;
    assert_true(remote != MAP_FAILED);
    assert_int_equal(munmap(remote + PAGE, PAGE), 0);
    assert_false(pp_direct_read(&copy));
    assert_int_equal(munmap(remote, PAGE), 0);
}

/* The number of a process may mean another one in another container: only what it is known to have proves it. */
static void test_direct__needs_a_proof_of_identity(void **state)
{
    static pp_comm comm = {.node = 5, .nonce = 77};
    pp_identity_proof proof = pp_identity_proof_of(&comm);
    (void)state;
    if (!pp_direct_works(&comm, &proof))
        skip();
    proof.nonce++;
    assert_false(pp_direct_works(&comm, &proof));
    proof.nonce--;
    proof.node++;
    assert_false(pp_direct_works(&comm, &proof));
    proof.node--;
    pp_direct_fail_at(0, false);
    assert_false(pp_direct_works(&comm, &proof));
    assert_true(pp_direct_works(&comm, &proof));
    pp_direct_fail_at(1, true);
    assert_true(pp_direct_works(&comm, &proof));
    assert_false(pp_direct_works(&comm, &proof));
    assert_false(pp_direct_works(&comm, &proof));
    pp_direct_fail_at(-1, false);
}

static void test_direct__of_a_process_that_is_gone_fails(void **state)
{
    static const int64_t two[] = {2};
    static int32_t local[2 * RUNS], remote[3 * RUNS];
    pid_t child = fork();
    pp_direct_copy copy;
    (void)state;
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    copy = copy_of(child, local, remote);
    assert_false(pp_direct_read(&copy));
    assert_false(pp_direct_write(&copy));
    copy.count = two;
    assert_false(pp_direct_read(&copy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct__thousands_of_runs_arrive_and_nothing_else_changes),
        cmocka_unit_test(test_direct__runs_may_be_neighbours_on_one_side),
        cmocka_unit_test(test_direct__of_memory_that_ends_fails),
        cmocka_unit_test(test_direct__needs_a_proof_of_identity),
        cmocka_unit_test(test_direct__of_a_process_that_is_gone_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
