/* cursor.h - a byte string that is written piece by piece on one rank and read from front to back on another. */
#ifndef PARAPET_BASE_CURSOR_H
#define PARAPET_BASE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Bytes that are read from front to back. */
typedef struct pp_cursor {
    const unsigned char *data;
    size_t left;
    bool is_short; /* more was asked for than there was: from then on it reads zeros and empty blocks */
} pp_cursor;

void pp_bytes_add_u64(pp_text *bytes, uint64_t value);
void pp_bytes_add_block(pp_text *bytes, const void *data, size_t length); /* with its length before it */
uint64_t pp_cursor_u64(pp_cursor *cursor);
void pp_cursor_copy(pp_cursor *cursor, void *target, size_t length);
const void *pp_cursor_block(pp_cursor *cursor, size_t *length); /* never NULL */
/* Whether all that was read was there. */
parapet_status pp_cursor_finish(const pp_cursor *cursor);

#endif
