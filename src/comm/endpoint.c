/* endpoint.c - control messages and agreements: see endpoint.h for the tree.
 *
 * One agreement:
 *
 *     between two --pp_endpoint_join--> joined
 *     joined      --pp_endpoint_is_agreed: all below have reported--> reported (rank 0: has_result)
 *     reported    --dispatch: RESULT--> has_result
 *     has_result  --finish: RESULT to those below--> between two, one round later
 *     joined      --pp_endpoint_give_up: a rank below is silent--> as if it had reported
 *     reported    --pp_endpoint_give_up: the rank above is silent--> has_result
 *
 * Invariants:
 *
 *  1. A rank below is at most one round ahead: its next report needs our RESULT. So one place for a report is
 *     enough for each neighbour (is_report_waiting), and a report of the next round waits there.
 *  2. Messages of one rank arrive in order (wire.h). So an ABORT for the next round comes after the RESULT of
 *     this one, and can take the place of an older one (aborted_round).
 *  3. An ABORT has the number of its round, is passed on once in each round (want_abort), and is dropped when
 *     the round is over (send_aborts).
 *  4. A message is changed only when it has left (have_verdicts_left, send_aborts).
 *  5. Every message is taken as soon as it arrives. What it says has a place reserved: requests in a ring for
 *     servers times credits (pp_endpoint_allow_requests), grants in a count, all others in their neighbour or
 *     in stealing.c.
 *
 * The tree, and why everything built on it ends: docs/design/collective.md, "Why it cannot deadlock". */
#include "comm/endpoint.h"

#include <string.h>

static pp_neighbour *above(pp_endpoint *endpoint)
{
    return &endpoint->neighbours[0];
}

/* The neighbour below with that rank: pp_endpoint_init gives them their places. */
static pp_neighbour *find_below(pp_endpoint *endpoint, int rank)
{
    return &endpoint->neighbours[rank - endpoint->wire->rank * PP_TREE_WIDTH];
}

void pp_endpoint_init(pp_endpoint *endpoint, pp_wire *wire)
{
    int i;
    memset(endpoint, 0, sizeof *endpoint);
    endpoint->wire = wire;
    endpoint->round = 1;
    above(endpoint)->rank = wire->rank > 0 ? (wire->rank - 1) / PP_TREE_WIDTH : -1;
    for (i = 1; i <= PP_TREE_WIDTH; i++) {
        int64_t below = (int64_t)wire->rank * PP_TREE_WIDTH + i;
        endpoint->neighbours[i].rank = below < wire->size ? (int)below : -1;
    }
}

void pp_endpoint_clear(pp_endpoint *endpoint)
{
    pp_free(endpoint->requests);
    endpoint->requests = NULL;
}

parapet_status pp_endpoint_allow_requests(pp_endpoint *endpoint, size_t request_capacity)
{
    pp_free(endpoint->requests);
    endpoint->request_capacity = request_capacity;
    return pp_allocate_array(&endpoint->requests, request_capacity, sizeof endpoint->requests[0]);
}

/* Which failure is reported if there are several: one that more memory would cure only if there is no other,
 * and a deadline only if there is neither. */
static int order_of(const pp_verdict *failed)
{
    return failed->status == PARAPET_ERR_TIMEOUT ? 2 : failed->enough > 0;
}

/* Whether the other failure is the one to report: that of the lowest rank, but of several refusals of memory
 * the one that names the largest limit, which is then enough for all of them. Of several ranks that were not
 * answered, one that knows by whom; and a rank that misses another one is not missing itself. */
static bool is_better(const pp_verdict *other, const pp_verdict *known)
{
    if (other->failed_rank < 0 || known->failed_rank < 0)
        return other->failed_rank >= 0;
    if (order_of(other) != order_of(known))
        return order_of(other) < order_of(known);
    if (other->enough != known->enough)
        return other->enough > known->enough;
    if (other->failed_rank != known->failed_rank)
        return other->failed_rank < known->failed_rank;
    return other->missing_rank >= 0 && (known->missing_rank < 0 || known->missing_rank == other->missed_by);
}

/* Keeps the lowest failing rank, the lowest rank whose call differs, the smallest value, the common bits and whether
 * any rank was late. */
static void merge(pp_verdict *into, const pp_verdict *from)
{
    int32_t differing = from->digest != into->digest ? from->call_rank : from->differing_rank;
    if (from->least < into->least)
        into->least = from->least;
    into->common &= from->common;
    into->is_late |= from->is_late;
    if (is_better(from, into)) {
        into->failed_rank = from->failed_rank;
        into->missing_rank = from->missing_rank;
        into->missed_by = from->missed_by;
        into->status = from->status;
        into->enough = from->enough;
        memcpy(into->sentence, from->sentence, sizeof into->sentence);
    }
    if (differing >= 0 && (into->differing_rank < 0 || differing < into->differing_rank)) {
        into->differing_rank = differing;
        memcpy(into->differing_call, differing == from->call_rank ? from->call : from->differing_call,
               sizeof into->differing_call);
    }
}

void pp_endpoint_join(pp_endpoint *endpoint, const pp_verdict *verdict)
{
    int i;
    endpoint->verdict = *verdict;
    endpoint->is_joined = true;
    endpoint->has_reported = false;
    endpoint->has_result = false;
    for (i = 0; i <= PP_TREE_WIDTH; i++)
        endpoint->neighbours[i].has_reported = false;
}

static void take_reports(pp_endpoint *endpoint)
{
    int i;
    for (i = 1; i <= PP_TREE_WIDTH; i++) {
        pp_neighbour *below = &endpoint->neighbours[i];
        if (!below->is_report_waiting || below->report.round > endpoint->round)
            continue;
        below->is_report_waiting = false;
        if (below->report.round < endpoint->round || below->has_reported)
            continue; /* came after we had given it up */
        merge(&endpoint->verdict, &below->report.of.verdict);
        below->has_reported = true;
    }
}

static bool has_all_reports(const pp_endpoint *endpoint)
{
    int i;
    for (i = 1; i <= PP_TREE_WIDTH; i++)
        if (endpoint->neighbours[i].rank >= 0 && !endpoint->neighbours[i].has_reported)
            return false;
    return true;
}

static void send_verdict(pp_endpoint *endpoint, pp_neighbour *to, pp_control_kind kind)
{
    to->verdict.control.kind = (int32_t)kind;
    to->verdict.control.round = endpoint->round;
    to->verdict.control.of.verdict = endpoint->verdict;
    endpoint->wire->ops->send_control(endpoint->wire, to->rank, &to->verdict);
}

/* REPORT of one round and RESULT of another are the same messages, in which MPI may still be reading. */
static bool have_verdicts_left(pp_endpoint *endpoint)
{
    int i;
    for (i = 0; i <= PP_TREE_WIDTH; i++)
        if (!endpoint->wire->ops->is_over(endpoint->wire, &endpoint->neighbours[i].verdict.request))
            return false;
    return true;
}

static void finish(pp_endpoint *endpoint)
{
    int i;
    for (i = 1; i <= PP_TREE_WIDTH; i++)
        if (endpoint->neighbours[i].rank >= 0)
            send_verdict(endpoint, &endpoint->neighbours[i], PP_CONTROL_RESULT);
    endpoint->is_joined = false;
    endpoint->round++;
}

bool pp_endpoint_is_agreed(pp_endpoint *endpoint)
{
    if (!endpoint->is_joined)
        return true;
    take_reports(endpoint);
    if (!endpoint->has_result) {
        if (!has_all_reports(endpoint) || !have_verdicts_left(endpoint))
            return false;
        if (above(endpoint)->rank < 0) {
            endpoint->has_result = true;
        } else if (!endpoint->has_reported) {
            send_verdict(endpoint, above(endpoint), PP_CONTROL_REPORT);
            endpoint->has_reported = true;
        }
    }
    if (!endpoint->has_result || !have_verdicts_left(endpoint))
        return false;
    finish(endpoint);
    return true;
}

static void want_abort(pp_endpoint *endpoint, int64_t round, int source)
{
    int i;
    if (round < endpoint->round || round == endpoint->aborted_round)
        return;
    endpoint->aborted_round = round;
    for (i = 0; i <= PP_TREE_WIDTH; i++) {
        pp_neighbour *to = &endpoint->neighbours[i];
        if (to->rank < 0 || to->rank == source)
            continue;
        to->wants_abort = true;
        to->abort_round = round;
    }
}

static void send_aborts(pp_endpoint *endpoint)
{
    int i;
    for (i = 0; i <= PP_TREE_WIDTH; i++) {
        pp_neighbour *to = &endpoint->neighbours[i];
        if (!to->wants_abort || !endpoint->wire->ops->is_over(endpoint->wire, &to->abort.request))
            continue;
        to->wants_abort = false;
        if (to->abort_round < endpoint->round)
            continue; /* too late: everybody has agreed meanwhile */
        to->abort.control.kind = PP_CONTROL_ABORT;
        to->abort.control.round = to->abort_round;
        endpoint->wire->ops->send_control(endpoint->wire, to->rank, &to->abort);
    }
}

void pp_endpoint_abort(pp_endpoint *endpoint)
{
    want_abort(endpoint, endpoint->round, -1);
    send_aborts(endpoint);
}

bool pp_endpoint_is_aborted(const pp_endpoint *endpoint)
{
    return endpoint->aborted_round == endpoint->round;
}

static void keep_request(pp_endpoint *endpoint, const pp_control *control, int source)
{
    size_t place = (endpoint->request_first + endpoint->request_count) % endpoint->request_capacity;
    pp_waiting_request *request = &endpoint->requests[place];
    endpoint->request_count++;
    request->source = source;
    request->kind = control->kind;
    request->tag = control->tag;
    memcpy(request->words, control->of.words, sizeof request->words);
}

bool pp_endpoint_next_request(pp_endpoint *endpoint, pp_waiting_request *request)
{
    if (endpoint->request_count == 0)
        return false;
    *request = endpoint->requests[endpoint->request_first];
    endpoint->request_first = (endpoint->request_first + 1) % endpoint->request_capacity;
    endpoint->request_count--;
    return true;
}

static void dispatch(pp_endpoint *endpoint, const pp_control *control, int source)
{
    pp_neighbour *from;
    switch ((pp_control_kind)control->kind) {
    case PP_CONTROL_REPORT:
        from = find_below(endpoint, source);
        from->report = *control;
        from->is_report_waiting = true;
        break;
    case PP_CONTROL_RESULT:
        if (endpoint->is_joined && control->round == endpoint->round) {
            endpoint->verdict = control->of.verdict;
            endpoint->has_result = true;
        }
        break;
    case PP_CONTROL_ABORT:
        want_abort(endpoint, control->round, source);
        break;
    case PP_CONTROL_REQUEST:
    case PP_CONTROL_OFFER:
        keep_request(endpoint, control, source);
        break;
    case PP_CONTROL_GRANT:
        if (endpoint->on_grant != NULL)
            endpoint->on_grant(endpoint->grant_context, source, control->tag);
        break;
    case PP_CONTROL_TAKE:
    case PP_CONTROL_NONE:
    case PP_CONTROL_GIVE:
    case PP_CONTROL_ACCEPT:
        if (endpoint->on_stealing != NULL)
            endpoint->on_stealing(endpoint->stealing_context, source, control);
        break;
    }
}

bool pp_endpoint_progress(pp_endpoint *endpoint)
{
    pp_control control;
    bool is_any = false;
    int source;
    while (endpoint->wire->ops->next_control(endpoint->wire, &control, &source)) {
        dispatch(endpoint, &control, source);
        is_any = true;
    }
    send_aborts(endpoint);
    return is_any;
}

int pp_endpoint_waits_for(const pp_endpoint *endpoint)
{
    int i;
    for (i = 1; i <= PP_TREE_WIDTH; i++)
        if (endpoint->neighbours[i].rank >= 0 && !endpoint->neighbours[i].has_reported)
            return endpoint->neighbours[i].rank;
    return endpoint->neighbours[0].rank;
}

int pp_endpoint_height(const pp_endpoint *endpoint, int rank)
{
    int64_t below = (int64_t)rank * PP_TREE_WIDTH + 1;
    int height = 0;
    for (; below < endpoint->wire->size; below = below * PP_TREE_WIDTH + 1)
        height++;
    return height;
}

void pp_endpoint_give_up(pp_endpoint *endpoint, parapet_status status, const char *sentence)
{
    pp_verdict *verdict = &endpoint->verdict;
    bool is_below = !has_all_reports(endpoint);
    int i;
    verdict->is_late = true;
    if (verdict->failed_rank < 0 || (verdict->failed_rank == PP_RANK_UNKNOWN && verdict->missing_rank < 0)) {
        verdict->failed_rank = endpoint->wire->rank;
        verdict->status = (int32_t)status;
        memset(verdict->sentence, 0, sizeof verdict->sentence);
        strncpy(verdict->sentence, sentence, sizeof verdict->sentence - 1);
    }
    for (i = 1; i <= PP_TREE_WIDTH; i++)
        endpoint->neighbours[i].has_reported = true;
    if (!is_below)
        endpoint->has_result = true; /* the one above is silent: this is all we will ever know */
}
