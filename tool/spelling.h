/* spelling.h - what somebody may have meant who wrote a word that does not exist. */
#ifndef PARAPET_TOOL_SPELLING_H
#define PARAPET_TOOL_SPELLING_H

#include <stdbool.h>
#include <stddef.h>

/* Letters to insert, remove, replace or exchange with the next to turn one word into the other; SIZE_MAX: b is too
 * long to tell. */
size_t spelling_distance(const char *a, const char *b);

/* Whether a word at that distance may have been meant. */
bool spelling_is_near(const char *word, size_t distance);

#endif
