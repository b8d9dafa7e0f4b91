#include <stddef.h>
#include <string.h>

#include "comm/mpi_internal.h"

/* Receives for control messages that are always posted, so that none has to be kept by MPI for long. */
#define POSTED_CONTROLS 16

typedef struct mpi_wire {
    pp_wire base;
    MPI_Comm mpi_comm;
    MPI_Request receives[POSTED_CONTROLS]; /* a ring: the first was posted before the others, and so comes first */
    pp_control controls[POSTED_CONTROLS];
    int first;
} mpi_wire;

_Static_assert(sizeof(MPI_Request) <= sizeof(uintptr_t), "a request fits where the wire keeps it");

static MPI_Request load_request(const pp_wire_request *request)
{
    MPI_Request loaded;
    memcpy(&loaded, &request->handle, sizeof loaded);
    return loaded;
}

static void keep_request(pp_wire_request *request, MPI_Request started)
{
    memcpy(&request->handle, &started, sizeof started);
    request->is_active = true;
    request->is_receive = false;
}

/* Errors are returned to us, and must not pass for success: whoever agrees next says so. */
static void note(pp_wire *wire, int error)
{
    wire->has_failed = wire->has_failed || error != MPI_SUCCESS;
}

static int bytes_to_send(const pp_control *control)
{
    size_t bytes = offsetof(pp_control, of);
    if (control->kind == PP_CONTROL_REPORT || control->kind == PP_CONTROL_RESULT)
        bytes += offsetof(pp_verdict, sentence) + strlen(control->of.verdict.sentence) + 1;
    else if (control->kind == PP_CONTROL_REQUEST || control->kind == PP_CONTROL_OFFER)
        bytes += sizeof control->of.words;
    else if (control->kind >= PP_CONTROL_TAKE && control->kind <= PP_CONTROL_GIVE)
        bytes += PP_STEALING_WORDS * sizeof control->of.words[0];
    return (int)bytes;
}

static void send_control(pp_wire *wire, int rank, pp_wire_message *message)
{
    MPI_Request started = MPI_REQUEST_NULL;
    note(wire, MPI_Isend(&message->control, bytes_to_send(&message->control), MPI_BYTE, rank, PP_TAG_CONTROL,
                         ((mpi_wire *)wire)->mpi_comm, &started));
    keep_request(&message->request, started);
}

/* A receive that could not be posted is none: its place in the ring is skipped from then on. */
static void post_control(mpi_wire *self, int place)
{
    self->receives[place] = MPI_REQUEST_NULL;
    note(&self->base, MPI_Irecv(&self->controls[place], (int)sizeof self->controls[place], MPI_BYTE, MPI_ANY_SOURCE,
                                PP_TAG_CONTROL, self->mpi_comm, &self->receives[place]));
}

static void skip_unposted(mpi_wire *self)
{
    int i;
    for (i = 0; i < POSTED_CONTROLS && self->receives[self->first] == MPI_REQUEST_NULL; i++)
        self->first = (self->first + 1) % POSTED_CONTROLS;
}

/* An error of the test itself leaves the receive as it was. One of the receive ends it, and there is no message. */
static bool next_control(pp_wire *wire, pp_control *control, int *source)
{
    mpi_wire *self = (mpi_wire *)wire;
    MPI_Status status;
    int is_there = 0, error;
    skip_unposted(self);
    if (self->receives[self->first] == MPI_REQUEST_NULL)
        return false;
    error = MPI_Test(&self->receives[self->first], &is_there, &status);
    note(wire, error);
    if (!is_there && self->receives[self->first] != MPI_REQUEST_NULL)
        return false;
    if (error == MPI_SUCCESS) {
        *control = self->controls[self->first];
        *source = status.MPI_SOURCE;
    }
    post_control(self, self->first);
    self->first = (self->first + 1) % POSTED_CONTROLS;
    return error == MPI_SUCCESS;
}

static void send_data(pp_wire *wire, int rank, int tag, const void *data, size_t bytes, pp_wire_request *request)
{
    MPI_Request started = MPI_REQUEST_NULL;
    note(wire,
         MPI_Isend(data, (int)bytes, MPI_BYTE, rank, PP_TAG_DATA + tag, ((mpi_wire *)wire)->mpi_comm, &started));
    keep_request(request, started);
}

static void receive_data(pp_wire *wire, int rank, int tag, void *data, size_t bytes, pp_wire_request *request)
{
    MPI_Request started = MPI_REQUEST_NULL;
    note(wire,
         MPI_Irecv(data, (int)bytes, MPI_BYTE, rank, PP_TAG_DATA + tag, ((mpi_wire *)wire)->mpi_comm, &started));
    keep_request(request, started);
    request->is_receive = true;
    request->bytes = bytes;
}

static bool is_over(pp_wire *wire, pp_wire_request *request)
{
    MPI_Request started;
    MPI_Status status;
    int is_done = 0, bytes = 0, error;
    if (!request->is_active)
        return true;
    started = load_request(request);
    error = MPI_Test(&started, &is_done, &status);
    note(wire, error);
    if (error == MPI_SUCCESS && is_done && request->is_receive) {
        note(wire, MPI_Get_count(&status, MPI_BYTE, &bytes));
        wire->has_failed = wire->has_failed || (size_t)bytes != request->bytes;
    }
    request->is_active = error == MPI_SUCCESS && !is_done;
    return !request->is_active;
}

static const pp_wire_ops mpi_wire_ops = {
    .send_control = send_control,
    .next_control = next_control,
    .send = send_data,
    .receive = receive_data,
    .is_over = is_over,
};

parapet_status pp_mpi_wire_build(pp_wire **wire, MPI_Comm mpi_comm)
{
    mpi_wire *self;
    int i;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *wire = NULL;
    if (status != PARAPET_OK)
        return status;
    self->base.ops = &mpi_wire_ops;
    self->mpi_comm = mpi_comm;
    MPI_Comm_rank(mpi_comm, &self->base.rank);
    MPI_Comm_size(mpi_comm, &self->base.size);
    for (i = 0; i < POSTED_CONTROLS; i++)
        post_control(self, i);
    *wire = &self->base;
    return PARAPET_OK;
}

void pp_mpi_wire_free(pp_wire *wire)
{
    mpi_wire *self = (mpi_wire *)wire;
    int i;
    if (self == NULL)
        return;
    for (i = 0; i < POSTED_CONTROLS; i++) {
        if (self->receives[i] == MPI_REQUEST_NULL)
            continue;
        MPI_Cancel(&self->receives[i]);
        MPI_Wait(&self->receives[i], MPI_STATUS_IGNORE); /* of a cancelled receive: returns at once */
    }
    pp_free(self);
}
