/* restore_test.h - check --restore-test: what a restart would do, with its data read and thrown away. */
#ifndef PARAPET_TOOL_RESTORE_TEST_H
#define PARAPET_TOOL_RESTORE_TEST_H

#include "tool.h"

/* [collective] check --restore-test: restores as a program would, and tells; the exit code. */
int restore_test_run(const tool_request *request);

#endif
