/* open.h - parapet_store_open over a backend of the caller's, which stays the caller's: for tests. Compiled once per
 * flavour of the library, as open.c is: these two are all of array/ that knows what MPI_Comm is. */
#ifndef PARAPET_ARRAY_OPEN_H
#define PARAPET_ARRAY_OPEN_H

#include "store/store.h"

/* [collective] */
parapet_status pp_store_open_over(parapet_store **store, MPI_Comm comm, pp_store *backend, parapet_mode mode,
                                  const parapet_store_options *options);

#endif
