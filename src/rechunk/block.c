#include "rechunk/block.h"

#include <assert.h>

#include "rechunk/count.h"

void pp_blocks_init(pp_blocks *blocks, int ndim, const int64_t *source, const int64_t *target)
{
    int d;
    blocks->ndim = ndim;
    for (d = 0; d < ndim; d++) {
        int64_t s = source[d], t = target[d], divisor = pp_greatest_common_divisor(s, t);
        blocks->source[d] = s;
        blocks->target[d] = t;
        blocks->lcm[d] = pp_multiply_saturating(s / divisor, t);
        blocks->unused[d] = pp_min_i64(s, t) - divisor;
        blocks->largest[d] = pp_max_i64(s, t);
        blocks->whole_bricks[d] = pp_multiply_saturating(pp_divide_up(pp_max_i64(s, t), s), s);
    }
}

static const int64_t *max_block(const pp_blocks *blocks, pp_max_block kind)
{
    return kind == PP_MAX_BLOCK_USEFUL ? blocks->largest : blocks->whole_bricks;
}

/* Of two neighbours in the order, a goes first when that takes less: U_a * M_b + templ_a * U_b < U_b * M_a + templ_b
 * * U_a, which says that the angle of (templ_a - M_a, U_a) is the larger one. U is never negative, so the cross
 * product decides, except between two that lie on the axis; what lies in the origin can come anywhere, and
 * comes last. */
static bool has_larger_angle(int64_t across_a, int64_t up_a, int64_t across_b, int64_t up_b)
{
    if (up_a == 0 && up_b == 0)
        return across_a < 0 && across_b >= 0;
    if (up_b == 0 && across_b == 0)
        return true;
    return (__int128)up_a * across_b > (__int128)up_b * across_a;
}

void pp_blocks_order(const pp_blocks *blocks, const int64_t *template_shape, pp_max_block kind, int *order)
{
    const int64_t *largest = max_block(blocks, kind);
    int i, j;
    for (i = 0; i < blocks->ndim; i++) {
        int d = blocks->ndim - 1 - i;
        for (j = i; j > 0; j--) {
            int other = order[j - 1];
            if (!has_larger_angle(template_shape[d] - largest[d], blocks->unused[d],
                                  template_shape[other] - largest[other], blocks->unused[other]))
                break;
            order[j] = other;
        }
        order[j] = d;
    }
}

int64_t pp_blocks_buffers(const pp_blocks *blocks, const int64_t *template_shape, const int *order, pp_max_block kind)
{
    const int64_t *largest = max_block(blocks, kind);
    int64_t sum = 0;
    int i, j;
    for (i = 0; i < blocks->ndim; i++) {
        int64_t buffer = blocks->unused[order[i]];
        for (j = 0; j < i; j++)
            buffer = pp_multiply_saturating(buffer, template_shape[order[j]]);
        for (j = i + 1; j < blocks->ndim; j++)
            buffer = pp_multiply_saturating(buffer, largest[order[j]]);
        sum = pp_add_saturating(sum, buffer);
    }
    return sum;
}

int64_t pp_blocks_memory(const pp_blocks *blocks, const int64_t *template_shape, const int *order, pp_max_block kind)
{
    const int64_t *largest = max_block(blocks, kind);
    int64_t held = 1;
    int d;
    for (d = 0; d < blocks->ndim; d++)
        held = pp_multiply_saturating(held, largest[d]);
    return pp_add_saturating(held, pp_blocks_buffers(blocks, template_shape, order, kind));
}

double pp_blocks_overhead(const pp_blocks *blocks, int d, int64_t extent)
{
    int64_t again = pp_divide_up(blocks->lcm[d], extent) - 1;
    return 1 + (double)blocks->source[d] * (double)again / (double)blocks->lcm[d];
}

double pp_blocks_io_cost(const pp_blocks *blocks, const int64_t *template_shape)
{
    double reads = 1;
    int d;
    for (d = 0; d < blocks->ndim; d++)
        reads *= pp_blocks_overhead(blocks, d, template_shape[d]);
    return 1 + reads;
}

/* A number of up to PP_RECHUNK_PASSES_MOST factors of 64 bits, lowest word first. */
typedef struct wide {
    uint64_t words[PP_RECHUNK_PASSES_MOST];
} wide;

static void multiply_wide(wide *number, int64_t factor)
{
    uint64_t carry = 0;
    int i;
    for (i = 0; i < PP_RECHUNK_PASSES_MOST; i++) {
        unsigned __int128 product = (unsigned __int128)number->words[i] * (uint64_t)factor + carry;
        number->words[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
}

/* a^i * b^j */
static wide powers_of(int64_t a, int i, int64_t b, int j)
{
    wide number = {{1}};
    while (i-- > 0)
        multiply_wide(&number, a);
    while (j-- > 0)
        multiply_wide(&number, b);
    return number;
}

static bool is_larger(const wide *a, const wide *b)
{
    int i = PP_RECHUNK_PASSES_MOST - 1;
    while (i > 0 && a->words[i] == b->words[i])
        i--;
    return a->words[i] > b->words[i];
}

/* The largest root with root^parts <= s^(parts - i) * t^i; floating point would miss exact roots by one. */
static int64_t root_between(int64_t s, int64_t t, int i, int parts)
{
    wide power = powers_of(s, parts - i, t, i);
    int64_t low = pp_min_i64(s, t), high = pp_max_i64(s, t);
    while (low < high) {
        int64_t middle = low + (high - low) / 2 + 1;
        wide tried = powers_of(middle, parts, 1, 0);
        if (is_larger(&tried, &power))
            high = middle - 1;
        else
            low = middle;
    }
    return low;
}

void pp_blocks_between(int ndim, const int64_t *source, const int64_t *target, int i, int parts, int64_t *between)
{
    int d;
    assert(parts >= 1 && parts <= PP_RECHUNK_PASSES_MOST && i >= 0 && i <= parts);
    for (d = 0; d < ndim; d++)
        between[d] = root_between(source[d], target[d], i, parts);
}
