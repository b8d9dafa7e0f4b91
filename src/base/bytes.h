/* bytes.h - integers in byte strings, in a stated byte order, at any alignment. */
#ifndef PARAPET_BASE_BYTES_H
#define PARAPET_BASE_BYTES_H

#include <stdint.h>

static inline uint32_t pp_load_u32le(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t pp_load_u64le(const unsigned char *bytes)
{
    return (uint64_t)pp_load_u32le(bytes) | (uint64_t)pp_load_u32le(bytes + 4) << 32;
}

static inline uint32_t pp_load_u32be(const unsigned char *bytes)
{
    return (uint32_t)bytes[3] | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[0] << 24;
}

static inline uint64_t pp_load_u64be(const unsigned char *bytes)
{
    return (uint64_t)pp_load_u32be(bytes + 4) | (uint64_t)pp_load_u32be(bytes) << 32;
}

static inline void pp_store_u32le(unsigned char *bytes, uint32_t value)
{
    bytes[0] = (unsigned char)value;
    bytes[1] = (unsigned char)(value >> 8);
    bytes[2] = (unsigned char)(value >> 16);
    bytes[3] = (unsigned char)(value >> 24);
}

static inline void pp_store_u64le(unsigned char *bytes, uint64_t value)
{
    pp_store_u32le(bytes, (uint32_t)value);
    pp_store_u32le(bytes + 4, (uint32_t)(value >> 32));
}

static inline void pp_store_u64be(unsigned char *bytes, uint64_t value)
{
    int i;
    for (i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> (56 - 8 * i));
}

#endif
