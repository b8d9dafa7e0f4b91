#include "leaks.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static leaks_counts counts;
static uint64_t sequence = UINT64_C(0xcbf29ce484222325); /* digest of the collective operations so far */
static long sequence_length;

leaks_counts leaks_now(void)
{
    return counts;
}

static void note_collective(int operation, int root)
{
    sequence = (sequence ^ (uint64_t)(operation * 4096 + root + 1)) * UINT64_C(0x100000001b3);
    sequence_length++;
}

static int started(int code)
{
    counts.requests_started += code == MPI_SUCCESS;
    return code;
}

/* ---- requests start ---- */

enum { IBARRIER = 1, IBCAST, IALLREDUCE, IALLGATHER, IDUP };

int MPI_Isend(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    return started(PMPI_Isend(data, count, type, rank, tag, comm, request));
}

int MPI_Issend(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    return started(PMPI_Issend(data, count, type, rank, tag, comm, request));
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    return started(PMPI_Irecv(data, count, type, rank, tag, comm, request));
}

int MPI_Imrecv(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    counts.messages_received++;
    return started(PMPI_Imrecv(data, count, type, message, request));
}

int MPI_Mrecv(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    counts.messages_received++;
    return PMPI_Mrecv(data, count, type, message, status);
}

int MPI_Improbe(int rank, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    int code = PMPI_Improbe(rank, tag, comm, flag, message, status);
    counts.messages_matched += code == MPI_SUCCESS && *flag;
    return code;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    note_collective(IBARRIER, 0);
    return started(PMPI_Ibarrier(comm, request));
}

int MPI_Ibcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    note_collective(IBCAST, root);
    return started(PMPI_Ibcast(data, count, type, root, comm, request));
}

int MPI_Iallreduce(const void *data, void *result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    note_collective(IALLREDUCE, count);
    return started(PMPI_Iallreduce(data, result, count, type, op, comm, request));
}

int MPI_Iallgather(const void *data, int count, MPI_Datatype type, void *result, int result_count,
                   MPI_Datatype result_type, MPI_Comm comm, MPI_Request *request)
{
    note_collective(IALLGATHER, count);
    return started(PMPI_Iallgather(data, count, type, result, result_count, result_type, comm, request));
}

/* ---- requests end ---- */

static bool is_pending(MPI_Request request)
{
    return request != MPI_REQUEST_NULL;
}

static long count_pending(const MPI_Request *requests, int count)
{
    long pending = 0;
    int i;
    for (i = 0; i < count; i++)
        pending += is_pending(requests[i]);
    return pending;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    long before = count_pending(request, 1);
    int code = PMPI_Test(request, flag, status);
    counts.requests_completed += before - count_pending(request, 1);
    return code;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    long before = count_pending(request, 1);
    int code = PMPI_Wait(request, status);
    counts.requests_completed += before - count_pending(request, 1);
    return code;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    long before = count_pending(requests, count);
    int code = PMPI_Testall(count, requests, flag, statuses);
    counts.requests_completed += before - count_pending(requests, count);
    return code;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    long before = count_pending(requests, count);
    int code = PMPI_Testany(count, requests, index, flag, status);
    counts.requests_completed += before - count_pending(requests, count);
    return code;
}

int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    long before = count_pending(requests, count);
    int code = PMPI_Testsome(count, requests, done, indices, statuses);
    counts.requests_completed += before - count_pending(requests, count);
    return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    long before = count_pending(requests, count);
    int code = PMPI_Waitall(count, requests, statuses);
    counts.requests_completed += before - count_pending(requests, count);
    return code;
}

/* ---- communicators and datatypes ---- */

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    note_collective(IDUP, 0);
    counts.communicators_made++;
    return started(PMPI_Comm_idup(comm, made, request));
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    counts.communicators_made++;
    return PMPI_Comm_dup(comm, made);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    int code = PMPI_Comm_split(comm, color, key, made);
    counts.communicators_made += code == MPI_SUCCESS && *made != MPI_COMM_NULL;
    return code;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made)
{
    int code = PMPI_Comm_split_type(comm, type, key, info, made);
    counts.communicators_made += code == MPI_SUCCESS && *made != MPI_COMM_NULL;
    return code;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    counts.communicators_freed++;
    return PMPI_Comm_free(comm);
}

int MPI_Type_contiguous(int count, MPI_Datatype of, MPI_Datatype *made)
{
    counts.datatypes_made++;
    return PMPI_Type_contiguous(count, of, made);
}

int MPI_Type_vector(int count, int length, int stride, MPI_Datatype of, MPI_Datatype *made)
{
    counts.datatypes_made++;
    return PMPI_Type_vector(count, length, stride, of, made);
}

int MPI_Type_create_subarray(int ndim, const int shape[], const int count[], const int start[], int order,
                             MPI_Datatype of, MPI_Datatype *made)
{
    counts.datatypes_made++;
    return PMPI_Type_create_subarray(ndim, shape, count, start, order, of, made);
}

int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint offsets[], const MPI_Datatype types[],
                           MPI_Datatype *made)
{
    counts.datatypes_made++;
    return PMPI_Type_create_struct(count, lengths, offsets, types, made);
}

int MPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint offsets[], MPI_Datatype of,
                             MPI_Datatype *made)
{
    counts.datatypes_made++;
    return PMPI_Type_create_hindexed(count, lengths, offsets, of, made);
}

/* Of the datatypes that another one is made of, all but the predefined ones are new handles. */
static void count_contents(const MPI_Datatype types[], long count)
{
    int integers, addresses, datatypes, combiner;
    long i;
    for (i = 0; i < count; i++)
        counts.datatypes_made +=
            PMPI_Type_get_envelope(types[i], &integers, &addresses, &datatypes, &combiner) == MPI_SUCCESS &&
            combiner != MPI_COMBINER_NAMED;
}

int MPI_Type_get_contents(MPI_Datatype type, int integer_count, int address_count, int datatype_count, int integers[],
                          MPI_Aint addresses[], MPI_Datatype datatypes[])
{
    int code =
        PMPI_Type_get_contents(type, integer_count, address_count, datatype_count, integers, addresses, datatypes);
    if (code == MPI_SUCCESS)
        count_contents(datatypes, datatype_count);
    return code;
}

#if MPI_VERSION >= 4
int MPI_Type_get_contents_c(MPI_Datatype type, MPI_Count integer_count, MPI_Count address_count,
                            MPI_Count large_count, MPI_Count datatype_count, int integers[], MPI_Aint addresses[],
                            MPI_Count large[], MPI_Datatype datatypes[])
{
    int code = PMPI_Type_get_contents_c(type, integer_count, address_count, large_count, datatype_count, integers,
                                        addresses, large, datatypes);
    if (code == MPI_SUCCESS)
        count_contents(datatypes, (long)datatype_count);
    return code;
}
#endif

int MPI_Type_free(MPI_Datatype *type)
{
    counts.datatypes_freed++;
    return PMPI_Type_free(type);
}

/* ---- what should not be used: nothing tells when it is over ---- */

int MPI_Request_free(MPI_Request *request)
{
    counts.others++;
    return PMPI_Request_free(request);
}

int MPI_Op_create(MPI_User_function *function, int commutes, MPI_Op *made)
{
    counts.others++;
    return PMPI_Op_create(function, commutes, made);
}

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *made)
{
    counts.others++;
    return PMPI_Comm_create_errhandler(function, made);
}

/* ---- the end ---- */

static bool tell(const char *what, long made, long gone)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (made != gone)
        fprintf(stderr, "LEAK: rank %d: %ld %s were made, %ld of them finished\n", rank, made, what, gone);
    return made != gone;
}

static bool has_other_sequence(void)
{
    uint64_t least = 0, most = 0;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Allreduce(&sequence, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    PMPI_Allreduce(&sequence, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (least != most)
        fprintf(stderr, "rank %d made %ld collective operations in another order than other ranks\n", rank,
                sequence_length);
    return least != most;
}

int MPI_Finalize(void)
{
    bool is_bad = tell("requests", counts.requests_started, counts.requests_completed);
    int code, rank;
    is_bad = tell("matched messages", counts.messages_matched, counts.messages_received) || is_bad;
    is_bad = tell("communicators", counts.communicators_made, counts.communicators_freed) || is_bad;
    is_bad = tell("datatypes", counts.datatypes_made, counts.datatypes_freed) || is_bad;
    is_bad = tell("objects of other kinds", counts.others, 0) || is_bad;
    is_bad = has_other_sequence() || is_bad;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("MPI: %ld requests, %ld communicators, %ld datatypes, %ld collective operations\n",
               counts.requests_started, counts.communicators_made, counts.datatypes_made, sequence_length);
    code = PMPI_Finalize();
    if (is_bad)
        exit(3);
    return code;
}
