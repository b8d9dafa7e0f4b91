/* datatypes.h - random datatypes of MPI, and what MPI itself says they select. */
#ifndef PARAPET_TESTS_DATATYPES_H
#define PARAPET_TESTS_DATATYPES_H

#include <mpi.h>

#include "draw.h"

/* A random datatype of datatypes, depth of them around each other, over this one, which is freed if it is not
 * predefined. Most of them ascend. MPI must return its errors. */
MPI_Datatype datatype_draw(draw *from, int depth, MPI_Datatype predefined);

/* Frees a datatype that is not predefined. */
void datatype_free(MPI_Datatype *datatype);

/* The displacement of each byte that a datatype selects, in its order, as MPI_Pack takes them; free it. */
int64_t *datatype_bytes(MPI_Datatype datatype, int64_t *count);

#endif
