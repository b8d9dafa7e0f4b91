#include "plan/stretch.h"

#include <string.h>

#include "base/checked.h"
#include "geometry/strided.h"

/* No measurement makes holes of more than this worth reading, or of less worth skipping. */
#define GAP_LEAST_BYTES PP_STRETCH_GRANULE
#define GAP_MOST_BYTES ((size_t)4 << 20)

void pp_stretch_init(pp_stretch *stretch, size_t bytes)
{
    memset(stretch, 0, sizeof *stretch);
    stretch->bytes = bytes;
    stretch->granule = PP_STRETCH_GRANULE;
    while (bytes / stretch->granule >= PP_STRETCH_MARKS)
        stretch->granule *= 2;
}

/* Granules that so many bytes touch. */
static size_t count_marks(const pp_stretch *stretch, size_t bytes)
{
    return bytes / stretch->granule + (bytes % stretch->granule != 0);
}

void pp_stretch_want(pp_stretch *stretch, size_t from, size_t end)
{
    size_t mark = from / stretch->granule, behind = count_marks(stretch, end);
    while (mark < behind) {
        size_t bit = mark % 64, count = pp_min_size(behind - mark, 64 - bit);
        stretch->marks[mark / 64] |= (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << bit;
        mark += count;
    }
}

/* How many of the slowest dimensions have to be walked, so that what is left is one run but for holes that are
 * shorter than a granule; and how long that is. */
static int find_run(const pp_stretch *stretch, const pp_box *wanted, const int64_t *strides, size_t element_bytes,
                    size_t *run_bytes)
{
    size_t run = element_bytes;
    int d;
    for (d = wanted->ndim - 1; d >= 0; d--) {
        size_t stride = (size_t)strides[d];
        if (wanted->count[d] > 1 && stride >= run + stretch->granule)
            break;
        run += ((size_t)wanted->count[d] - 1) * stride;
    }
    *run_bytes = run;
    return d + 1;
}

void pp_stretch_want_box(pp_stretch *stretch, const pp_stretch_place *place, const pp_box *wanted)
{
    int64_t strides[PARAPET_MAX_NDIM], cell[PARAPET_MAX_NDIM];
    pp_box runs = *wanted;
    size_t run_bytes;
    int d;
    bool more;
    pp_strides_c_order(place->box->ndim, place->box->count, place->element_bytes, strides);
    for (d = find_run(stretch, wanted, strides, place->element_bytes, &run_bytes); d < runs.ndim; d++)
        runs.count[d] = 1;
    for (more = pp_box_first(&runs, cell); more; more = pp_box_next(&runs, cell)) {
        size_t from = place->offset + (size_t)pp_strides_offset(place->box, strides, cell);
        pp_stretch_want(stretch, from, from + run_bytes);
    }
}

/* The first mark from `mark` on that is set, or is not; the number of marks if there is none. */
static size_t find_mark(const pp_stretch *stretch, size_t mark, bool is_set)
{
    size_t count = count_marks(stretch, stretch->bytes);
    while (mark < count) {
        uint64_t word = stretch->marks[mark / 64];
        word = (is_set ? word : ~word) >> mark % 64;
        if (word != 0)
            return pp_min_size(mark + (size_t)__builtin_ctzll(word), count);
        mark += 64 - mark % 64;
    }
    return count;
}

bool pp_stretch_next(const pp_stretch *stretch, size_t gap_bytes, pp_stretch_request *request)
{
    size_t count = count_marks(stretch, stretch->bytes);
    size_t first = find_mark(stretch, count_marks(stretch, request->end), true), end, next;
    if (first == count)
        return false;
    for (end = find_mark(stretch, first, false); end < count; end = find_mark(stretch, next, false)) {
        next = find_mark(stretch, end, true);
        if (next == count || (next - end) * stretch->granule > gap_bytes)
            break;
    }
    request->from = first * stretch->granule;
    request->end = pp_min_size(end * stretch->granule, stretch->bytes);
    return true;
}

size_t pp_request_gap(double request_seconds, double bytes_per_second)
{
    double bytes = request_seconds * bytes_per_second;
    if (!(bytes > (double)GAP_LEAST_BYTES))
        return GAP_LEAST_BYTES;
    return bytes < (double)GAP_MOST_BYTES ? (size_t)bytes : GAP_MOST_BYTES;
}
