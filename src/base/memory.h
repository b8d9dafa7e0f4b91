/* memory.h - the one place where the library takes memory.
 *
 * Small things (handles, names, metadata) come from pp_allocate. Buffers that grow with data are first reserved from
 * a budget (budget.h). Every allocation passes a hook, so that tests can make each of them fail in turn and count
 * what was not freed. */
#ifndef PARAPET_BASE_MEMORY_H
#define PARAPET_BASE_MEMORY_H

#include <parapet_status.h>
#include <stddef.h>

/* Alignment that direct I/O accepts on every file system we know. */
#define PP_PAGE_BYTES 4096

/* Zeroed memory; PARAPET_ERR_MEMORY, and *memory NULL, if there is none. 0 bytes give a valid pointer. */
parapet_status pp_allocate(void *memory, size_t bytes);

/* Zeroed memory for count elements of element_bytes each; the product is checked. */
parapet_status pp_allocate_array(void *memory, size_t count, size_t element_bytes);

/* Memory aligned to PP_PAGE_BYTES, contents undefined. */
parapet_status pp_allocate_pages(void *memory, size_t bytes);

/* The same in huge pages, if the system provides them. A direct read from a disk into them takes 0.35 s per GiB
 * instead of 0.51 s; but the system has to find them, which slows down work that needs many of them by a quarter. */
parapet_status pp_allocate_huge_pages(void *memory, size_t bytes);

/* Changes the size of memory from pp_allocate; on failure *memory is unchanged. New bytes are undefined. */
parapet_status pp_reallocate(void *memory, size_t bytes);

/* Frees memory from any function above; takes NULL. */
void pp_free(void *memory);

/* The same for whole pages: unless they are few, they go back to the system at once, even if the allocator would keep
 * them. */
void pp_free_pages(void *memory, size_t bytes);

/* A copy of text; of the first bytes of text. */
parapet_status pp_text_duplicate(char **copy, const char *text);
parapet_status pp_bytes_duplicate(void *copy, const void *source, size_t bytes);

/* For tests: decide returns nonzero to refuse an allocation. NULL removes the hook. */
typedef int (*pp_memory_hook)(void *context, size_t bytes);
void pp_memory_hook_set(pp_memory_hook decide, void *context);

/* For tests: allocations not yet freed. */
long pp_memory_live_count(void);

#endif
