#include "codec/crc32c.h"

#include "codec/internal.h"

#ifdef PARAPET_HAVE_ISAL

#include <isa-l/crc.h>

/* ISA-L counts in int. */
#define PIECE_BYTES ((size_t)1 << 30)

uint32_t pp_crc32c(uint32_t before, const void *data, size_t bytes)
{
    uintptr_t next = (uintptr_t)data; /* its parameter lacks a const */
    uint32_t state = ~before;
    while (bytes > 0) {
        size_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
        state = crc32_iscsi((unsigned char *)next, (int)piece, state);
        next += piece;
        bytes -= piece;
    }
    return ~state;
}

const char *pp_crc32c_name(void)
{
    return "ISA-L";
}

#else

uint32_t pp_crc32c(uint32_t before, const void *data, size_t bytes)
{
    if (pp_crc32c_sse42_is_available())
        return pp_crc32c_sse42(before, data, bytes);
    return pp_crc32c_portable(before, data, bytes);
}

const char *pp_crc32c_name(void)
{
    return pp_crc32c_sse42_is_available() ? "SSE4.2" : "portable";
}

#endif
