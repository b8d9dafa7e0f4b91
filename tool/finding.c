#include "finding.h"
#include "tool.h"

int exit_code_of_finding(parapet_status status)
{
    switch (status) {
    case PARAPET_OK:
        return TOOL_OK;
    case PARAPET_ERR_CORRUPT:
    case PARAPET_ERR_FORMAT:
        return TOOL_TORN;
    case PARAPET_ERR_MISSING:
    case PARAPET_ERR_NOT_FOUND:
        return TOOL_MISSING;
    default:
        return TOOL_FAILED;
    }
}

const char *name_of_exit_code(int exit_code)
{
    static const char *const names[] = {"ok", "failed", "usage", "missing", "torn", "stray"};
    return names[exit_code];
}
