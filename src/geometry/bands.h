/* bands.h - a box in C order, cut into bands: boxes that are each one run of its memory and have at most so many
 * bytes.
 *
 * Pure arithmetic. Depends on base. A band has one row in each of the slowest dimensions, some rows in the dimension
 * that is cut, and the faster ones in full. */
#ifndef PARAPET_GEOMETRY_BANDS_H
#define PARAPET_GEOMETRY_BANDS_H

#include <stddef.h>

#include "geometry/box.h"

typedef struct pp_bands {
    pp_box whole;
    pp_box rows;  /* those that are of interest: inside whole; bands hold no others */
    int cut;      /* the dimension that is cut; -1 if there are no dimensions */
    int64_t step; /* rows of that dimension in a band */
    int64_t cell[PARAPET_MAX_NDIM];
    bool more;
} pp_bands;

/* The bands that hold the elements of interest, which may be the whole box. A band of one element may have more than
 * most_bytes. */
void pp_bands_init(pp_bands *bands, const pp_box *whole, const pp_box *of_interest, size_t element_bytes,
                   size_t most_bytes);

/* The next band in C order; false: there was none left. */
bool pp_bands_next(pp_bands *bands, pp_box *band);

/* A band as a run of the elements of whole, in C order, and back. */
void pp_band_to_run(const pp_box *whole, const pp_box *band, int64_t *first, int64_t *count);
void pp_band_of_run(const pp_box *whole, int64_t first, int64_t count, pp_box *band);

#endif
