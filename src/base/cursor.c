#include "base/cursor.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

void pp_bytes_add_u64(pp_text *bytes, uint64_t value)
{
    unsigned char encoded[8];
    pp_store_u64le(encoded, value);
    pp_text_add_bytes(bytes, encoded, sizeof encoded);
}

void pp_bytes_add_block(pp_text *bytes, const void *data, size_t length)
{
    pp_bytes_add_u64(bytes, length);
    pp_text_add_bytes(bytes, data, length);
}

/* NULL: fewer are left. */
static const unsigned char *pass(pp_cursor *cursor, size_t length)
{
    const unsigned char *data = cursor->data;
    cursor->is_short = cursor->is_short || length > cursor->left;
    if (cursor->is_short)
        return NULL;
    cursor->data += length;
    cursor->left -= length;
    return data;
}

void pp_cursor_copy(pp_cursor *cursor, void *target, size_t length)
{
    const unsigned char *data = pass(cursor, length);
    if (data != NULL)
        memcpy(target, data, length);
    else
        memset(target, 0, length);
}

uint64_t pp_cursor_u64(pp_cursor *cursor)
{
    unsigned char encoded[8];
    pp_cursor_copy(cursor, encoded, sizeof encoded);
    return pp_load_u64le(encoded);
}

const void *pp_cursor_block(pp_cursor *cursor, size_t *length)
{
    const void *data;
    *length = (size_t)pp_cursor_u64(cursor);
    if ((data = pass(cursor, *length)) != NULL)
        return data;
    *length = 0;
    return "";
}

parapet_status pp_cursor_finish(const pp_cursor *cursor)
{
    if (cursor->is_short)
        return pp_fail(PARAPET_ERR_INTERNAL, "a message of rank 0 is shorter than it says");
    return PARAPET_OK;
}
