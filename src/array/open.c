#include "array/open.h"

#include <parapet_store.h>

#include "array/opening.h"
#include "base/status.h"
#include "comm/flavour.h"

static parapet_status open_store(parapet_store **store, MPI_Comm mpi_comm, const pp_opening *how)
{
    pp_comm *comm = NULL;
    parapet_status status;
    if (store != NULL)
        *store = NULL;
    status = pp_comm_build(&comm, mpi_comm, pp_opening_deadline(how));
    return status == PARAPET_OK ? pp_store_open_on(store, comm, how) : status;
}

parapet_status parapet_store_open(parapet_store **store, MPI_Comm comm, const char *url, parapet_mode mode,
                                  const parapet_store_options *options)
{
    pp_opening how = {.url = url, .mode = mode, .options = options};
    parapet_status status = open_store(store, comm, &how);
    if (status != PARAPET_OK && url != NULL)
        status = pp_fail_within(status, "cannot open store %s", url);
    return pp_outcome(status);
}

parapet_status pp_store_open_over(parapet_store **store, MPI_Comm comm, pp_store *backend, parapet_mode mode,
                                  const parapet_store_options *options)
{
    pp_opening how = {.backend = backend, .mode = mode, .options = options};
    return open_store(store, comm, &how);
}
