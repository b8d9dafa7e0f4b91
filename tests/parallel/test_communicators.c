/* Communicators that a store cannot be opened over, and MPI that ends before the store does. */
#include <parapet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"

/* Between the ranks of even and of odd number. */
static MPI_Comm make_intercommunicator(const launch *run)
{
    MPI_Comm half, between;
    int side = run->rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, run->rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 7, &between);
    MPI_Comm_free(&half);
    return between;
}

static void check_intercommunicator(launch *run)
{
    MPI_Comm between = make_intercommunicator(run);
    parapet_store *store = NULL;
    char path[640];
    launch_case_begin(run, 1);
    (void)snprintf(path, sizeof path, "%s/between", run->folder);
    launch_expect(run,
                  LAUNCH_AGREED(run, parapet_store_open(&store, between, path, PARAPET_CREATE, NULL)) ==
                      PARAPET_ERR_ARGUMENT,
                  "PARAPET_ERR_ARGUMENT");
    launch_expect(run, strstr(parapet_error_message(), "MPI_Intercomm_merge") != NULL, "what to do instead");
    launch_expect(run, store == NULL && access(path, F_OK) != 0, "nothing made");
    MPI_Comm_free(&between);
    (void)launch_case_end(run, "an intercommunicator");
}

static void check_merged(launch *run)
{
    MPI_Comm between = make_intercommunicator(run), merged;
    parapet_store *store = NULL;
    char path[640];
    launch_case_begin(run, 2);
    MPI_Intercomm_merge(between, run->rank % 2, &merged);
    MPI_Comm_free(&between);
    (void)snprintf(path, sizeof path, "%s/merged", run->folder);
    LAUNCH_OK(run, parapet_store_open(&store, merged, path, PARAPET_CREATE, NULL));
    MPI_Comm_free(&merged);
    LAUNCH_OK(run, parapet_store_close(&store));
    (void)launch_case_end(run, "what has been merged");
}

/* Counts what is wrong; MPI cannot be asked any more what the other ranks have. */
static int close_after_finalize(parapet_store **store, parapet_array **array, int ranks)
{
    parapet_status status = parapet_array_attribute_set(*array, "k", "1");
    int wrong = 0;
    /* A rank that is alone needs no messages. */
    wrong += status != (ranks > 1 ? PARAPET_ERR_MPI : PARAPET_OK);
    wrong += ranks > 1 && strstr(parapet_error_message(), "MPI was finalised") == NULL;
    (void)parapet_array_close(array);
    (void)parapet_store_close(store);
    wrong += *array != NULL || *store != NULL;
    return wrong;
}

int main(int argc, char **argv)
{
    int64_t shape[1] = {8};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = shape};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    const char *url;
    launch run;
    int failed;
    launch_start(&run, &argc, &argv, MPI_THREAD_SINGLE);
    if (run.ranks > 1) {
        check_intercommunicator(&run);
        check_merged(&run);
    }
    launch_case_begin(&run, 3);
    url = run.ranks == 1 ? "memory:finalised" : run.folder; /* which is removed below */
    LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_CREATE, NULL));
    LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec));
    (void)launch_case_end(&run, "a store that is open");
    failed = launch_finish(&run); /* ends MPI, and removes the folder */
    if (close_after_finalize(&store, &array, run.ranks) == 0)
        return failed;
    printf("rank %d: after MPI_Finalize: %s\n", run.rank, parapet_error_message());
    return 1;
}
