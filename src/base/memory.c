#include "base/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/checked.h"
#include "base/status.h"

#define PP_HUGE_PAGE_BYTES ((size_t)2 << 20)

/* Less than this is soon taken again: the system would only clear the same pages anew. */
#define LEAST_GIVEN_BACK_BYTES ((size_t)128 << 10)

static pp_memory_hook hook;
static void *hook_context;
static atomic_long live_count;

static int is_refused(size_t bytes)
{
    return hook != NULL && hook(hook_context, bytes) != 0;
}

static parapet_status refuse(size_t bytes)
{
    return pp_fail(PARAPET_ERR_MEMORY, "the machine has no memory left for %zu bytes", bytes);
}

static parapet_status hand_over(void *memory, void *fresh, size_t bytes)
{
    if (fresh != NULL)
        atomic_fetch_add(&live_count, 1);
    memcpy(memory, &fresh, sizeof fresh);
    return fresh != NULL ? PARAPET_OK : refuse(bytes);
}

parapet_status pp_allocate(void *memory, size_t bytes)
{
    return hand_over(memory, is_refused(bytes) ? NULL : calloc(1, bytes > 0 ? bytes : 1), bytes);
}

parapet_status pp_allocate_array(void *memory, size_t count, size_t element_bytes)
{
    size_t bytes;
    if (!pp_multiply_size_fits(count, element_bytes, &bytes))
        return pp_fail(PARAPET_ERR_MEMORY, "%zu elements of %zu bytes need more memory than any machine has", count,
                       element_bytes);
    return pp_allocate(memory, bytes);
}

static void *allocate_aligned(size_t bytes, size_t alignment)
{
    size_t rounded = pp_align_up(bytes > 0 ? bytes : 1, alignment);
    return rounded < bytes || is_refused(bytes) ? NULL : aligned_alloc(alignment, rounded);
}

parapet_status pp_allocate_pages(void *memory, size_t bytes)
{
    return hand_over(memory, allocate_aligned(bytes, PP_PAGE_BYTES), bytes);
}

parapet_status pp_allocate_huge_pages(void *memory, size_t bytes)
{
    void *fresh;
    if (bytes < PP_HUGE_PAGE_BYTES)
        return pp_allocate_pages(memory, bytes);
    fresh = allocate_aligned(bytes, PP_HUGE_PAGE_BYTES);
    if (fresh != NULL)
        (void)madvise(fresh, bytes, MADV_HUGEPAGE);
    return hand_over(memory, fresh, bytes);
}

parapet_status pp_reallocate(void *memory, size_t bytes)
{
    void *old, *fresh;
    memcpy(&old, memory, sizeof old);
    if (old == NULL)
        return pp_allocate(memory, bytes);
    fresh = is_refused(bytes) ? NULL : realloc(old, bytes > 0 ? bytes : 1);
    if (fresh == NULL)
        return refuse(bytes);
    memcpy(memory, &fresh, sizeof fresh);
    return PARAPET_OK;
}

void pp_free(void *memory)
{
    if (memory == NULL)
        return;
    atomic_fetch_sub(&live_count, 1);
    free(memory);
}

void pp_free_pages(void *memory, size_t bytes)
{
    if (memory != NULL && bytes >= LEAST_GIVEN_BACK_BYTES)
        (void)madvise(memory, bytes, MADV_DONTNEED);
    pp_free(memory);
}

parapet_status pp_bytes_duplicate(void *copy, const void *source, size_t bytes)
{
    void *fresh;
    parapet_status status = pp_allocate(&fresh, bytes);
    if (status == PARAPET_OK && bytes > 0)
        memcpy(fresh, source, bytes);
    memcpy(copy, &fresh, sizeof fresh);
    return status;
}

parapet_status pp_text_duplicate(char **copy, const char *text)
{
    return pp_bytes_duplicate(copy, text, strlen(text) + 1);
}

void pp_memory_hook_set(pp_memory_hook decide, void *context)
{
    hook = decide;
    hook_context = context;
}

long pp_memory_live_count(void)
{
    return atomic_load(&live_count);
}

void parapet_free(void *text)
{
    pp_free(text);
}
