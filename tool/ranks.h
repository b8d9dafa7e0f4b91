/* ranks.h - the processes that a launcher started. */
#ifndef PARAPET_TOOL_RANKS_H
#define PARAPET_TOOL_RANKS_H

#include "tool.h"

/* The rank that a launcher says this process is; -1: there is no launcher. */
int ranks_launched(void);

/* What else the launcher says; a rank of -1: there is none, or it has started the rank that started this process. */
const parapet_launch *ranks_launch(void);

/* The rest calls MPI, and is compiled once per flavour of the library: ranks_mpi.c, or ranks_serial.c without MPI. */

/* Under a launcher the serial tool executes that of the launcher's MPI, and does not return. TOOL_OK: go on here. */
int ranks_hand_over(char **words);

/* Runs the verb of the request, on all ranks or on rank 0; starts MPI only under a launcher. */
int ranks_run(tool_request *request);

/* [collective] Opens a store for those who work. */
parapet_status ranks_open_store(const tool_request *request, parapet_store **store, const char *url,
                                parapet_mode mode, const parapet_store_options *options);

/* [collective] Gives every rank what rank 0 has. */
void ranks_share(const tool_request *request, void *memory, size_t bytes);

/* [collective] The least and the most that any rank brings. */
int64_t ranks_least(const tool_request *request, int64_t number);
int64_t ranks_most(const tool_request *request, int64_t number);

/* [collective] Gives every rank what all have, in the order of the ranks. */
void ranks_gather(const tool_request *request, const void *mine, void *all, size_t bytes);

/* [collective] How many ranks there are on the node of this one. */
int ranks_on_node(const tool_request *request);

#endif
