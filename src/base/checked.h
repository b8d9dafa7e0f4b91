/* checked.h - arithmetic on sizes that come from outside: a result that does not fit is reported, never wrapped.
 *
 * Each function returns true when the result fits and was stored. */
#ifndef PARAPET_BASE_CHECKED_H
#define PARAPET_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool pp_add_fits(int64_t a, int64_t b, int64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline bool pp_multiply_fits(int64_t a, int64_t b, int64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

static inline bool pp_add_u64_fits(uint64_t a, uint64_t b, uint64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline bool pp_add_size_fits(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline bool pp_multiply_size_fits(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* Of counts whose product is known to fit, as that of the extents of a grid is. */
static inline int64_t pp_product(int count, const int64_t *factors)
{
    int64_t product = 1;
    int i;
    for (i = 0; i < count; i++)
        product *= factors[i];
    return product;
}

/* a / b rounded up, for a >= 0 and b > 0, without overflow. */
static inline int64_t pp_divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* For numbers >= 0. */
static inline int64_t pp_greatest_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static inline int64_t pp_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t pp_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t pp_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t pp_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline size_t pp_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t pp_max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* value rounded up to a multiple of unit, a power of two. */
static inline size_t pp_align_up(size_t value, size_t unit)
{
    return (value + unit - 1) & ~(unit - 1);
}

#endif
