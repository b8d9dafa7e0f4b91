/* png.h - a picture as PNG, in base64 for an SVG: 8 bits for each of red, green and blue, not compressed, so that it
 * needs no library. */
#ifndef PARAPET_TOOL_PNG_H
#define PARAPET_TOOL_PNG_H

#include <stddef.h>

/* A picture of three bytes a pixel, red, green and blue, as PNG in base64; free with free(). */
char *text_of_png(const unsigned char *colours, size_t width, size_t height);

#endif
