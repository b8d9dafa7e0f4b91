#include "texts.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* A chunk of texts, and all that is in it, where nobody has limited memory. */
enum { LOCAL_BYTES = 320 << 20 };

void texts_allow(tool_request *request)
{
    if (request->options.local_bytes == 0 && request->options.memory_bytes == 0)
        request->options.local_bytes = LOCAL_BYTES;
}

bool texts_are_in(const tool_node *node)
{
    return node->info.type == PARAPET_VARIABLE;
}

void texts_take(tool_node *node)
{
    if (texts_are_in(node))
        node->info.element_bytes = sizeof(tool_text);
}

parapet_status texts_read(tool_node *node, const tool_region *region, tool_text *texts)
{
    int64_t count = region_elements(region);
    int64_t *ends = memory_get((size_t)count * sizeof *ends);
    parapet_status status;
    parapet_free(node->text);
    node->text = NULL;
    status = parapet_array_read_texts_local(node->array, region->start, region->count, &node->text, ends);
    for (int64_t i = 0; i < count && status == PARAPET_OK; i++) {
        int64_t start = i > 0 ? ends[i - 1] : 0;
        texts[i] = (tool_text){node->text + start, (size_t)(ends[i] - start)};
    }
    free(ends);
    return status;
}

bool texts_are_same(const tool_text *a, const tool_text *b)
{
    return a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

tool_text *text_element_copy(const tool_text *text)
{
    char *memory = memory_get(sizeof(tool_text) + text->bytes + 1), *data = memory + sizeof(tool_text);
    tool_text *copy = (tool_text *)(void *)memory;
    memcpy(data, text->data, text->bytes);
    *copy = (tool_text){data, text->bytes};
    return copy;
}

/* NULs inside are shown as what Unicode has for what cannot be shown. */
char *text_of_text(const tool_text *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    char *shown = memory_get(text->bytes * (sizeof replacement - 1) + 1), *to = shown;
    for (size_t i = 0; i < text->bytes; i++)
        if (text->data[i] == '\0')
            to = (char *)memcpy(to, replacement, sizeof replacement - 1) + sizeof replacement - 1;
        else
            *to++ = text->data[i];
    *to = '\0';
    return shown;
}
