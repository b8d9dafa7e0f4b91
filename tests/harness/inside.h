/* inside.h - what the tests of src/comm under the launcher share: no cmocka, since every rank is a process of its
 * own. */
#ifndef PARAPET_TESTS_PARALLEL_INSIDE_H
#define PARAPET_TESTS_PARALLEL_INSIDE_H

#include "base/memory.h"
#include "comm/comm.h"
#include "comm/flavour.h"
#include "comm/topology.h"
#include "support.h"

static int failures;

#define expect(is_true, ...)                                                                                         \
    do {                                                                                                             \
        if (!(is_true)) {                                                                                            \
            failures++;                                                                                              \
            fprintf(stderr, "%s:%d: expected %s: ", __func__, __LINE__, #is_true);                                   \
            fprintf(stderr, __VA_ARGS__);                                                                            \
            fprintf(stderr, "; the sentence is \"%s\"\n", parapet_error_message());                                  \
        }                                                                                                            \
    } while (0)

/* Numbers that every rank draws alike, for each combination of what is passed. */
static inline test_random random_of(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    test_random random = {(seed * 31 + a) * UINT64_C(0x9E3779B97F4A7C15) + b * UINT64_C(0xC2B2AE3D27D4EB4F) +
                          c * UINT64_C(0x165667B19E3779F9) + 1};
    random.state |= 1;
    (void)test_random_next(&random);
    (void)test_random_next(&random);
    return random;
}

/* All ranks wait for each other, asleep. */
static inline void meet(pp_comm *comm)
{
    expect(pp_comm_agree(comm, "meeting", PARAPET_OK) == PARAPET_OK, "agreement");
}

/* Runs check with a communicator of all ranks; the exit code of main. */
static inline int run_parallel(int *argc, char ***argv, void (*check)(pp_comm *comm))
{
    const uint64_t place[2] = {0};
    pp_comm *comm = NULL;
    pp_call call;
    long live;
    int all_failures = 0, *servers = NULL, server_count = 0;
    MPI_Init(argc, argv);
    expect(pp_comm_build(&comm, MPI_COMM_WORLD, 0) == PARAPET_OK, "a communicator");
    if (comm != NULL) {
        pp_call_init(&call, "test");
        expect(pp_comm_begin(comm, &call, PARAPET_OK) == PARAPET_OK, "begin");
        /* From the first choice on the communicator keeps room for what servers ask, and which of them are near. */
        expect(pp_comm_choose_servers(comm, 0, &servers, &server_count) == PARAPET_OK, "servers");
        expect(pp_comm_find_near(comm, place, servers, server_count) == PARAPET_OK, "servers nearby");
        pp_free(servers);
        live = pp_memory_live_count();
        check(comm);
        expect(pp_memory_live_count() == live, "%ld allocations instead of %ld", pp_memory_live_count(), live);
        meet(comm);
        pp_comm_free(comm);
    }
    expect(pp_memory_live_count() == 0, "%ld allocations left", pp_memory_live_count());
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_failures != 0;
}

#endif
