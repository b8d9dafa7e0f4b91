/* append_mark.h - the mark that an append leaves before it changes anything: its text, and how it is stored. On rank
 * 0, but for the last function. */
#ifndef PARAPET_COPY_APPEND_MARK_H
#define PARAPET_COPY_APPEND_MARK_H

#include "copy/append_task.h"

void pp_append_mark_clear(pp_append_mark *mark);
parapet_status pp_append_add_text(char ***texts, int *count, const char *text);

/* As it is stored, and back; the text has a NUL behind its bytes, and is as it was when the status is PARAPET_OK.
 * mark is all zero; clear it even after a failure. */
parapet_status pp_append_mark_print(const pp_append_mark *mark, pp_text *text);
parapet_status pp_append_mark_parse(pp_append_mark *mark, char *text, size_t bytes);

/* Gives it a word. */
parapet_status pp_append_mark_name(pp_append_mark *mark);

/* What is held is proved to be. Only the mark of this append is removed. */
parapet_status pp_append_mark_write(const pp_append *append);
parapet_status pp_append_mark_remove(const pp_append *append);

/* [collective] Every rank gets the mark; count 0: there is none. */
parapet_status pp_append_mark_read(const pp_append *append, pp_append_mark *mark);

#endif
