/* memory.h - memory that is always there, and text in it. */
#ifndef PARAPET_TOOL_MEMORY_H
#define PARAPET_TOOL_MEMORY_H

#include <stddef.h>

/* Memory that is always there: the tool says so and ends when there is none. Free with free(). */
void *memory_get(size_t bytes);

/* Room for one more entry than count; grows by doubling. */
void *memory_grow(void *entries, size_t count, size_t entry_bytes);
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
