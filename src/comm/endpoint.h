/* endpoint.h - one rank's end of the wire: takes every control message as it arrives, keeps it for its addressee, and
 * runs agreements. Pure: works over any wire.
 *
 * An agreement is a tree: rank r reports to (r - 1) / 4 what it and all ranks below it say, and rank 0 sends the
 * result down again. So a rank knows whom it is waiting for, and a deadline can name that rank. One agreement after
 * the other; each has a number, its round. A rank below may be one round ahead, never more: it needs our result. */
#ifndef PARAPET_COMM_ENDPOINT_H
#define PARAPET_COMM_ENDPOINT_H

#include "comm/wire.h"

#define PP_TREE_WIDTH 4

/* A request or an offer that the client has not reached yet. */
typedef struct pp_waiting_request {
    int source;
    int32_t kind; /* PP_CONTROL_REQUEST or PP_CONTROL_OFFER */
    int32_t tag;
    int64_t words[PP_REQUEST_WORDS];
} pp_waiting_request;

/* One of the ranks next to this one in the tree: the one above, or one below. */
typedef struct pp_neighbour {
    int rank;               /* -1: there is none */
    bool has_reported;      /* below: its report of this round is in the verdict */
    bool is_report_waiting; /* below: `report` came, of this round or the next */
    pp_control report;
    bool wants_abort; /* an ABORT is to be sent */
    int64_t abort_round;
    pp_wire_message verdict; /* REPORT to the one above, RESULT to those below */
    pp_wire_message abort;
} pp_neighbour;

typedef struct pp_endpoint {
    pp_wire *wire;
    int64_t round; /* of the agreement that is under way or comes next */
    bool is_joined;
    bool has_reported;
    bool has_result;
    int64_t aborted_round;                      /* what ends with that round has failed somewhere */
    pp_verdict verdict;                         /* of this rank and those below it so far, then of all */
    pp_neighbour neighbours[PP_TREE_WIDTH + 1]; /* the first is the one above */
    pp_waiting_request *requests;               /* a ring */
    size_t request_capacity, request_first, request_count;
    void (*on_grant)(void *context, int source, int tag); /* NULL: no offers are made */
    void *grant_context;
    void (*on_stealing)(void *context, int source, const pp_control *control); /* NULL: no work is taken */
    void *stealing_context;
} pp_endpoint;

/* The endpoint of a communicator of several ranks. */
pp_endpoint *pp_comm_endpoint(pp_comm *comm);

void pp_endpoint_init(pp_endpoint *endpoint, pp_wire *wire);
void pp_endpoint_clear(pp_endpoint *endpoint);

/* The largest number of requests that can wait: servers times credits. */
parapet_status pp_endpoint_allow_requests(pp_endpoint *endpoint, size_t request_capacity);

/* Joins the next agreement with the verdict of this rank. */
void pp_endpoint_join(pp_endpoint *endpoint, const pp_verdict *verdict);

/* Advances the agreement; true when it is complete: then endpoint->verdict is that of all ranks. */
bool pp_endpoint_is_agreed(pp_endpoint *endpoint);

/* Takes all control messages that have arrived; true: there was one. */
bool pp_endpoint_progress(pp_endpoint *endpoint);

/* Takes the request that has waited longest; false: none. */
bool pp_endpoint_next_request(pp_endpoint *endpoint, pp_waiting_request *request);

/* Tells all ranks that what ends with the next agreement has failed here. */
void pp_endpoint_abort(pp_endpoint *endpoint);
bool pp_endpoint_is_aborted(const pp_endpoint *endpoint);

/* A rank below that has not reported, or else the one above; -1: none. */
int pp_endpoint_waits_for(const pp_endpoint *endpoint);

/* Levels of the tree below a rank. */
int pp_endpoint_height(const pp_endpoint *endpoint, int rank);

/* Stops waiting for ranks below, or for the one above: this failure is the verdict unless there is one already. */
void pp_endpoint_give_up(pp_endpoint *endpoint, parapet_status status, const char *sentence);

#endif
