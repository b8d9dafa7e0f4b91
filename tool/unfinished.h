/* unfinished.h - copies and appends that were begun and are not complete: what the library keeps beside their targets
 * tells them, and with which options a copy was begun. To readers of a copy there is nothing yet. */
#ifndef PARAPET_TOOL_UNFINISHED_H
#define PARAPET_TOOL_UNFINISHED_H

#include "hierarchy.h"
#include "tool.h"

/* Whether a copy into this directory was begun and is not complete; the command that goes on with it. Free with
 * free(). */
bool unfinished_is_here(const char *directory);
char *unfinished_command(const char *directory);

/* If such a copy is all that there is: says so. */
bool unfinished_refuse(const char *directory);

/* Tells of copies into the directory, and into those directly below it, that are not complete. */
void unfinished_report(const char *directory);

/* A group with an append that was begun and is not complete. */
typedef struct tool_append {
    char *path;
    bool is_under_way; /* by another job; else it was interrupted */
} tool_append;

typedef struct tool_appends {
    tool_append *list;
    size_t count;
} tool_appends;

/* The one that the operand is or lies in, and those of a tree below it, which may be NULL. */
void appends_find(tool_appends *appends, const tool_request *request, const tool_tree *tree);
void appends_free(tool_appends *appends);

/* Tells of one that is under way, or of one that was interrupted, with the command that puts it right. */
void append_report(const tool_append *append);

/* Tells of all. */
void appends_report(const tool_request *request, const tool_tree *tree);

#endif
