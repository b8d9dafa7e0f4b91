#include "foreign/beyond.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"

parapet_status pp_foreign_beyond_begin(pp_foreign_beyond *beyond, int ndim)
{
    beyond->ndim = ndim;
    return pp_allocate_array(&beyond->within, 3 * (size_t)ndim + 1, sizeof beyond->within[0]);
}

void pp_foreign_beyond_clear(pp_foreign_beyond *beyond)
{
    pp_free(beyond->within);
    pp_free(beyond->fill);
    *beyond = (pp_foreign_beyond){0};
}

static void set_fill(pp_foreign_beyond *beyond, const pp_array_document *document)
{
    bool is_machine_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    bool is_swapped = document->codecs.codecs[0].is_big_endian != is_machine_big;
    const pp_type *type = &document->type;
    beyond->element_bytes = type->element_bytes;
    if (is_swapped && type->swap_bytes > 1)
        pp_swap_units(beyond->fill, document->fill_value, type->element_bytes, type->swap_bytes);
    else
        memcpy(beyond->fill, document->fill_value, type->element_bytes);
}

parapet_status pp_foreign_beyond_finish(pp_foreign_beyond *beyond, const pp_array_document *document)
{
    int64_t *chunk = beyond->within + beyond->ndim, *cells = chunk + beyond->ndim;
    parapet_status status;
    int d;
    if (beyond->ndim != document->ndim)
        return pp_fail(PARAPET_ERR_FORMAT, "its extents are of %d dimensions instead of %d", beyond->ndim,
                       document->ndim);
    for (d = 0; d < document->ndim; d++) {
        if (beyond->within[d] < 0 || beyond->within[d] > document->shape[d])
            return pp_fail(PARAPET_ERR_FORMAT,
                           "it has %" PRId64 " indices along dimension %d, but chunks of %" PRId64,
                           document->shape[d], d, beyond->within[d]);
        chunk[d] = document->grid_shape[d];
        cells[d] = pp_divide_up(document->shape[d], document->grid_shape[d]);
    }
    if ((status = pp_allocate(&beyond->fill, document->type.element_bytes)) == PARAPET_OK)
        set_fill(beyond, document);
    return status;
}

static void fill_elements(const pp_foreign_beyond *beyond, unsigned char *first, int64_t count)
{
    for (; count > 0; count--, first += beyond->element_bytes)
        memcpy(first, beyond->fill, beyond->element_bytes);
}

/* The next row; false: that was the last one. */
static bool advance(const pp_foreign_beyond *beyond, int64_t *row)
{
    const int64_t *chunk = beyond->within + beyond->ndim;
    int d;
    for (d = beyond->ndim - 2; d >= 0; d--) {
        if (++row[d] < chunk[d])
            return true;
        row[d] = 0;
    }
    return false;
}

/* How many elements of a row are within the extents; left has how many indices of the chunk are, in each dimension.
 */
static int64_t count_within(const pp_foreign_beyond *beyond, const int64_t *left, const int64_t *row)
{
    int d, last = beyond->ndim - 1;
    for (d = 0; d < last; d++)
        if (row[d] >= left[d])
            return 0;
    return left[last];
}

void pp_foreign_beyond_fill(const pp_foreign_beyond *beyond, uint64_t index, unsigned char *chunk)
{
    const int64_t *extent = beyond->within + beyond->ndim, *cells = extent + beyond->ndim;
    int64_t left[PARAPET_MAX_NDIM], row[PARAPET_MAX_NDIM] = {0}, kept;
    bool is_whole = true;
    int d;
    for (d = beyond->ndim - 1; d >= 0; d--) {
        int64_t first = (int64_t)(index % (uint64_t)cells[d]) * extent[d];
        index /= (uint64_t)cells[d];
        left[d] = pp_min_i64(pp_max_i64(beyond->within[d] - first, 0), extent[d]);
        is_whole = is_whole && left[d] == extent[d];
    }
    if (is_whole)
        return;
    d = beyond->ndim - 1;
    do {
        kept = count_within(beyond, left, row);
        fill_elements(beyond, chunk + (size_t)kept * beyond->element_bytes, extent[d] - kept);
        chunk += (size_t)extent[d] * beyond->element_bytes;
    } while (advance(beyond, row));
}
