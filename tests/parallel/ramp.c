#include "ramp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t steps[RAMP_NDIM] = {7, 1031, 1};
static const int64_t strides[RAMP_NDIM] = {7 * sizeof(double), 1031 * sizeof(double), sizeof(double)};

double ramp_value(int64_t number)
{
    uint64_t word = (uint64_t)number * UINT64_C(0x9E3779B97F4A7C15);
    return (double)((word ^ word >> 29) % 4096 + 1);
}

void ramp_build(ramp *made, const int64_t *shape)
{
    int d;
    made->count = 1;
    for (d = 0; d < RAMP_NDIM; d++) {
        made->shape[d] = shape[d];
        made->count += (size_t)((shape[d] - 1) * steps[d]);
    }
    made->table = malloc(made->count * sizeof made->table[0]);
    ramp_fill(made);
}

void ramp_clear(ramp *made)
{
    free(made->table);
    made->table = NULL;
}

static int64_t number_at(const int64_t *position)
{
    return steps[0] * position[0] + steps[1] * position[1] + steps[2] * position[2];
}

parapet_part ramp_part(const ramp *of, const ramp_box *box)
{
    return (parapet_part){.ndim = RAMP_NDIM,
                          .start = box->start,
                          .count = box->count,
                          .data = of->table + number_at(box->start),
                          .strides_bytes = strides};
}

void ramp_fill(ramp *of)
{
    size_t i;
    for (i = 0; i < of->count; i++)
        of->table[i] = ramp_value((int64_t)i);
}

void ramp_spoil(ramp *of)
{
    memset(of->table, 0xff, of->count * sizeof of->table[0]);
}

/* Whether a row of a box, dense in memory, holds the values from this number on. */
static bool is_row_right(const double *row, int64_t number, int64_t count)
{
    int64_t k;
    for (k = 0; k < count; k++)
        if (row[k] != ramp_value(number + k)) {
            fprintf(stderr, "number %lld is %.17g instead of %.17g\n", (long long)(number + k), row[k],
                    ramp_value(number + k));
            return false;
        }
    return true;
}

bool ramp_is_right(const ramp *of, const ramp_box *box)
{
    int64_t j, first, last;
    for (j = 0; j < box->count[1]; j++) { /* the rows of all planes together are one run of the table */
        first = number_at(box->start) + j * steps[1];
        last = first + (box->count[0] - 1) * steps[0] + box->count[2] - 1;
        if (!is_row_right(of->table + first, first, last - first + 1))
            return false;
    }
    return true;
}

void ramp_put(const ramp *of, const ramp_box *box, double *buffer)
{
    const int64_t *count = box->count;
    int64_t i, j;
    for (i = 0; i < count[0]; i++)
        for (j = 0; j < count[1]; j++, buffer += count[2])
            memcpy(buffer, of->table + number_at(box->start) + i * steps[0] + j * steps[1],
                   (size_t)count[2] * sizeof buffer[0]);
}

bool ramp_holds(const ramp *of, const ramp_box *box, const double *buffer)
{
    const int64_t *count = box->count;
    int64_t i, j;
    for (i = 0; i < count[0]; i++)
        for (j = 0; j < count[1]; j++, buffer += count[2]) {
            int64_t number = number_at(box->start) + i * steps[0] + j * steps[1];
            if (memcmp(buffer, of->table + number, (size_t)count[2] * sizeof buffer[0]) != 0) {
                (void)is_row_right(buffer, number, count[2]);
                fprintf(stderr, "plane %lld, row %lld\n", (long long)(box->start[0] + i),
                        (long long)(box->start[1] + j));
                return false;
            }
        }
    return true;
}

size_t ramp_box_bytes(const ramp_box *box)
{
    return (size_t)(box->count[0] * box->count[1] * box->count[2]) * sizeof(double);
}
