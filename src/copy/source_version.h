/* source_version.h - whether the source of a copy has changed. */
#ifndef PARAPET_COPY_SOURCE_VERSION_H
#define PARAPET_COPY_SOURCE_VERSION_H

#include "copy/task.h"

/* [collective] Finds a number that changes when any stored object of the source does, its document included. */
parapet_status pp_copy_task_version(pp_copy_task *task);

#endif
