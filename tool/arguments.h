/* arguments.h - what the words after a verb ask for. */
#ifndef PARAPET_TOOL_ARGUMENTS_H
#define PARAPET_TOOL_ARGUMENTS_H

#include "tool.h"

#include <stdio.h>

/* Fills the request from its words. False: a usage error, already reported. Clear it in either case. */
bool arguments_parse(tool_request *request);
void arguments_clear(tool_request *request);

/* What was given for the flag of the verb with that name; NULL: nothing. */
const char *request_value(const tool_request *request, const char *name);

void help_print_verb(FILE *out, const tool_verb *verb);

#endif
