/* fuzz_texts.c - a chunk of vlen-utf8: all texts that are found are inside it, and it is checked as it is read.
 *
 *     | texts that the array has: 1 | chunk ... | */
#include <stdlib.h>

#include "zarr/texts.h"

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_inside(pp_bytes text, pp_bytes chunk)
{
    require(text.data >= chunk.data && text.data <= chunk.data + chunk.bytes);
    require(text.bytes <= (size_t)(chunk.data + chunk.bytes - text.data));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    pp_bytes chunk, text = {0};
    uint64_t count, found;
    bool is_whole;
    pp_texts texts;
    parapet_status status;
    if (bytes == 0)
        return 0;
    count = data[0];
    chunk = (pp_bytes){data + 1, bytes - 1};
    status = pp_texts_begin(&texts, chunk, count);
    for (found = 0; status == PARAPET_OK && found < count; found++)
        if ((status = pp_texts_next(&texts, &text)) == PARAPET_OK)
            require_inside(text, chunk);
    is_whole = status == PARAPET_OK && texts.left == 0;
    require(is_whole == (pp_texts_check(chunk, count) == PARAPET_OK));
    return 0;
}
