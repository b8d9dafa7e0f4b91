#include "transfer/request_cost.h"

#include <stdlib.h>

#include "base/checked.h"
#include "comm/wait.h"
#include "plan/stretch.h"

/* An ordinary disk: assumed until something is measured. */
#define ORDINARY_REQUEST_NS 60000
#define ORDINARY_BYTES_PER_SECOND 1000000000
#define PIECES_MOST 16
#define LARGE_PIECES 3
/* The system's own cost of telling storage of a request: in less time than ten of these nothing is gained by it. */
#define AHEAD_NS 5000
#define LEAST_REQUEST_SECONDS 1e-7

/* A half of a stretch: the first one is for small pieces, the second one for large ones. */
typedef struct half {
    const pp_cost_stretch *stretch;
    uint64_t offset;
    size_t bytes;
} half;

bool pp_request_cost_is_known(const pp_request_cost *cost)
{
    return atomic_load(&cost->bytes_per_second) > 0;
}

void pp_request_cost_note(pp_request_cost *cost, double request_seconds, double bytes_per_second)
{
    int64_t unknown = 0;
    if (!(bytes_per_second >= 1) || !(request_seconds >= 0) || pp_request_cost_is_known(cost))
        return;
    atomic_store(&cost->request_ns, (int64_t)(request_seconds * 1e9));
    (void)atomic_compare_exchange_strong(&cost->bytes_per_second, &unknown, (int64_t)bytes_per_second);
}

/* Makes the memory be there: that is not what is measured. */
static void touch(unsigned char *buffer, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i += PP_PAGE_BYTES)
        buffer[i] = 0;
}

static int compare_seconds(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Pieces from all over a half, one of them in each part: how long the middle one takes. What disturbs a measurement,
 * most of all other processes, makes some of them slower. */
static bool time_pieces(const half *of, size_t piece_bytes, int count, double *middle, pp_cost_spent *spent)
{
    double seconds[PIECES_MOST];
    int i;
    for (i = 0; i < count; i++) {
        uint64_t offset = of->offset + (size_t)i * (of->bytes / (size_t)count);
        double start = pp_clock_seconds();
        if (pp_reader_read(of->stretch->reader, offset, piece_bytes, of->stretch->buffer) != PARAPET_OK)
            return false;
        seconds[i] = pp_clock_seconds() - start;
        spent->requests += 1;
        spent->bytes += (int64_t)piece_bytes;
    }
    qsort(seconds, (size_t)count, sizeof seconds[0], compare_seconds);
    *middle = seconds[count / 2];
    return true;
}

pp_cost_spent pp_request_cost_measure(pp_request_cost *cost, const pp_cost_stretch *stretch)
{
    size_t half_bytes = stretch->bytes / 2 / PP_PAGE_BYTES * PP_PAGE_BYTES;
    size_t large_bytes = half_bytes / LARGE_PIECES / PP_PAGE_BYTES * PP_PAGE_BYTES;
    half first = {.stretch = stretch, .offset = stretch->offset, .bytes = half_bytes}, second = first;
    pp_cost_spent spent = {0};
    double small, large, rate, beside;
    if (cost->holes != PARAPET_HOLES_CHOOSE || pp_request_cost_is_known(cost) ||
        stretch->bytes < PP_COST_STRETCH_BYTES)
        return spent;
    second.offset += half_bytes;
    touch(stretch->buffer, large_bytes);
    if (!time_pieces(&first, PP_COST_PIECE_BYTES, PIECES_MOST, &small, &spent) ||
        !time_pieces(&second, large_bytes, LARGE_PIECES, &large, &spent))
        return spent;
    rate = large > small ? (double)(large_bytes - PP_COST_PIECE_BYTES) / (large - small)
                         : (double)large_bytes / (large + 1e-9);
    beside = small - (double)PP_COST_PIECE_BYTES / rate;
    pp_request_cost_note(cost, beside > LEAST_REQUEST_SECONDS ? beside : LEAST_REQUEST_SECONDS, rate);
    return spent;
}

static void get(const pp_request_cost *cost, int64_t *request_ns, int64_t *bytes_per_second)
{
    bool is_known = cost != NULL && pp_request_cost_is_known(cost);
    *request_ns = is_known ? atomic_load(&cost->request_ns) : ORDINARY_REQUEST_NS;
    *bytes_per_second = is_known ? atomic_load(&cost->bytes_per_second) : ORDINARY_BYTES_PER_SECOND;
}

size_t pp_request_cost_gap(const pp_request_cost *cost)
{
    int64_t request_ns, bytes_per_second;
    if (cost != NULL && cost->holes == PARAPET_HOLES_READ)
        return SIZE_MAX;
    if (cost != NULL && cost->holes == PARAPET_HOLES_SKIP)
        return 0;
    get(cost, &request_ns, &bytes_per_second);
    return pp_request_gap((double)request_ns * 1e-9, (double)bytes_per_second);
}

bool pp_request_cost_pays_ahead(const pp_request_cost *cost)
{
    int64_t request_ns, bytes_per_second;
    get(cost, &request_ns, &bytes_per_second);
    return request_ns > AHEAD_NS;
}

void pp_request_cost_print(const pp_request_cost *cost, pp_text *text)
{
    int64_t request_ns, bytes_per_second;
    get(cost, &request_ns, &bytes_per_second);
    pp_text_add(text, "a request takes %.1f us, bytes %.0f MB/s (%s): holes of up to %zu bytes are read",
                (double)request_ns * 1e-3, (double)bytes_per_second * 1e-6,
                pp_request_cost_is_known(cost) ? "measured" : "assumed, not measured yet", pp_request_cost_gap(cost));
}
