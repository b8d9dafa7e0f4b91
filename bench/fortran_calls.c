/* The calls of fortran_calls.f90 as a program in C makes them. */
#include <parapet_arrays.h>

int bench_c_write(parapet_array *array, double *data, int64_t start, int64_t count);
int bench_c_read(parapet_array *array, double *data, int64_t start, int64_t count);

int bench_c_write(parapet_array *array, double *data, int64_t start, int64_t count)
{
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = data};
    return (int)parapet_array_write(array, &part, 1);
}

int bench_c_read(parapet_array *array, double *data, int64_t start, int64_t count)
{
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = data};
    return (int)parapet_array_read(array, &part, 1);
}
