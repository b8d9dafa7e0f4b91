#include "geometry/bands.h"

#include <string.h>

#include "base/checked.h"

/* The last dimension of which not all rows fit into a band, and how many of them do. */
static void find_cut(pp_bands *bands, size_t element_bytes, size_t most_bytes)
{
    size_t row_bytes = element_bytes, fitting;
    int d;
    for (d = bands->whole.ndim - 1; d > 0; d--) {
        if ((size_t)bands->whole.count[d] > most_bytes / row_bytes)
            break;
        row_bytes *= (size_t)bands->whole.count[d];
    }
    fitting = d >= 0 ? pp_min_size(most_bytes / row_bytes, (size_t)bands->whole.count[d]) : 1;
    bands->cut = d;
    bands->step = (int64_t)pp_max_size(fitting, 1);
}

void pp_bands_init(pp_bands *bands, const pp_box *whole, const pp_box *of_interest, size_t element_bytes,
                   size_t most_bytes)
{
    *bands = (pp_bands){.whole = *whole, .rows = *of_interest, .more = !pp_box_is_empty(of_interest)};
    find_cut(bands, element_bytes, most_bytes);
    memcpy(bands->cell, of_interest->start, sizeof bands->cell);
}

/* Moves on in C order over the rows of the dimensions up to the cut; false: that was the last. */
static bool pass_band(pp_bands *bands)
{
    int d;
    for (d = bands->cut; d >= 0; d--) {
        bands->cell[d] += d == bands->cut ? bands->step : 1;
        if (bands->cell[d] < bands->rows.start[d] + bands->rows.count[d])
            return true;
        bands->cell[d] = bands->rows.start[d];
    }
    return false;
}

bool pp_bands_next(pp_bands *bands, pp_box *band)
{
    int d;
    if (!bands->more)
        return false;
    *band = bands->whole;
    for (d = 0; d <= bands->cut; d++) {
        int64_t left = bands->rows.start[d] + bands->rows.count[d] - bands->cell[d];
        band->start[d] = bands->cell[d];
        band->count[d] = d == bands->cut ? pp_min_i64(bands->step, left) : 1;
    }
    bands->more = pass_band(bands);
    return true;
}

void pp_band_to_run(const pp_box *whole, const pp_box *band, int64_t *first, int64_t *count)
{
    int d;
    *first = 0;
    *count = pp_box_element_count(band);
    for (d = 0; d < whole->ndim; d++)
        *first = *first * whole->count[d] + band->start[d] - whole->start[d];
}

void pp_band_of_run(const pp_box *whole, int64_t first, int64_t count, pp_box *band)
{
    int d;
    band->ndim = whole->ndim;
    for (d = whole->ndim - 1; d >= 0; d--) {
        band->start[d] = whole->start[d] + first % whole->count[d];
        band->count[d] = pp_min_i64(count, whole->count[d]);
        first /= whole->count[d];
        count = pp_max_i64(count / whole->count[d], 1);
    }
}
