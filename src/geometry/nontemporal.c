#include "geometry/nontemporal.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

#define LINE_BYTES 64

static inline void copy_line(unsigned char *target, const unsigned char *source)
{
    __m128i line[LINE_BYTES / sizeof(__m128i)];
    size_t i;
    memcpy(line, source, sizeof line);
    for (i = 0; i < LINE_BYTES / sizeof(__m128i); i++)
        _mm_stream_si128((__m128i *)(void *)target + i, line[i]);
}

void pp_nontemporal_copy(void *target, const void *source, size_t bytes)
{
    unsigned char *to = target;
    const unsigned char *from = source;
    size_t head = (size_t)(-(uintptr_t)to % LINE_BYTES), done;
    if (head > bytes)
        head = bytes;
    memcpy(to, from, head);
    for (done = head; bytes - done >= LINE_BYTES; done += LINE_BYTES)
        copy_line(to + done, from + done);
    memcpy(to + done, from + done, bytes - done);
}

void pp_nontemporal_end(void)
{
    _mm_sfence();
}

#else /* other processors decide themselves */

void pp_nontemporal_copy(void *target, const void *source, size_t bytes)
{
    memcpy(target, source, bytes);
}

void pp_nontemporal_end(void)
{
}

#endif
