#include "transfer/request_cost.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/clock.h"
#include "plan/stretch.h"

/* An ordinary disk: assumed until something is measured. */
#define ORDINARY_REQUEST_NS 60000
#define ORDINARY_BYTES_PER_SECOND 1000000000
#define SMALL_PIECES 8
#define LARGE_PIECES 3
/* The system's own cost of telling storage of a request: in less time than ten of these nothing is gained by it. */
#define AHEAD_NS 5000
#define LEAST_REQUEST_SECONDS 1e-7
/* The system reads files in pages: a shorter hole saves none, and copying it takes no longer than a call. */
#define LEAST_GAP_BYTES PP_PAGE_BYTES

/* Pieces from all over a part of a stretch, one of them in each of `count` places. */
typedef struct pieces {
    const pp_cost_stretch *stretch;
    uint64_t offset;
    size_t bytes;
    size_t piece_bytes;
    int count;
} pieces;

bool pp_request_cost_is_known(const pp_request_cost *cost)
{
    return atomic_load(&cost->bytes_per_second) > 0;
}

void pp_request_cost_note(pp_request_cost *cost, double request_seconds, double alone_seconds,
                          double bytes_per_second)
{
    int64_t unknown = 0;
    if (!(bytes_per_second >= 1) || !(request_seconds >= 0) || !(alone_seconds >= 0) ||
        pp_request_cost_is_known(cost))
        return;
    atomic_store(&cost->request_ns, (int64_t)(request_seconds * 1e9));
    atomic_store(&cost->alone_ns, (int64_t)(alone_seconds * 1e9));
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

static uint64_t offset_of(const pieces *of, int i)
{
    return of->offset + (size_t)i * (of->bytes / (size_t)of->count);
}

/* Reads all pieces and sorts the times that they took. */
static bool time_pieces(const pieces *of, double *seconds, pp_cost_spent *spent)
{
    int i;
    for (i = 0; i < of->count; i++) {
        double start = pp_clock_seconds();
        if (pp_reader_read(of->stretch->reader, offset_of(of, i), of->piece_bytes, of->stretch->buffer) != PARAPET_OK)
            return false;
        seconds[i] = pp_clock_seconds() - start;
        spent->requests += 1;
        spent->bytes += (int64_t)of->piece_bytes;
    }
    qsort(seconds, (size_t)of->count, sizeof seconds[0], compare_seconds);
    return true;
}

/* How long the middle one takes. What disturbs a measurement, most of all other processes, makes some slower. */
static bool time_middle(const pieces *of, double *middle, pp_cost_spent *spent)
{
    double seconds[SMALL_PIECES];
    bool is_read = time_pieces(of, seconds, spent);
    if (is_read)
        *middle = seconds[of->count / 2];
    return is_read;
}

/* The same of pieces that storage was told of before, as reads do it: all but the slowest on average, since that one
 * waits for storage to begin, or was disturbed, and its share of the wait. */
static bool time_told(const pieces *of, double alone, double *each, pp_cost_spent *spent)
{
    double seconds[SMALL_PIECES], sum = 0;
    int i;
    for (i = 0; i < of->count; i++)
        pp_reader_expect(of->stretch->reader, offset_of(of, i), of->piece_bytes);
    if (!time_pieces(of, seconds, spent))
        return false;
    for (i = 0; i < of->count - 1; i++)
        sum += seconds[i];
    *each = sum / (of->count - 1) + alone / PP_REQUESTS_AHEAD;
    return true;
}

/* What is left of the time of a small piece without its bytes. */
static double beside_bytes(double seconds, double rate)
{
    double beside = seconds - (double)PP_COST_PIECE_BYTES / rate;
    return beside > LEAST_REQUEST_SECONDS ? beside : LEAST_REQUEST_SECONDS;
}

/* Small pieces alone and told of are each from a quarter of the stretch, large ones from its second half. */
pp_cost_spent pp_request_cost_measure(pp_request_cost *cost, const pp_cost_stretch *stretch)
{
    size_t quarter = stretch->bytes / 4 / PP_PAGE_BYTES * PP_PAGE_BYTES;
    pieces small = {stretch, stretch->offset, quarter, PP_COST_PIECE_BYTES, SMALL_PIECES}, told = small;
    pieces large_ones = {stretch, stretch->offset + 2 * quarter, 2 * quarter,
                         2 * quarter / LARGE_PIECES / PP_PAGE_BYTES * PP_PAGE_BYTES, LARGE_PIECES};
    pp_cost_spent spent = {0};
    double alone, each, large, rate;
    if (cost->reads_holes || cost->skips_holes || pp_request_cost_is_known(cost) ||
        stretch->bytes < PP_COST_STRETCH_BYTES)
        return spent;
    told.offset += quarter;
    touch(stretch->buffer, large_ones.piece_bytes);
    if (!time_middle(&small, &alone, &spent) || !time_told(&told, alone, &each, &spent) ||
        !time_middle(&large_ones, &large, &spent))
        return spent;
    rate = large > alone ? (double)(large_ones.piece_bytes - PP_COST_PIECE_BYTES) / (large - alone)
                         : (double)large_ones.piece_bytes / (large + 1e-9);
    alone = beside_bytes(alone, rate);
    each = beside_bytes(each, rate);
    pp_request_cost_note(cost, alone * 1e9 > AHEAD_NS && each < alone ? each : alone, alone, rate);
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
    if (cost != NULL && cost->reads_holes)
        return SIZE_MAX;
    if (cost != NULL && cost->skips_holes)
        return 0;
    get(cost, &request_ns, &bytes_per_second);
    return pp_max_size(LEAST_GAP_BYTES, pp_request_gap((double)request_ns * 1e-9, (double)bytes_per_second));
}

bool pp_request_cost_pays_ahead(const pp_request_cost *cost)
{
    return cost == NULL || !pp_request_cost_is_known(cost) || atomic_load(&cost->alone_ns) > AHEAD_NS;
}

void pp_request_cost_print(const pp_request_cost *cost, pp_text *text)
{
    int64_t request_ns, bytes_per_second;
    get(cost, &request_ns, &bytes_per_second);
    pp_text_add(text, "a request takes %.1f us, bytes %.0f MB/s (%s): holes of up to %zu bytes are read",
                (double)request_ns * 1e-3, (double)bytes_per_second * 1e-6,
                pp_request_cost_is_known(cost) ? "measured" : "assumed, not measured yet", pp_request_cost_gap(cost));
}
