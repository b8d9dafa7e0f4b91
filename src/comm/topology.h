/* topology.h - which ranks touch storage: the servers. The same list on every rank, made once per store. */
#ifndef PARAPET_COMM_TOPOLOGY_H
#define PARAPET_COMM_TOPOLOGY_H

#include "comm/comm.h"

/* Servers that a node gets when nobody says how many there should be. */
#define PP_SERVERS_PER_NODE 16

/* Pretends that every so many ranks in a row are a node of their own; 0: as it is. Before anything below. */
void pp_comm_pretend_nodes(pp_comm *comm, int ranks_per_node);

/* [collective] wanted servers, or PP_SERVERS_PER_NODE per node when 0; never more than ranks. Ranks in ascending
 * order, spread evenly over the nodes; free with pp_free. Same status on every rank. */
parapet_status pp_comm_choose_servers(pp_comm *comm, int wanted, int **servers, int *server_count);

#endif
