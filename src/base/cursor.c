#include "base/cursor.h"

#include "base/bytes.h"

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

const void *pp_cursor_bytes(pp_cursor *cursor, size_t length)
{
    const unsigned char *data = cursor->data;
    cursor->is_short = cursor->is_short || length > cursor->left;
    if (cursor->is_short)
        return NULL;
    cursor->data += length;
    cursor->left -= length;
    return data;
}

uint64_t pp_cursor_u64(pp_cursor *cursor)
{
    const unsigned char *encoded = pp_cursor_bytes(cursor, 8);
    return encoded != NULL ? pp_load_u64le(encoded) : 0;
}

const void *pp_cursor_block(pp_cursor *cursor, size_t *length)
{
    const void *data;
    *length = (size_t)pp_cursor_u64(cursor);
    data = pp_cursor_bytes(cursor, *length);
    if (data == NULL)
        *length = 0;
    return data;
}

parapet_status pp_cursor_finish(const pp_cursor *cursor)
{
    if (cursor->is_short)
        return pp_fail(PARAPET_ERR_INTERNAL, "a message of rank 0 is shorter than it says");
    return PARAPET_OK;
}
