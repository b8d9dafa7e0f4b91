/* scratch.h - directories that a verb makes for itself, and removes. */
#ifndef PARAPET_TOOL_SCRATCH_H
#define PARAPET_TOOL_SCRATCH_H

/* A fresh directory in another one, named after the verb; NULL: already reported. Free with free(). */
char *scratch_make(const char *parent, const char *verb);

/* Removes it, with everything below it. */
void scratch_remove(const char *directory);

#endif
