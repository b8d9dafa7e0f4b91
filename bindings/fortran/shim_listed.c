/* Elements that are listed one by one: points from 1 in the order of Fortran, and runs of the flat index from 1,
 * which counts elements as Fortran stores them and is therefore that of C but for the 1. */
#include "shim.h"

#include <stdlib.h>

static parapet_type type_of(parapet_array *array)
{
    parapet_array_info info = {0};
    return parapet_array_get_info(array, &info) == PARAPET_OK ? info.type : PARAPET_TYPE_OF_ARRAY;
}

/* Whether memory has one element for each that is listed, one after the other; else refuses. */
static int is_fitting(const CFI_cdesc_t *data, int64_t elements)
{
    int64_t count = 1;
    for (int d = 0; d < data->rank; d++)
        count *= data->dim[d].extent;
    if (count != elements)
        shim_refuse("%lld elements are listed, but data has %lld", (long long)elements, (long long)count);
    else if (count > 0 && !CFI_is_contiguous(data))
        shim_refuse("the data of elements that are listed must be contiguous");
    else
        return 1;
    return 0;
}

/* The type to be claimed for the memory; the library compares it with the array's. */
static int claim_type(const CFI_cdesc_t *data, parapet_array *array, parapet_type *type)
{
    int found = shim_data_type(data);
    if (found < 0) {
        shim_refuse("the elements of this data (%zu bytes each) have a type that no array has",
                    (size_t)data->elem_len);
        return 0;
    }
    *type = shim_type_fits((parapet_type)found, type_of(array)) ? PARAPET_TYPE_OF_ARRAY : (parapet_type)found;
    return 1;
}

/* What the library is given: refused is in its count, if something is wrong here. Free the coordinates. */
static parapet_points describe_points(parapet_array *array, const CFI_cdesc_t *data, const int64_t *points,
                                      const int64_t *extents)
{
    parapet_points made = {.ndim = (int)extents[0], .count = -1, .data = data->base_addr};
    int64_t *coordinates;
    if (!is_fitting(data, extents[1]) || !claim_type(data, array, &made.type))
        return made;
    if ((coordinates = calloc((size_t)(extents[0] * extents[1]) + 1, sizeof *coordinates)) == NULL) {
        (void)shim_lack_memory();
        return made;
    }
    for (int64_t i = 0; i < extents[1]; i++)
        shim_reverse(coordinates + i * extents[0], points + i * extents[0], (int)extents[0], -1);
    made.coordinates = coordinates;
    made.count = extents[1];
    return made;
}

static void free_numbers(const int64_t *numbers)
{
    free((void *)(uintptr_t)numbers);
}

static parapet_status move_points(parapet_status (*move)(parapet_array *, const parapet_points *),
                                  parapet_array *array, const CFI_cdesc_t *data, const int64_t *points,
                                  const int64_t *extents)
{
    parapet_points made;
    parapet_status status;
    shim_begin();
    made = describe_points(array, data, points, extents);
    status = move(array, &made);
    free_numbers(made.coordinates);
    return status;
}

parapet_status parapet_fortran_array_write_points(parapet_array *array, const CFI_cdesc_t *data,
                                                  const int64_t *points, const int64_t *extents)
{
    return move_points(parapet_array_write_points, array, data, points, extents);
}

parapet_status parapet_fortran_array_read_points(parapet_array *array, const CFI_cdesc_t *data, const int64_t *points,
                                                 const int64_t *extents)
{
    return move_points(parapet_array_read_points, array, data, points, extents);
}

parapet_status parapet_fortran_array_read_points_local(parapet_array *array, const CFI_cdesc_t *data,
                                                       const int64_t *points, const int64_t *extents)
{
    return move_points(parapet_array_read_points_local, array, data, points, extents);
}

static int64_t sum_of(const int64_t *lengths, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += lengths[i];
    return sum;
}

/* extents: of starts and lengths. The same for runs; free the starts. */
static parapet_runs describe_runs(parapet_array *array, const CFI_cdesc_t *data, const int64_t *starts,
                                  const int64_t *lengths, const int64_t *extents)
{
    parapet_runs made = {.lengths = lengths, .count = -1, .data = data->base_addr};
    int64_t *shifted;
    if (extents[0] != extents[1])
        shim_refuse("there are %lld starts, but %lld lengths", (long long)extents[0], (long long)extents[1]);
    if (extents[0] != extents[1] || !is_fitting(data, sum_of(lengths, extents[1])) ||
        !claim_type(data, array, &made.type))
        return made;
    if ((shifted = calloc((size_t)extents[0] + 1, sizeof *shifted)) == NULL) {
        (void)shim_lack_memory();
        return made;
    }
    for (int64_t i = 0; i < extents[0]; i++)
        shifted[i] = starts[i] - 1;
    made.starts = shifted;
    made.count = extents[0];
    return made;
}

static parapet_status move_runs(parapet_status (*move)(parapet_array *, const parapet_runs *), parapet_array *array,
                                const CFI_cdesc_t *data, const int64_t *starts, const int64_t *lengths,
                                const int64_t *extents)
{
    parapet_runs made;
    parapet_status status;
    shim_begin();
    made = describe_runs(array, data, starts, lengths, extents);
    status = move(array, &made);
    free_numbers(made.starts);
    return status;
}

parapet_status parapet_fortran_array_write_runs(parapet_array *array, const CFI_cdesc_t *data, const int64_t *starts,
                                                const int64_t *lengths, const int64_t *extents)
{
    return move_runs(parapet_array_write_runs, array, data, starts, lengths, extents);
}

parapet_status parapet_fortran_array_read_runs(parapet_array *array, const CFI_cdesc_t *data, const int64_t *starts,
                                               const int64_t *lengths, const int64_t *extents)
{
    return move_runs(parapet_array_read_runs, array, data, starts, lengths, extents);
}

parapet_status parapet_fortran_array_read_runs_local(parapet_array *array, const CFI_cdesc_t *data,
                                                     const int64_t *starts, const int64_t *lengths,
                                                     const int64_t *extents)
{
    return move_runs(parapet_array_read_runs_local, array, data, starts, lengths, extents);
}
