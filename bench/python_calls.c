/* The calls of python_calls.py as a program in C makes them: they take the handle and the functions of the library
 * that Python has loaded, so both languages do the same work in the same process, and their calls can take turns. */
#define PARAPET_SERIAL /* only for the types: nothing here knows of MPI */
#include <parapet_arrays.h>
#include <stdlib.h>
#include <time.h>

typedef parapet_status transfer_function(parapet_array *array, const parapet_part *parts, int part_count);

double bench_transfer(transfer_function *transfer, parapet_array *array, int ndim, const int64_t *numbers,
                      void *data);
double bench_read_new(transfer_function *transfer, parapet_array *array, int ndim, const int64_t *numbers,
                      size_t size);

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds that a transfer of one box takes; numbers: its start, then its count. Negative: it failed. */
double bench_transfer(transfer_function *transfer, parapet_array *array, int ndim, const int64_t *numbers, void *data)
{
    double began = seconds_now();
    parapet_part part = {.ndim = ndim, .start = numbers, .count = numbers + ndim, .data = data};
    parapet_status status = transfer(array, &part, 1);
    double seconds = seconds_now() - began;
    return status == PARAPET_OK ? seconds : -1.0;
}

/* The same for reading into new memory, as a slice does. */
double bench_read_new(transfer_function *transfer, parapet_array *array, int ndim, const int64_t *numbers,
                      size_t size)
{
    double began = seconds_now();
    void *data = malloc(size);
    double seconds = data == NULL ? -1.0 : bench_transfer(transfer, array, ndim, numbers, data);
    free(data);
    return seconds < 0.0 ? seconds : seconds_now() - began;
}
