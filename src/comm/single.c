#include "comm/comm.h"

#include <string.h>

struct pp_comm {
    MPI_Comm mpi_comm; /* MPI_COMM_NULL when MPI is not used */
};

static bool is_mpi_running(void)
{
    int is_initialized = 0, is_finalized = 0;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    return is_initialized && !is_finalized;
}

static parapet_status check_one_rank(MPI_Comm mpi_comm)
{
    int size = 0;
    if (!is_mpi_running())
        return pp_fail(PARAPET_ERR_MPI, "the communicator cannot be used: MPI is not initialised, or is finalised");
    if (MPI_Comm_size(mpi_comm, &size) != MPI_SUCCESS)
        return pp_fail(PARAPET_ERR_MPI, "MPI cannot tell the size of the communicator");
    if (size != 1)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the communicator has %d ranks; this version works on one: pass MPI_COMM_SELF", size);
    return PARAPET_OK;
}

parapet_status pp_comm_build(pp_comm **comm, MPI_Comm mpi_comm)
{
    parapet_status status;
    *comm = NULL;
    if (mpi_comm != MPI_COMM_NULL && (status = check_one_rank(mpi_comm)) != PARAPET_OK)
        return status;
    if ((status = pp_allocate(comm, sizeof **comm)) != PARAPET_OK)
        return status;
    (*comm)->mpi_comm = MPI_COMM_NULL;
    if (mpi_comm != MPI_COMM_NULL && MPI_Comm_dup(mpi_comm, &(*comm)->mpi_comm) != MPI_SUCCESS) {
        pp_free(*comm);
        *comm = NULL;
        return pp_fail(PARAPET_ERR_MPI, "MPI cannot duplicate the communicator");
    }
    return PARAPET_OK;
}

void pp_comm_free(pp_comm *comm)
{
    if (comm != NULL && comm->mpi_comm != MPI_COMM_NULL && is_mpi_running())
        MPI_Comm_free(&comm->mpi_comm);
    pp_free(comm);
}

int pp_comm_rank(const pp_comm *comm)
{
    (void)comm;
    return 0;
}

int pp_comm_size(const pp_comm *comm)
{
    (void)comm;
    return 1;
}

parapet_status pp_comm_agree(pp_comm *comm, parapet_status mine)
{
    (void)comm;
    return mine;
}

bool pp_comm_allows_threads(void)
{
    int provided = MPI_THREAD_SINGLE;
    if (!is_mpi_running())
        return true;
    return MPI_Query_thread(&provided) == MPI_SUCCESS && provided >= MPI_THREAD_FUNNELED;
}

void pp_comm_print_library(pp_text *text)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int i, length = 0;
    if (MPI_Get_library_version(version, &length) != MPI_SUCCESS)
        return;
    version[strcspn(version, "\n")] = '\0';
    for (i = 0; version[i] != '\0'; i++)
        if (version[i] == '\t')
            version[i] = ' ';
    pp_text_add(text, "%s", version);
}
