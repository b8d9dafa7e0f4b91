/* no_mpi.h - tells whether a thread calls MPI where it must not. */
#ifndef PARAPET_TESTS_NO_MPI_H
#define PARAPET_TESTS_NO_MPI_H

#include <stdbool.h>

/* From now on this thread must not call MPI, or may again. */
void no_mpi_forbid(bool is_forbidden);

/* Calls of all threads that were made in spite of that. */
int no_mpi_count(void);

#endif
