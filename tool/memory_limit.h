/* memory_limit.h - how much memory a verb may take. */
#ifndef PARAPET_TOOL_MEMORY_LIMIT_H
#define PARAPET_TOOL_MEMORY_LIMIT_H

#include "tool.h"

/* [collective] Sets memory_bytes, unless it is given, to what one rank may take of this machine, the same on all
 * ranks, and says in words where the limit is from; free with free(). False: already reported. */
bool memory_limit_choose(const tool_request *request, parapet_store_options *options, char **origin);

/* Shares --max-mem between so many stores, whose options these become, and a buffer beside each: an eighth of the
 * limit, or 32 MiB without one. False: that is too little for a store, already reported. */
bool memory_share(tool_request *request, int stores, size_t *buffer_bytes);

#endif
