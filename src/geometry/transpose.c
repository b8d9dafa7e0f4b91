#include "geometry/transpose.h"

#include <assert.h>

#ifdef __SSE2__
#include <emmintrin.h>

#define REGISTER_BYTES ((int64_t)sizeof(__m128i))

int64_t pp_transpose_side(size_t element_bytes)
{
    return element_bytes == 1 || element_bytes == 2 || element_bytes == 4 ? REGISTER_BYTES / (int64_t)element_bytes
                                                                          : 0;
}

/* The first, or second, halves of two registers, element by element in turn. */
static inline __attribute__((always_inline)) __m128i interleave(__m128i a, __m128i b, size_t element_bytes, int half)
{
    switch (element_bytes) {
    case 1:
        return half == 0 ? _mm_unpacklo_epi8(a, b) : _mm_unpackhi_epi8(a, b);
    case 2:
        return half == 0 ? _mm_unpacklo_epi16(a, b) : _mm_unpackhi_epi16(a, b);
    default:
        return half == 0 ? _mm_unpacklo_epi32(a, b) : _mm_unpackhi_epi32(a, b);
    }
}

/* Every round interleaves the lines of one half with those of the other. After log2(side) rounds, lines and places in
 * them have changed roles. Inlined with a constant size and unrolled, so that all lines stay in registers. */
static inline __attribute__((always_inline)) void transpose(const pp_tile *tile, size_t element_bytes)
{
    __m128i lines[16], woven[16];
    const size_t side = sizeof(__m128i) / element_bytes;
    size_t i, round;
#pragma GCC unroll 16
    for (i = 0; i < side; i++)
        lines[i] = _mm_loadu_si128((const __m128i *)(const void *)(tile->source + (int64_t)i * tile->source_stride));
#pragma GCC unroll 4
    for (round = 1; round < side; round *= 2) {
#pragma GCC unroll 8
        for (i = 0; i < side / 2; i++) {
            woven[2 * i] = interleave(lines[i], lines[i + side / 2], element_bytes, 0);
            woven[2 * i + 1] = interleave(lines[i], lines[i + side / 2], element_bytes, 1);
        }
#pragma GCC unroll 16
        for (i = 0; i < side; i++)
            lines[i] = woven[i];
    }
#pragma GCC unroll 16
    for (i = 0; i < side; i++)
        _mm_storeu_si128((__m128i *)(void *)(tile->target + (int64_t)i * tile->target_stride), lines[i]);
}

void pp_transpose_tile(const pp_tile *tile, size_t element_bytes)
{
    assert(pp_transpose_side(element_bytes) > 0);
    if (element_bytes == 1)
        transpose(tile, 1);
    else if (element_bytes == 2)
        transpose(tile, 2);
    else
        transpose(tile, 4);
}

#else

int64_t pp_transpose_side(size_t element_bytes)
{
    (void)element_bytes;
    return 0;
}

void pp_transpose_tile(const pp_tile *tile, size_t element_bytes)
{
    (void)tile;
    (void)element_bytes;
    assert(!"there are no tiles");
}

#endif
