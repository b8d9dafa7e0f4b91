/* pull.c - deliveries, which a server asks for, and answers, which a client gives: see pull.h for the messages
 * and for why they come to an end.
 *
 * A delivery:
 *
 *     IDLE --pp_pull_ask--> WAITS --start_delivery, if there is credit--> ASKED --is_delivery_over--> DONE
 *                             +--progress_delivery, after an ABORT: is_cancelled---------------------> DONE
 *
 * An answer; is_busy, has_move and wants_grant tell its state:
 *
 *     free --begin_answer--> ready --start_fragment, writing: send--------------> moving --is_over--> ready
 *                            ready --start_fragment, reading: receive--> granting --send_grant--> moving
 *                            ready --start_fragment: there is no more--> free
 *     free --begin_answer, an offer without data--> granting --send_grant--> ready
 *
 * Invariants:
 *
 *  1. A receive is posted before the message that allows the other side to send (start_delivery,
 *     start_fragment). So data never waits inside MPI for a buffer, and every send ends.
 *  2. An offer of n fragments gets n grants, or one if n is 0, and is not over before all have come. So no
 *     grant is left over that take_grant could count for a later delivery with the same tag.
 *  3. A request has at least one fragment (transfer/deliveries.c). So when a delivery is over, its client has
 *     taken the request out of its list, and credit that is used again cannot make that list overflow.
 *  4. Deliveries with one client begin in the order in which they were asked for: progress_server goes from the
 *     oldest to the newest, and credit that is given back is used by the first that waits for it.
 *  5. A message is changed only when it has left (is_over of message.request and grant.request).
 *
 * Used where direct copies are not: on other nodes, with transport=messages, or if the system refuses. That
 * servers ask and clients answer is Panda's idea; ROMIO posts receives before sends (docs/design/papers.md, 3
 * and 2). tests/unit/comm/test_protocol.c runs this file in 100,000 random orders. */
#include "comm/pull.h"

#include <string.h>

/* One request that the client works on. */
typedef struct answer {
    bool is_busy, is_offer;
    bool has_move;    /* a fragment is under way */
    bool wants_grant; /* reading: the server is to be told to go on */
    bool is_news;     /* an offer without data */
    int source, tag;
    pp_buffer buffer;
    pp_wire_request move;
    pp_wire_message grant;
} answer;

struct pp_pull {
    pp_endpoint *endpoint;
    pp_wire *wire;
    size_t fragment_bytes;
    pp_pull_client client;
    answer answers[PP_PULL_ANSWERS];
    pp_delivery *oldest; /* deliveries that wait or are under way, in the order asked */
    pp_delivery **end;
    unsigned char *credits; /* requests under way with each rank */
    pp_pull_figures figures;
};

static void take_grant(void *context, int source, int tag)
{
    pp_pull *pull = context;
    pp_delivery *delivery;
    for (delivery = pull->oldest; delivery != NULL; delivery = delivery->following)
        if (delivery->rank == source && delivery->tag == tag && delivery->is_offer &&
            delivery->state == PP_DELIVERY_ASKED)
            delivery->granted++;
}

parapet_status pp_pull_build(pp_pull **pull, const pp_pull_options *options)
{
    parapet_status status = pp_allocate(pull, sizeof **pull);
    int i;
    if (status != PARAPET_OK)
        return status;
    (*pull)->endpoint = options->endpoint;
    (*pull)->wire = options->endpoint->wire;
    (*pull)->fragment_bytes = options->fragment_bytes;
    (*pull)->client = options->client;
    (*pull)->end = &(*pull)->oldest;
    status = pp_allocate(&(*pull)->credits, (size_t)(*pull)->wire->size);
    for (i = 0; i < PP_PULL_ANSWERS && status == PARAPET_OK; i++)
        status = pp_buffer_init(&(*pull)->answers[i].buffer, options->budget, options->fragment_bytes,
                                "buffers for messages");
    if (status != PARAPET_OK) {
        pp_pull_free(*pull);
        *pull = NULL;
        return status;
    }
    options->endpoint->on_grant = take_grant;
    options->endpoint->grant_context = *pull;
    return PARAPET_OK;
}

void pp_pull_free(pp_pull *pull)
{
    int i;
    if (pull == NULL)
        return;
    pull->endpoint->on_grant = NULL;
    for (i = 0; i < PP_PULL_ANSWERS; i++)
        pp_buffer_free(&pull->answers[i].buffer);
    pp_free(pull->credits);
    pp_free(pull);
}

static bool is_over(pp_pull *pull, pp_wire_request *request)
{
    return pull->wire->ops->is_over(pull->wire, request);
}

static void count_data(pp_pull *pull, size_t bytes)
{
    pull->figures.data_messages++;
    pull->figures.data_bytes += (int64_t)bytes;
}

/* ---- The client ---- */

static void begin_answer(pp_pull *pull, int number, const pp_waiting_request *request)
{
    answer *with = &pull->answers[number];
    pp_pull_request words;
    memcpy(words.words, request->words, sizeof words.words);
    with->is_busy = true;
    with->is_offer = request->kind == PP_CONTROL_OFFER;
    with->source = request->source;
    with->tag = request->tag;
    with->has_move = false;
    with->is_news = !pull->client.begin(pull->client.context, number, &words);
    with->wants_grant = with->is_news && with->is_offer;
}

static bool send_grant(pp_pull *pull, answer *with)
{
    if (!is_over(pull, &with->grant.request))
        return false;
    with->wants_grant = false;
    with->grant.control.kind = PP_CONTROL_GRANT;
    with->grant.control.tag = with->tag;
    pull->wire->ops->send_control(pull->wire, with->source, &with->grant);
    pull->figures.control_messages++;
    return true;
}

/* Sends or expects the next fragment; the answer ends when there is none. */
static void start_fragment(pp_pull *pull, int number)
{
    answer *with = &pull->answers[number];
    pp_fragment fragment;
    bool is_any = !with->is_news &&
                  (with->is_offer ? pull->client.place(pull->client.context, number, with->buffer.data, &fragment)
                                  : pull->client.pack(pull->client.context, number, with->buffer.data, &fragment));
    with->is_busy = is_any;
    with->has_move = is_any;
    if (!is_any)
        return;
    if (with->is_offer) {
        /* First the receive, then the grant: the server sends as soon as it has that. */
        pull->wire->ops->receive(pull->wire, with->source, with->tag, fragment.data, fragment.bytes, &with->move);
        with->wants_grant = true;
    } else {
        pull->wire->ops->send(pull->wire, with->source, with->tag, fragment.data, fragment.bytes, &with->move);
        count_data(pull, fragment.bytes);
    }
}

static bool progress_answer(pp_pull *pull, int number)
{
    answer *with = &pull->answers[number];
    if (with->wants_grant)
        return send_grant(pull, with);
    if (with->has_move) {
        if (!is_over(pull, &with->move))
            return false;
        with->has_move = false;
        if (with->is_offer)
            pull->client.unpack(pull->client.context, number);
    }
    /* The next answer in this place would overwrite the grant, which MPI may still have to read. */
    if (!is_over(pull, &with->grant.request))
        return false;
    start_fragment(pull, number);
    return true;
}

static bool progress_client(pp_pull *pull)
{
    pp_waiting_request request;
    bool is_any = false;
    int i;
    for (i = 0; i < PP_PULL_ANSWERS; i++) {
        if (!pull->answers[i].is_busy && pp_endpoint_next_request(pull->endpoint, &request)) {
            begin_answer(pull, i, &request);
            is_any = true;
        }
        if (pull->answers[i].is_busy && progress_answer(pull, i))
            is_any = true;
    }
    return is_any;
}

/* ---- The server ---- */

void pp_pull_ask(pp_pull *pull, pp_delivery *delivery)
{
    delivery->state = PP_DELIVERY_WAITS;
    delivery->moved = 0;
    delivery->granted = 0;
    delivery->is_cancelled = false;
    delivery->following = NULL;
    *pull->end = delivery;
    pull->end = &delivery->following;
}

static void start_delivery(pp_pull *pull, pp_delivery *delivery)
{
    int i;
    pull->credits[delivery->rank]++;
    delivery->state = PP_DELIVERY_ASKED;
    /* Before the request, which the client may answer at once. */
    for (i = 0; i < delivery->fragment_count && !delivery->is_offer; i++)
        pull->wire->ops->receive(pull->wire, delivery->rank, delivery->tag, delivery->fragments[i].data,
                                 delivery->fragments[i].bytes, &delivery->moves[i]);
    delivery->message.control.kind = delivery->is_offer ? PP_CONTROL_OFFER : PP_CONTROL_REQUEST;
    delivery->message.control.tag = delivery->tag;
    memcpy(delivery->message.control.of.words, delivery->request.words, sizeof delivery->request.words);
    pull->wire->ops->send_control(pull->wire, delivery->rank, &delivery->message);
    pull->figures.control_messages++;
}

/* Sends as many fragments as the client has granted, one behind the other. */
static bool progress_offer(pp_pull *pull, pp_delivery *delivery)
{
    bool is_any = false;
    while (delivery->moved < delivery->granted && delivery->moved < delivery->fragment_count) {
        const pp_fragment *fragment = &delivery->fragments[delivery->moved];
        pull->wire->ops->send(pull->wire, delivery->rank, delivery->tag, fragment->data, fragment->bytes,
                              &delivery->moves[delivery->moved]);
        count_data(pull, fragment->bytes);
        delivery->moved++;
        is_any = true;
    }
    return is_any;
}

static bool is_delivery_over(pp_pull *pull, pp_delivery *delivery)
{
    int i;
    if (delivery->is_offer && (delivery->moved < delivery->fragment_count || delivery->granted == 0))
        return false;
    for (i = 0; i < delivery->fragment_count; i++)
        if (!is_over(pull, &delivery->moves[i]))
            return false;
    return is_over(pull, &delivery->message.request);
}

static bool progress_delivery(pp_pull *pull, pp_delivery *delivery)
{
    bool is_any = false;
    if (delivery->state == PP_DELIVERY_WAITS) {
        /* Only here: once the request has left, the client answers it, and waits for the receive or the data. */
        if (pp_endpoint_is_aborted(pull->endpoint)) {
            delivery->is_cancelled = true;
            delivery->state = PP_DELIVERY_DONE;
            return true;
        }
        if (pull->credits[delivery->rank] >= PP_PULL_CREDITS)
            return false;
        start_delivery(pull, delivery);
        return true;
    }
    if (delivery->is_offer)
        is_any = progress_offer(pull, delivery);
    if (!is_delivery_over(pull, delivery))
        return is_any;
    pull->credits[delivery->rank]--;
    delivery->state = PP_DELIVERY_DONE;
    return true;
}

static bool progress_server(pp_pull *pull)
{
    pp_delivery **link = &pull->oldest;
    bool is_any = false;
    while (*link != NULL) {
        pp_delivery *delivery = *link;
        is_any = progress_delivery(pull, delivery) || is_any;
        if (delivery->state == PP_DELIVERY_DONE)
            *link = delivery->following;
        else
            link = &delivery->following;
    }
    pull->end = link;
    return is_any;
}

bool pp_pull_progress(pp_pull *pull)
{
    bool is_any = pp_endpoint_progress(pull->endpoint);
    is_any = progress_client(pull) || is_any;
    return progress_server(pull) || is_any;
}

bool pp_pull_is_aborted(const pp_pull *pull)
{
    return pp_endpoint_is_aborted(pull->endpoint);
}

void pp_pull_abort(pp_pull *pull)
{
    pp_endpoint_abort(pull->endpoint);
}

bool pp_pull_is_idle(const pp_pull *pull)
{
    return pull->oldest == NULL;
}

bool pp_pull_is_answering(const pp_pull *pull)
{
    int i;
    for (i = 0; i < PP_PULL_ANSWERS; i++)
        if (pull->answers[i].is_busy)
            return true;
    return false;
}

int pp_pull_waits_for(const pp_pull *pull)
{
    return pull->oldest != NULL ? pull->oldest->rank : -1;
}

pp_pull_figures pp_pull_get_figures(const pp_pull *pull)
{
    return pull->figures;
}
