#include "zarr/texts.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/utf8.h"

#define NUMBER_BYTES 4

parapet_status pp_texts_begin(pp_texts *texts, pp_bytes chunk, uint64_t count)
{
    uint32_t stored;
    if (chunk.bytes < NUMBER_BYTES)
        return pp_fail(PARAPET_ERR_CORRUPT, "vlen-utf8: %zu bytes do not say how many texts there are", chunk.bytes);
    if ((stored = pp_load_u32le(chunk.data)) != count)
        return pp_fail(PARAPET_ERR_CORRUPT, "vlen-utf8: %" PRIu32 " texts are stored instead of %" PRIu64, stored,
                       count);
    *texts = (pp_texts){.next = chunk.data + NUMBER_BYTES, .left = chunk.bytes - NUMBER_BYTES};
    return PARAPET_OK;
}

static bool is_utf8(pp_bytes text)
{
    size_t done = 0, step;
    for (; done < text.bytes; done += step)
        if ((step = pp_utf8_character_bytes(text.data + done, text.bytes - done)) == 0)
            return false;
    return true;
}

parapet_status pp_texts_next(pp_texts *texts, pp_bytes *text)
{
    uint32_t bytes = texts->left >= NUMBER_BYTES ? pp_load_u32le(texts->next) : UINT32_MAX;
    if (texts->left < NUMBER_BYTES || bytes > texts->left - NUMBER_BYTES)
        return pp_fail(PARAPET_ERR_CORRUPT, "vlen-utf8: text %" PRIu64 " ends after the chunk does", texts->number);
    *text = (pp_bytes){texts->next + NUMBER_BYTES, bytes};
    if (!is_utf8(*text))
        return pp_fail(PARAPET_ERR_CORRUPT, "vlen-utf8: text %" PRIu64 " of the chunk is not UTF-8", texts->number);
    texts->next += NUMBER_BYTES + bytes;
    texts->left -= NUMBER_BYTES + bytes;
    texts->number++;
    return PARAPET_OK;
}

parapet_status pp_texts_check(pp_bytes chunk, uint64_t count)
{
    pp_texts texts;
    pp_bytes text;
    parapet_status status = pp_texts_begin(&texts, chunk, count);
    while (status == PARAPET_OK && texts.number < count)
        status = pp_texts_next(&texts, &text);
    if (status == PARAPET_OK && texts.left > 0)
        return pp_fail(PARAPET_ERR_CORRUPT, "vlen-utf8: %zu bytes follow the last text", texts.left);
    return status;
}
