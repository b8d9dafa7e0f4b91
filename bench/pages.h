/* pages.h - memory for the limits of the machine: in huge pages, out of and into which direct I/O is fastest.
 * Everything that is compared with a limit uses the same memory. */
#ifndef PARAPET_BENCH_PAGES_H
#define PARAPET_BENCH_PAGES_H

#include <stdlib.h>
#include <sys/mman.h>

#define BENCH_HUGE_PAGE_BYTES ((size_t)2 << 20)

/* What one system call of a limit moves. */
#define BENCH_PIECE_BYTES ((size_t)8 << 20)

/* NULL: there is none. Free with free. */
static inline void *bench_pages(size_t bytes)
{
    size_t rounded = (bytes + BENCH_HUGE_PAGE_BYTES - 1) / BENCH_HUGE_PAGE_BYTES * BENCH_HUGE_PAGE_BYTES;
    void *memory = aligned_alloc(BENCH_HUGE_PAGE_BYTES, rounded);
    if (memory != NULL)
        (void)madvise(memory, rounded, MADV_HUGEPAGE);
    return memory;
}

#endif
