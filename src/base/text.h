/* text.h - text that grows as it is written. The first failure is kept and returned by pp_text_finish, so that a
 * writer need not check after every piece. */
#ifndef PARAPET_BASE_TEXT_H
#define PARAPET_BASE_TEXT_H

#include "base/budget.h"

typedef struct pp_text {
    char *data; /* ends in NUL once anything was added */
    size_t bytes;
    size_t capacity;
    parapet_status status;
    pp_budget *budget;   /* pays for it; NULL: it is always small */
    const char *purpose; /* begins a refusal's sentence: "consolidated metadata" */
    bool is_only_counted;
} pp_text;

/* A text that may grow with data. Its memory comes from the budget once it is more than PP_TEXT_SMALL_BYTES. If there
 * is not enough, nothing is kept any more, but all that is added is still counted. Free it with pp_text_free. */
#define PP_TEXT_SMALL_BYTES ((size_t)64 << 10)
void pp_text_init_within(pp_text *text, pp_budget *budget, const char *purpose);

/* The failure of a text that is complete. One that did not fit its budget is refused with a limit that suffices. */
parapet_status pp_text_check(pp_text *text);

void pp_text_add(pp_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pp_text_add_bytes(pp_text *text, const void *data, size_t bytes);

/* Passes the text to the caller, who frees it with pp_free; *result is NULL on failure. */
parapet_status pp_text_finish(pp_text *text, char **result);
void pp_text_free(pp_text *text);

#endif
