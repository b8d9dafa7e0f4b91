/* finding.h - the exit codes of check. */
#ifndef PARAPET_TOOL_FINDING_H
#define PARAPET_TOOL_FINDING_H

#include <parapet_status.h>

/* The exit code of check for what a library call has found out: torn, missing, or failed. */
int exit_code_of_finding(parapet_status status);
const char *name_of_exit_code(int exit_code);

#endif
