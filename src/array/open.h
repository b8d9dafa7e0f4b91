/* open.h - for tests and benchmarks: parapet_store_open over a backend that the caller keeps. Compiled once per
 * flavour of the library, like open.c: only these two files of array/ know what MPI_Comm is. */
#ifndef PARAPET_ARRAY_OPEN_H
#define PARAPET_ARRAY_OPEN_H

#include <parapet_types.h>

#include "store/store.h"

struct parapet_store_options;
/* [collective] */
parapet_status pp_store_open_over(parapet_store **store, MPI_Comm comm, pp_store *backend, parapet_mode mode,
                                  const struct parapet_store_options *options);

#endif
