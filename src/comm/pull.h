/* pull.h - the protocol of a collective transfer: servers ask, clients answer, until all agree that it is over.
 *
 * Knows ranks, requests and fragments of bytes; nothing of arrays. Runs over an endpoint (endpoint.h), and so over
 * MPI or the simulator that the tests drive through random interleavings.
 *
 *   writing   server: posts receives for all fragments, then REQUEST --> client packs fragment after fragment
 *                     DATA DATA DATA <--
 *   reading   server: OFFER --> client posts the receive for one fragment, then GRANT
 *                     GRANT <--, then DATA -->; and so on, one GRANT per fragment
 *   the end   every rank, once its server has nothing more to ask, joins the agreement of the transfer, and keeps
 *             answering until that is complete. A rank that fails first tells its neighbours in the tree of agreement
 *             (ABORT), who stop asking and pass it on.
 *
 * Why it cannot deadlock: an answer needs only the client's own buffers and receives that are posted already, never
 * anything of the server side; a server has at most PP_PULL_CREDITS requests with one client, so that the clients'
 * lists of waiting requests are bounded and every message is taken at once; and a rank joins the agreement only
 * when it waits for no other. docs/design/collective.md argues it in full. */
#ifndef PARAPET_COMM_PULL_H
#define PARAPET_COMM_PULL_H

#include "base/budget.h"
#include "comm/endpoint.h"

#define PP_PULL_CREDITS 4
#define PP_PULL_ANSWERS 4 /* requests that a client works on at a time, each with one fragment buffer */

typedef struct pp_pull pp_pull;

/* What a server asks for or offers; opaque here. */
typedef struct pp_pull_request {
    int64_t words[PP_REQUEST_WORDS];
} pp_pull_request;

/* One message of data. */
typedef struct pp_fragment {
    void *data;
    size_t bytes;
} pp_fragment;

/* What the client does for a request; all are called from pp_pull_progress. answer is 0 .. PP_PULL_ANSWERS - 1 and
 * identifies where the client keeps its progress. buffer has fragment_bytes. */
typedef struct pp_pull_client {
    void *context;
    /* A new request on this answer; returns whether there is any data (an offer may be information only). */
    bool (*begin)(void *context, int answer, const pp_pull_request *request);
    /* Writing: the next fragment, packed into buffer or left where it is. false: no more. */
    bool (*pack)(void *context, int answer, void *buffer, pp_fragment *fragment);
    /* Reading: where the next fragment is to go, buffer or its final place; false: no more. */
    bool (*place)(void *context, int answer, void *buffer, pp_fragment *fragment);
    /* Reading: the fragment placed last has arrived. */
    void (*unpack)(void *context, int answer);
} pp_pull_client;

typedef struct pp_pull_options {
    pp_endpoint *endpoint;
    pp_budget *budget;
    size_t fragment_bytes; /* equal on all ranks */
    pp_pull_client client;
} pp_pull_options;

/* [local] Takes the client's buffers from the budget. */
parapet_status pp_pull_build(pp_pull **pull, const pp_pull_options *options);
void pp_pull_free(pp_pull *pull); /* takes NULL */

/* What one server and one client exchange for one window; part of the server's window. */
typedef enum pp_delivery_state {
    PP_DELIVERY_IDLE,
    PP_DELIVERY_WAITS,
    PP_DELIVERY_ASKED,
    PP_DELIVERY_DONE
} pp_delivery_state;

typedef struct pp_delivery {
    int rank;
    int tag;       /* of its data: below PP_PULL_TAGS, and not in use by another delivery with the same rank */
    bool is_offer; /* reading */
    pp_pull_request request;
    pp_fragment *fragments; /* of the server: targets or sources */
    int fragment_count;
    pp_delivery_state state;
    /* For the protocol. */
    bool is_cancelled;      /* another rank failed before this was asked for: there was no data */
    int moved, granted;     /* reading: fragments sent, fragments that the client waits for */
    pp_wire_request *moves; /* one per fragment: memory of the caller */
    pp_wire_message message;
    struct pp_delivery *following;
} pp_delivery;

#define PP_PULL_TAGS 4096

/* Server: asks as soon as it has credit with that client. The delivery must stay until its state is
 * PP_DELIVERY_DONE. */
void pp_pull_ask(pp_pull *pull, pp_delivery *delivery);

/* Advances everything that can be advanced without waiting; true: something happened. */
bool pp_pull_progress(pp_pull *pull);

/* Another rank has failed: ask for nothing more. Deliveries that are asked already still complete. */
bool pp_pull_is_aborted(const pp_pull *pull);

/* This rank's server fails: tells the others. Calling it more than once does no harm. */
void pp_pull_abort(pp_pull *pull);

/* No delivery is under way. */
bool pp_pull_is_idle(const pp_pull *pull);

/* The client is in the middle of an answer: its buffers are in use. */
bool pp_pull_is_answering(const pp_pull *pull);

/* The rank of some delivery that is under way, for the message of a deadline; -1: none. */
int pp_pull_waits_for(const pp_pull *pull);

typedef struct pp_pull_figures {
    int64_t control_messages, data_messages, data_bytes; /* sent by this rank */
} pp_pull_figures;
pp_pull_figures pp_pull_get_figures(const pp_pull *pull);

#endif
