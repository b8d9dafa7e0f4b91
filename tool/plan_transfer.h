/* plan_transfer.h - what plan write and plan read have in common. */
#ifndef PARAPET_TOOL_PLAN_TRANSFER_H
#define PARAPET_TOOL_PLAN_TRANSFER_H

#include "tool.h"

extern const tool_flag plan_transfer_flags[];
extern const tool_value plan_transfer_values[];
int plan_transfer_run(const tool_request *request, bool is_read);

#endif
