/* text.h - text that grows as it is written. The first failure is kept and returned by pp_text_finish, so that a
 * writer need not check after every piece. */
#ifndef PARAPET_BASE_TEXT_H
#define PARAPET_BASE_TEXT_H

#include "base/memory.h"

typedef struct pp_text {
    char *data; /* ends in NUL once anything was added */
    size_t bytes;
    size_t capacity;
    parapet_status status;
} pp_text;

void pp_text_add(pp_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pp_text_add_bytes(pp_text *text, const void *data, size_t bytes);

/* Passes the text to the caller, who frees it with pp_free; *result is NULL on failure. */
parapet_status pp_text_finish(pp_text *text, char **result);
void pp_text_free(pp_text *text);

#endif
