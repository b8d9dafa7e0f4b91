/* plan_text.h - the plan of a copy in words. */
#ifndef PARAPET_TOOL_PLAN_TEXT_H
#define PARAPET_TOOL_PLAN_TEXT_H

#include "tool.h"

/* Prints the plan of a copy, or of all arrays of a group; the table of the ways that were weighed only with -v. */
void plan_print(const tool_request *request, char *text, bool is_group);

#endif
