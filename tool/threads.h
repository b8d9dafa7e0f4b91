/* threads.h - how many threads a rank may have. */
#ifndef PARAPET_TOOL_THREADS_H
#define PARAPET_TOOL_THREADS_H

#include "tool.h"

/* [collective] Sets threads, unless they are given, to the cores that one rank has in this job, as far as the memory
 * limit is enough for them. True: they were chosen here. */
bool threads_choose(const tool_request *request, parapet_store_options *options);

#endif
