/* stealing.h - a server that has run out of work takes some from another one, in the middle of a transfer.
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
 * any more. A giver describes work to one taker at a time, and the others wait; but that taker answers GIVE with
 * what it has reserved already, so it does not make the giver wait for any third rank.
 *
 * A server that has received NONE 4 + log2(servers) times asks no more in this transfer. So in addition to four
 * messages per gift there are at most two for each of servers x (4 + log2(servers)) questions. */
#ifndef PARAPET_COMM_STEALING_H
#define PARAPET_COMM_STEALING_H

#include "base/budget.h"
#include "comm/endpoint.h"

typedef struct pp_stealing pp_stealing;

/* What a server does when it is asked; called from pp_stealing_progress. */
typedef struct pp_stealing_giver {
    void *context;
    /* How much there is to give away. */
    int64_t (*left)(void *context);
    /* Parts with some of it, for a taker of this speed (0: not known yet): writes what it is into description, and
     * returns how many bytes that takes. 0: nothing is given. */
    size_t (*give)(void *context, int64_t speed, void *description, size_t most_bytes);
} pp_stealing_giver;

typedef struct pp_stealing_options {
    pp_endpoint *endpoint;
    pp_budget *budget;
    const int *servers; /* ranks in ascending order; this one is among them, or else it only watches */
    int server_count;
    size_t most_bytes; /* of a description; equal on all ranks */
    pp_stealing_giver giver;
} pp_stealing_options;

/* What both descriptions, the one given and the one taken, take from the budget. */
size_t pp_stealing_bytes(size_t most_bytes);

/* [local] To be called before anybody can ask: before the agreement that begins the transfer. */
parapet_status pp_stealing_build(pp_stealing **taking, const pp_stealing_options *options);
void pp_stealing_free(pp_stealing *taking); /* takes NULL */

typedef enum pp_stealing_state {
    PP_STEALING_IDLE,    /* nothing is wanted */
    PP_STEALING_ASKS,    /* a server is being asked */
    PP_STEALING_ARRIVED, /* the description of what was given is here */
    PP_STEALING_ENDED    /* no server has anything left, or the transfer fails */
} pp_stealing_state;

/* This rank has no work left, and was this fast (0: it does not know). */
void pp_stealing_ask(pp_stealing *taking, int64_t speed);

/* Advances everything that can be advanced without waiting; true: something happened. */
bool pp_stealing_progress(pp_stealing *taking);
pp_stealing_state pp_stealing_get_state(const pp_stealing *taking);

/* ARRIVED: the description, which stays until the next question; IDLE from now on. */
const void *pp_stealing_take(pp_stealing *taking, size_t *bytes);

/* Neither a question nor a gift is under way, nor will be unless pp_stealing_ask is called. */
bool pp_stealing_is_idle(const pp_stealing *taking);

/* No message uses its memory any more. */
bool pp_stealing_has_left(pp_stealing *taking);

/* The rank that is asked or given to, for the message of a deadline; -1: none. */
int pp_stealing_waits_for(const pp_stealing *taking);

/* Control messages and descriptions sent by this rank. */
int64_t pp_stealing_message_count(const pp_stealing *taking);

/* How often a server receives NONE before it gives up. */
int pp_stealing_most_refusals(int server_count);

#endif
