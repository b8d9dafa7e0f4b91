/* topology.h - which ranks access storage: the servers. The list is the same on every rank and is made once per
 * store. */
#ifndef PARAPET_COMM_TOPOLOGY_H
#define PARAPET_COMM_TOPOLOGY_H

#include "comm/comm.h"

/* Servers per node, if their number is not given. */
#define PP_SERVERS_PER_NODE 16

/* Pretends that every ranks_per_node consecutive ranks are a node; 0: the real nodes. To be called before the
 * function below. */
void pp_comm_pretend_nodes(pp_comm *comm, int ranks_per_node);

/* [collective] wanted servers, or PP_SERVERS_PER_NODE per node when 0; never more than ranks. Ranks in ascending
 * order, spread evenly over the nodes; free with pp_free. Same status on every rank. */
parapet_status pp_comm_choose_servers(pp_comm *comm, int wanted, int **servers, int *server_count);

/* [local] Other ranks on the node of this one, as far as servers were chosen; else 0. */
int pp_comm_neighbour_count(const pp_comm *comm);

/* [collective] Finds out which servers reach the storage as this rank does: on its node and at the same place, which
 * is what the file system says of it. Containers of one node may have mounts of their own, and what was changed
 * through one of them another need not know. Same status on every rank. */
parapet_status pp_comm_find_near(pp_comm *comm, const uint64_t place[2], const int *servers, int server_count);

/* [local] Those servers, in ascending order; there may be none, and are none before they were looked for. */
const int *pp_comm_near_servers(const pp_comm *comm, int *count);

#endif
