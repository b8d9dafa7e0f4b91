/* space.h - whether a copy fits where it goes: what the source takes as it is stored, and what is free. */
#ifndef PARAPET_TOOL_SPACE_H
#define PARAPET_TOOL_SPACE_H

#include "copy_report.h"

/* [collective] Whether there may be space for the copy; a dry run also tells it. False: there is not, already
 * reported. Where there is little, the storage is not measured. */
bool space_check(tool_copying *copying);

#endif
