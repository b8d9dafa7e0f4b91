/* file_target.h - a copy to a file of another format. */
#ifndef PARAPET_TOOL_FILE_TARGET_H
#define PARAPET_TOOL_FILE_TARGET_H

#include "tool.h"

/* [collective] Whether a copy goes to a file of another format, and writes it; answers with the exit code. */
bool file_target_is(const tool_request *request);
int file_target_write(const tool_request *request);

#endif
