/* changes.h - what copy and plan copy change on the way. */
#ifndef PARAPET_TOOL_CHANGES_H
#define PARAPET_TOOL_CHANGES_H

#include <parapet_arrays.h>

#include "tool.h"

/* How the target is to differ: from the flags that copy and plan copy have in common. */
void changes_init(parapet_copy_changes *changes, const tool_request *request);

/* --reading; not given: it stays as it is. False: already reported. */
bool reading_parse(const tool_request *request, parapet_reading *reading);

#endif
