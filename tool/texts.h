/* texts.h - elements without a fixed length. */
#ifndef PARAPET_TOOL_TEXTS_H
#define PARAPET_TOOL_TEXTS_H

#include "node.h"
#include "region.h"

typedef struct tool_text {
    const char *data;
    size_t bytes;
} tool_text;

/* Gives texts the memory that they need, unless there is a limit. */
void texts_allow(tool_request *request);

bool texts_are_in(const tool_node *node);

/* From now on the elements of an array of texts are tool_text, as far as its info says. */
void texts_take(tool_node *node);

/* They are valid until the next are read. */
parapet_status texts_read(tool_node *node, const tool_region *region, tool_text *texts);
bool texts_are_same(const tool_text *a, const tool_text *b);
tool_text *text_element_copy(const tool_text *text); /* with its characters; free it */
char *text_of_text(const tool_text *text);

#endif
