/* transpose.h - transposes small square tiles of elements in registers.
 *
 * Moving elements of 1, 2 or 4 bytes one by one takes an instruction for each way of each of them. A tile of 16 bytes
 * a side is loaded, interleaved and stored in whole registers instead. Elements of 8 bytes and more gain nothing. */
#ifndef PARAPET_GEOMETRY_TRANSPOSE_H
#define PARAPET_GEOMETRY_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>

/* How many elements a side of a tile has; 0: elements of this size, or this processor, have no tiles. */
int64_t pp_transpose_side(size_t element_bytes);

/* A tile: its rows are dense in the target, its columns in the source. Strides in bytes. */
typedef struct pp_tile {
    unsigned char *target;
    int64_t target_stride; /* from one row to the next */
    const unsigned char *source;
    int64_t source_stride; /* from one column to the next */
} pp_tile;

void pp_transpose_tile(const pp_tile *tile, size_t element_bytes);

#endif
