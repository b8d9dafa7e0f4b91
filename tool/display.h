/* display.h - names, sizes and shapes as people read them. */
#ifndef PARAPET_TOOL_DISPLAY_H
#define PARAPET_TOOL_DISPLAY_H

#include <parapet_arrays.h>

/* Text for people, as the library makes it visible: a name cannot move the cursor, nor hide. Free with free(). */
char *text_visible(const char *text);

/* Text that is longer than so many columns cut to about them, with its length in bytes, so that byte first shows.
 * Free with free(). */
char *text_shortened(const char *text, size_t first, size_t columns);

/* A word as a shell takes it; free with free(). */
char *text_quoted(const char *word);
char *text_of_size(int64_t bytes);                     /* "1.5 MiB" */
char *text_of_shape(const int64_t *extents, int ndim); /* "4 x 6", or "scalar" */
char *text_of_index(const int64_t *index, int ndim);   /* "[1, 2]" */
char *text_of_names(const parapet_array_info *info);   /* "y, x"; a dimension without a name is "-" */
char *text_join_path(const char *parent, const char *name);

#endif
