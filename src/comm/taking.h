/* taking.h - a server that has run out of work takes some from another one, in the middle of a transfer.
 *
 * Knows ranks and descriptions, which are bytes; nothing of shards. There is no manager: servers tell each other who
 * has most left, as far as they know.
 *
 *   taker   TAKE -->             how fast it is
 *           <-- NONE             of a server that has nothing to give
 *           <-- GIVE             how long the description is; from now on the work is no longer the giver's
 *           ACCEPT -->           its receive is posted
 *           <-- DATA             the description
 *
 * Why it cannot deadlock: a rank has one question under way. Everybody answers, whatever else it waits for, until the
 * agreement that ends the transfer; and a rank joins that only when it has no question under way and will ask none
 * any more. A giver describes work to one taker at a time, and the others wait; but that taker answers GIVE with what
 * it has reserved already, so it lets the giver wait for nobody else.
 *
 * A server that was told NONE 4 + log2(servers) times asks no more in this transfer: beside four messages per gift
 * there are at most two for each of servers x (4 + log2(servers)) questions. */
#ifndef PARAPET_COMM_TAKING_H
#define PARAPET_COMM_TAKING_H

#include "base/budget.h"
#include "comm/endpoint.h"

typedef struct pp_taking pp_taking;

/* What a server does when it is asked; called from pp_taking_progress. */
typedef struct pp_taking_giver {
    void *context;
    /* How much there is to give away. */
    int64_t (*left)(void *context);
    /* Parts with some of it, for a taker of this speed (0: not known yet): writes what it is into description, and
     * returns how many bytes that takes. 0: nothing is given. */
    size_t (*give)(void *context, int64_t speed, void *description, size_t most_bytes);
} pp_taking_giver;

typedef struct pp_taking_options {
    pp_endpoint *endpoint;
    pp_budget *budget;
    const int *servers; /* ranks in ascending order; this one is among them, or else it only watches */
    int server_count;
    size_t most_bytes; /* of a description; equal on all ranks */
    pp_taking_giver giver;
} pp_taking_options;

/* What both descriptions, the one given and the one taken, take from the budget. */
size_t pp_taking_bytes(size_t most_bytes);

/* [local] To be called before anybody can ask: before the agreement that begins the transfer. */
parapet_status pp_taking_build(pp_taking **taking, const pp_taking_options *options);
void pp_taking_free(pp_taking *taking); /* takes NULL */

typedef enum pp_taking_state {
    PP_TAKING_IDLE,    /* nothing is wanted */
    PP_TAKING_ASKS,    /* somebody is being asked */
    PP_TAKING_ARRIVED, /* the description of what was given is here */
    PP_TAKING_ENDED    /* nobody has anything left, or the transfer fails */
} pp_taking_state;

/* This rank has no work left, and was this fast (0: it does not know). */
void pp_taking_ask(pp_taking *taking, int64_t speed);

/* Advances everything that can be advanced without waiting; true: something happened. */
bool pp_taking_progress(pp_taking *taking);
pp_taking_state pp_taking_get_state(const pp_taking *taking);

/* ARRIVED: the description, which stays until the next question; IDLE from now on. */
const void *pp_taking_take(pp_taking *taking, size_t *bytes);

/* Neither a question nor a gift is under way, nor will be unless pp_taking_ask is called. */
bool pp_taking_is_idle(const pp_taking *taking);

/* No message uses its memory any more. */
bool pp_taking_has_left(pp_taking *taking);

/* The rank that is asked or given to, for the message of a deadline; -1: none. */
int pp_taking_waits_for(const pp_taking *taking);

/* Control messages and descriptions sent by this rank. */
int64_t pp_taking_message_count(const pp_taking *taking);

/* How often a server is told NONE before it gives up. */
int pp_taking_most_refusals(int server_count);

#endif
