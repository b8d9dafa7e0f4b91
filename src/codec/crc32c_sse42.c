/* CRC-32C by the crc32 instruction. It has a latency of three cycles and one can start per cycle, so that three
 * lanes run side by side:
 *
 *     | lane 0: LANE_BYTES | lane 1: LANE_BYTES | lane 2: LANE_BYTES |
 *
 * and are joined by moving a state over LANE_BYTES of zeros, which is linear and hence a table lookup. */
#include "codec/internal.h"

#if defined(__x86_64__)

#include <nmmintrin.h>
#include <pthread.h>
#include <string.h>

#define LANE_BYTES ((size_t)2048)

static uint32_t over_lane[4][256];
static pthread_once_t over_lane_once = PTHREAD_ONCE_INIT;

bool pp_crc32c_sse42_is_available(void)
{
    return __builtin_cpu_supports("sse4.2") != 0;
}

__attribute__((target("sse4.2"))) static uint32_t add_zeros(uint32_t state)
{
    uint64_t wide = state;
    size_t i;
    for (i = 0; i < LANE_BYTES; i += 8)
        wide = _mm_crc32_u64(wide, 0);
    return (uint32_t)wide;
}

static void fill_over_lane(void)
{
    uint32_t k, byte;
    for (k = 0; k < 4; k++)
        for (byte = 0; byte < 256; byte++)
            over_lane[k][byte] = add_zeros(byte << 8 * k);
}

static uint64_t move_over_lane(uint64_t state)
{
    return over_lane[0][state & 255] ^ over_lane[1][state >> 8 & 255] ^ over_lane[2][state >> 16 & 255] ^
           over_lane[3][state >> 24 & 255];
}

static uint64_t load(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

__attribute__((target("sse4.2"))) static uint64_t add_three_lanes(uint64_t state, const unsigned char *bytes)
{
    uint64_t second = 0, third = 0;
    size_t i;
    for (i = 0; i < LANE_BYTES; i += 8) {
        state = _mm_crc32_u64(state, load(bytes + i));
        second = _mm_crc32_u64(second, load(bytes + LANE_BYTES + i));
        third = _mm_crc32_u64(third, load(bytes + 2 * LANE_BYTES + i));
    }
    return move_over_lane(move_over_lane(state) ^ second) ^ third;
}

__attribute__((target("sse4.2"))) uint32_t pp_crc32c_sse42(uint32_t before, const void *data, size_t bytes)
{
    const unsigned char *next = data;
    uint64_t state = (uint32_t)~before;
    pthread_once(&over_lane_once, fill_over_lane);
    for (; bytes >= 3 * LANE_BYTES; bytes -= 3 * LANE_BYTES, next += 3 * LANE_BYTES)
        state = add_three_lanes(state, next);
    for (; bytes >= 8; bytes -= 8, next += 8)
        state = _mm_crc32_u64(state, load(next));
    for (; bytes > 0; bytes--, next++)
        state = _mm_crc32_u8((uint32_t)state, *next);
    return ~(uint32_t)state;
}

#else

#include "codec/crc32c.h"

bool pp_crc32c_sse42_is_available(void)
{
    return false;
}

uint32_t pp_crc32c_sse42(uint32_t before, const void *data, size_t bytes)
{
    return pp_crc32c_portable(before, data, bytes);
}

#endif
