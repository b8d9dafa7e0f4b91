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

/* Bytes to measure with: the first half is for small pieces, the second one for large ones. */
typedef struct sample {
    pp_reader *reader;
    size_t half;
    unsigned char *buffer;
} sample;

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

/* Pieces from all over some bytes, one of them in each part: how long the middle one takes. What disturbs a
 * measurement, most of all other processes, makes some of them slower. */
static parapet_status time_pieces(const sample *of, uint64_t offset, size_t piece_bytes, int count, double *middle)
{
    double seconds[PIECES_MOST];
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        double start = pp_clock_seconds();
        status = pp_reader_read(of->reader, offset + (size_t)i * (of->half / (size_t)count), piece_bytes, of->buffer);
        seconds[i] = pp_clock_seconds() - start;
    }
    if (status != PARAPET_OK)
        return status;
    qsort(seconds, (size_t)count, sizeof seconds[0], compare_seconds);
    *middle = seconds[count / 2];
    return PARAPET_OK;
}

parapet_status pp_request_cost_measure(pp_request_cost *cost, pp_reader *reader, uint64_t offset, size_t bytes,
                                       unsigned char *buffer)
{
    sample of = {.reader = reader, .half = bytes / 2 / PP_PAGE_BYTES * PP_PAGE_BYTES, .buffer = buffer};
    size_t large_bytes = of.half / LARGE_PIECES / PP_PAGE_BYTES * PP_PAGE_BYTES;
    double small, large, rate, beside;
    parapet_status status;
    if (cost->holes != PARAPET_HOLES_CHOOSE || pp_request_cost_is_known(cost) || bytes < PP_COST_STRETCH_BYTES)
        return PARAPET_OK;
    touch(buffer, large_bytes);
    if ((status = time_pieces(&of, offset, PP_COST_PIECE_BYTES, PIECES_MOST, &small)) != PARAPET_OK ||
        (status = time_pieces(&of, offset + of.half, large_bytes, LARGE_PIECES, &large)) != PARAPET_OK)
        return status;
    rate = large > small ? (double)(large_bytes - PP_COST_PIECE_BYTES) / (large - small)
                         : (double)large_bytes / (large + 1e-9);
    beside = small - (double)PP_COST_PIECE_BYTES / rate;
    pp_request_cost_note(cost, beside > LEAST_REQUEST_SECONDS ? beside : LEAST_REQUEST_SECONDS, rate);
    return PARAPET_OK;
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
