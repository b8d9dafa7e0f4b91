/* draw.h - random choices from a seed: the same on every rank and on every machine. */
#ifndef PARAPET_TESTS_DRAW_H
#define PARAPET_TESTS_DRAW_H

#include <stdbool.h>
#include <stdint.h>

/* splitmix64: neighbouring seeds give unrelated numbers. */
static inline uint64_t mix(uint64_t number)
{
    number += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

typedef struct draw {
    uint64_t state;
} draw;

static inline draw draw_start(uint64_t seed, uint64_t stream)
{
    return (draw){mix(mix(seed) + stream)};
}

static inline uint64_t draw_number(draw *from)
{
    from->state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(from->state);
}

/* A number from low to high, both included. */
static inline int64_t draw_between(draw *from, int64_t low, int64_t high)
{
    return low + (int64_t)(draw_number(from) % (uint64_t)(high - low + 1));
}

static inline bool draw_chance(draw *from, int percent)
{
    return draw_between(from, 1, 100) <= percent;
}

/* A number from 1 to most, of any order of magnitude alike. */
static inline int64_t draw_scale(draw *from, int64_t most)
{
    int64_t high, doublings = 0;
    while ((INT64_C(1) << doublings) < most)
        doublings++;
    high = INT64_C(1) << draw_between(from, 0, doublings);
    return draw_between(from, (high + 1) / 2, high < most ? high : most);
}

#endif
