/* memory.h - the one place where the library takes memory.
 *
 * Small things (handles, names, metadata) come from pp_allocate. Buffers that grow with data are first reserved
 * from a budget (budget.h). Every allocation passes a hook, so that tests can fail each of them in turn and
 * count what was not given back. */
#ifndef PARAPET_BASE_MEMORY_H
#define PARAPET_BASE_MEMORY_H

#include <stddef.h>

#include "base/status.h"

/* Alignment that direct I/O accepts on every file system we know. */
#define PP_PAGE_BYTES 4096

/* Zeroed memory; PARAPET_ERR_MEMORY and *memory NULL when there is none. bytes 0 gives a valid pointer. */
parapet_status pp_allocate(void *memory, size_t bytes);

/* Zeroed memory for count elements of element_bytes each; the product is checked. */
parapet_status pp_allocate_array(void *memory, size_t count, size_t element_bytes);

/* Memory aligned to PP_PAGE_BYTES, contents undefined. */
parapet_status pp_allocate_pages(void *memory, size_t bytes);

/* The same in huge pages where the system gives them. A direct read into them from a disk takes 0.35 s a GiB against
 * 0.51; but they have to be found, which slows down work that needs many of them by a quarter. */
parapet_status pp_allocate_huge_pages(void *memory, size_t bytes);

/* Changes the size of memory from pp_allocate; on failure *memory is unchanged. New bytes are undefined. */
parapet_status pp_reallocate(void *memory, size_t bytes);

/* Gives back memory from any function above; takes NULL. */
void pp_free(void *memory);

/* The same for whole pages: they go to the system at once, unless they are few, whatever the allocator would like to
 * keep. */
void pp_free_pages(void *memory, size_t bytes);

/* A copy of text; of the first bytes of text. */
parapet_status pp_text_duplicate(char **copy, const char *text);
parapet_status pp_bytes_duplicate(void *copy, const void *source, size_t bytes);

/* For tests: decide returns nonzero to refuse an allocation. NULL removes the hook. */
typedef int (*pp_memory_hook)(void *context, size_t bytes);
void pp_memory_hook_set(pp_memory_hook decide, void *context);

/* For tests: allocations not yet given back. */
long pp_memory_live_count(void);

#endif
