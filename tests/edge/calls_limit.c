/* calls_limit.c - writes through the library beyond ulimit -f: calls_limit STORE. Ends with 1 if every call that
 * fails says so, and leaves the signals of the program as they were. */
#include <mpi.h>
#include <parapet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXTENT = 1 << 18 };

static int failed;

static void take(parapet_status status, const char *call)
{
    sigset_t blocked, pending;
    if (status == PARAPET_OK)
        return;
    failed = 1;
    fprintf(stderr, "%s: %s: %s\n", call, parapet_status_name(status), parapet_error_message());
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    (void)sigpending(&pending);
    if (sigismember(&blocked, SIGXFSZ) || sigismember(&pending, SIGXFSZ))
        abort();
}

static void write_array(const char *url, parapet_io_thread io_thread)
{
    static double values[EXTENT];
    parapet_store_options options = {.io_thread = io_thread};
    int64_t shape[1] = {EXTENT}, start[1] = {0};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 1, .shape = shape, .codec = "none", .overwrite = 1};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    take(parapet_store_open(&store, MPI_COMM_NULL, url, PARAPET_CREATE, &options), "open");
    if (store != NULL)
        take(parapet_array_create(&array, store, "a", &spec), "create");
    if (array != NULL)
        take(parapet_array_write(array, &part, 1), "write");
    take(parapet_array_close(&array), "close");
    take(parapet_store_close(&store), "close");
}

int main(int argc, char **argv)
{
    (void)signal(SIGXFSZ, SIG_DFL);
    if (argc != 2)
        return 2;
    write_array(argv[1], PARAPET_IO_THREAD_OWN);
    write_array(argv[1], PARAPET_IO_THREAD_NONE);
    return failed;
}
