/* beyond.h - chunks that hold less than they show: a variable of netCDF-4 that has fewer indices than an unlimited
 * dimension is as long as the dimension, and whatever its last chunks have there, what is beyond is the fill value.
 */
#ifndef PARAPET_FOREIGN_BEYOND_H
#define PARAPET_FOREIGN_BEYOND_H

#include "zarr/document.h"

typedef struct pp_foreign_beyond {
    int ndim;
    int64_t *
        within; /* ndim extents of what chunks hold, then those of a chunk and of the grid; NULL: nothing is beyond */
    unsigned char *fill; /* one element in the byte order of the file */
    size_t element_bytes;
} pp_foreign_beyond;

/* Makes room for the extents, which the caller fills in. Clear it even after a failure. */
parapet_status pp_foreign_beyond_begin(pp_foreign_beyond *beyond, int ndim);
void pp_foreign_beyond_clear(pp_foreign_beyond *beyond);

/* Checks the extents against the document, whose first codec has the byte order. */
parapet_status pp_foreign_beyond_finish(pp_foreign_beyond *beyond, const pp_array_document *document);

/* Puts the fill value into what a decoded chunk has beyond the extents. */
void pp_foreign_beyond_fill(const pp_foreign_beyond *beyond, uint64_t index, unsigned char *chunk);

#endif
