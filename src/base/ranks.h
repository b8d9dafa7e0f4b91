/* ranks.h - lists of ranks in ascending order, such as the servers of a store. */
#ifndef PARAPET_BASE_RANKS_H
#define PARAPET_BASE_RANKS_H

/* Where a rank is in the list; -1: it is not there. */
int pp_ranks_find(const int *ranks, int count, int rank);

#endif
