/* stealing.c - the two sides of taking work: see stealing.h for the messages and for why they come to an end.
 *
 * The one that asks, a wish:
 *
 *     NONE --ask--> ASKED --take_refusal--> REFUSED --progress_wish--> NONE, and the next question or the end
 *                     +-----take_offer----> OFFERED --accept--> COMING --progress_wish--> NONE, and ARRIVED
 *
 * The one that is asked, a gift:
 *
 *     NONE --answer: GIVE--> OFFERED --take_control--> ACCEPTED --send_description--> SENT --progress_gift--> NONE
 *     NONE --answer: NONE--> NONE
 *
 * Invariants:
 *
 *  1. A server has one question under way. So `waiting`, with room for one of each server, cannot overflow.
 *  2. From GIVE on the work belongs to the taker alone. An abort may lose it on its way, but then the transfer
 *     fails.
 *  3. What a server believes about others (learn) may be old or wrong. It only decides whom to ask next, so an
 *     error costs a question and never a shard.
 *  4. Refusals are counted, so a server does not ask for ever (may_ask).
 *  5. A message is changed only when it has left (is_over of answer, question and acceptance).
 *
 * With sharing=stealing, and for the work units of copies: docs/guide/many-ranks.md, "Options". Kuo et al.
 * deal out work in shrinking rounds by a master, which began to be a bottleneck at 16 nodes. There is none
 * here, but what is given shrinks likewise (docs/design/papers.md, 4, note e). Rounds were weighed and not
 * kept: in each of them the fast ranks wait for the slow ones (docs/design/copy.md, "Who does a work unit"). */
#include "comm/stealing.h"

#include "base/checked.h"
#include "base/ranks.h"
#include "comm/pull.h"

/* Tags below are those of deliveries. */
#define TAKING_TAG PP_PULL_TAGS

/* The words of a message. TAKE and NONE: whom the sender believes to have most left, and how much. */
enum { WORD_RICHEST, WORD_RICHEST_LEFT, WORD_SPEED, TAKE_WORDS };
enum { WORD_BYTES = WORD_SPEED }; /* GIVE: of the description; WORD_RICHEST_LEFT is what the giver keeps */

_Static_assert(TAKE_WORDS <= PP_STEALING_WORDS, "a message is sent whole");

typedef struct question {
    int server; /* that asks, by number */
    int64_t speed;
} question;

/* As the one who is asked. */
typedef enum gift_state { GIFT_NONE, GIFT_OFFERED, GIFT_ACCEPTED, GIFT_SENT } gift_state;

typedef struct gift {
    gift_state state;
    int server;
    size_t bytes;
    pp_buffer description;
    pp_wire_message answer; /* GIVE or NONE */
    pp_wire_request move;
} gift;

/* As the one who asks. */
typedef enum wish_state { WISH_NONE, WISH_ASKED, WISH_REFUSED, WISH_OFFERED, WISH_COMING } wish_state;

typedef struct wish {
    wish_state state;
    int server; /* that is asked */
    int64_t speed;
    size_t bytes;
    pp_buffer description;
    pp_wire_message question, acceptance;
    pp_wire_request move;
} wish;

struct pp_stealing {
    pp_endpoint *endpoint;
    pp_wire *wire;
    const int *servers;
    int server_count, own;
    pp_stealing_giver giver;
    pp_stealing_state state;
    gift gift;
    wish wish;
    question *waiting; /* a ring, with room for one question of every server */
    size_t waiting_first, waiting_count;
    int richest; /* the server that has most left, as far as this one knows */
    int64_t richest_left;
    int refusal_count, guess_count;
    int64_t message_count;
};

static int levels_of(int server_count)
{
    int levels = 0;
    while ((INT64_C(1) << levels) < server_count)
        levels++;
    return levels;
}

int pp_stealing_most_refusals(int server_count)
{
    return 4 + levels_of(server_count);
}

size_t pp_stealing_bytes(size_t most_bytes)
{
    return 2 * pp_align_up(most_bytes, PP_PAGE_BYTES);
}

static void learn(pp_stealing *taking, int server, int64_t left)
{
    if (server == taking->own || (server != taking->richest && left <= taking->richest_left))
        return;
    taking->richest = server;
    taking->richest_left = left;
}

static bool is_over(pp_stealing *taking, pp_wire_request *request)
{
    return taking->wire->ops->is_over(taking->wire, request);
}

static void send(pp_stealing *taking, int server, pp_wire_message *message, pp_control_kind kind)
{
    message->control.kind = (int32_t)kind;
    taking->wire->ops->send_control(taking->wire, taking->servers[server], message);
    taking->message_count++;
}

/* ---- What arrives ---- */

static void keep_question(pp_stealing *taking, int server, const pp_control *control)
{
    size_t place = (taking->waiting_first + taking->waiting_count++) % (size_t)taking->server_count;
    taking->waiting[place] = (question){.server = server, .speed = control->of.words[WORD_SPEED]};
    learn(taking, server, 0);
    learn(taking, (int)control->of.words[WORD_RICHEST], control->of.words[WORD_RICHEST_LEFT]);
}

static void take_refusal(pp_stealing *taking, int server, const pp_control *control)
{
    taking->wish.state = WISH_REFUSED;
    learn(taking, server, 0);
    learn(taking, (int)control->of.words[WORD_RICHEST], control->of.words[WORD_RICHEST_LEFT]);
}

static void take_offer(pp_stealing *taking, int server, const pp_control *control)
{
    taking->wish.state = WISH_OFFERED;
    taking->wish.bytes = (size_t)control->of.words[WORD_BYTES];
    learn(taking, server, control->of.words[WORD_RICHEST_LEFT]);
}

static void take_control(void *context, int source, const pp_control *control)
{
    pp_stealing *taking = context;
    int server = pp_ranks_find(taking->servers, taking->server_count, source);
    if (control->kind == PP_CONTROL_TAKE)
        keep_question(taking, server, control);
    else if (control->kind == PP_CONTROL_NONE)
        take_refusal(taking, server, control);
    else if (control->kind == PP_CONTROL_GIVE)
        take_offer(taking, server, control);
    else
        taking->gift.state = GIFT_ACCEPTED;
}

/* ---- Building ---- */

parapet_status pp_stealing_build(pp_stealing **taking, const pp_stealing_options *options)
{
    parapet_status status = pp_allocate(taking, sizeof **taking);
    pp_stealing *self = *taking;
    if (status != PARAPET_OK)
        return status;
    self->endpoint = options->endpoint;
    self->wire = options->endpoint->wire;
    self->servers = options->servers;
    self->server_count = options->server_count;
    self->giver = options->giver;
    self->own = pp_ranks_find(self->servers, self->server_count, self->wire->rank);
    self->richest = -1;
    self->state = self->own < 0 ? PP_STEALING_ENDED : PP_STEALING_IDLE;
    if (self->own >= 0) /* only servers are asked */
        status = pp_allocate_array(&self->waiting, (size_t)self->server_count, sizeof self->waiting[0]);
    if (status == PARAPET_OK && self->own >= 0)
        status =
            pp_buffer_init(&self->gift.description, options->budget, options->most_bytes, "work that is given away");
    if (status == PARAPET_OK && self->own >= 0)
        status = pp_buffer_init(&self->wish.description, options->budget, options->most_bytes,
                                "work that is taken from others");
    if (status != PARAPET_OK) {
        pp_stealing_free(self);
        *taking = NULL;
        return status;
    }
    options->endpoint->on_stealing = take_control;
    options->endpoint->stealing_context = self;
    return PARAPET_OK;
}

void pp_stealing_free(pp_stealing *taking)
{
    if (taking == NULL)
        return;
    taking->endpoint->on_stealing = NULL;
    pp_buffer_free(&taking->gift.description);
    pp_buffer_free(&taking->wish.description);
    pp_free(taking->waiting);
    pp_free(taking);
}

/* ---- Giving ---- */

static question next_question(pp_stealing *taking)
{
    question first = taking->waiting[taking->waiting_first];
    taking->waiting_first = (taking->waiting_first + 1) % (size_t)taking->server_count;
    taking->waiting_count--;
    return first;
}

static void answer(pp_stealing *taking, const question *asked)
{
    gift *with = &taking->gift;
    int64_t *words = with->answer.control.of.words;
    with->server = asked->server;
    with->bytes = pp_endpoint_is_aborted(taking->endpoint)
                      ? 0
                      : taking->giver.give(taking->giver.context, asked->speed, with->description.data,
                                           with->description.capacity);
    with->state = with->bytes > 0 ? GIFT_OFFERED : GIFT_NONE;
    words[WORD_RICHEST] = taking->richest;
    words[WORD_RICHEST_LEFT] = with->bytes > 0 ? taking->giver.left(taking->giver.context) : taking->richest_left;
    words[WORD_BYTES] = (int64_t)with->bytes;
    send(taking, asked->server, &with->answer, with->bytes > 0 ? PP_CONTROL_GIVE : PP_CONTROL_NONE);
}

static void send_description(pp_stealing *taking)
{
    gift *with = &taking->gift;
    with->state = GIFT_SENT;
    taking->wire->ops->send(taking->wire, taking->servers[with->server], TAKING_TAG, with->description.data,
                            with->bytes, &with->move);
    taking->message_count++;
}

static bool progress_gift(pp_stealing *taking)
{
    gift *with = &taking->gift;
    question asked;
    if (with->state == GIFT_ACCEPTED) {
        send_description(taking);
        return true;
    }
    if (with->state == GIFT_SENT && is_over(taking, &with->move)) {
        with->state = GIFT_NONE;
        return true;
    }
    if (with->state != GIFT_NONE || taking->waiting_count == 0 || !is_over(taking, &with->answer.request))
        return false;
    asked = next_question(taking);
    answer(taking, &asked);
    return true;
}

/* ---- Taking ---- */

/* The server that has most left, as far as this one knows; else servers at growing distances, so that it
 * becomes known in a few steps who has something left. */
static int choose_server(pp_stealing *taking)
{
    int levels = levels_of(taking->server_count), guess;
    int64_t distance;
    if (taking->richest >= 0 && taking->richest_left > 0)
        return taking->richest;
    guess = taking->guess_count++;
    distance = (INT64_C(1) << guess % levels) * (1 + 2 * (guess / levels));
    distance = 1 + (distance - 1) % (taking->server_count - 1);
    return (int)((taking->own + distance) % taking->server_count);
}

static void ask(pp_stealing *taking)
{
    wish *with = &taking->wish;
    int64_t *words = with->question.control.of.words;
    with->server = choose_server(taking);
    with->state = WISH_ASKED;
    words[WORD_RICHEST] = taking->richest;
    words[WORD_RICHEST_LEFT] = taking->richest_left;
    words[WORD_SPEED] = with->speed;
    send(taking, with->server, &with->question, PP_CONTROL_TAKE);
}

static void accept(pp_stealing *taking)
{
    wish *with = &taking->wish;
    with->state = WISH_COMING;
    /* Before ACCEPT, so that the description finds its receive. */
    taking->wire->ops->receive(taking->wire, taking->servers[with->server], TAKING_TAG, with->description.data,
                               with->bytes, &with->move);
    send(taking, with->server, &with->acceptance, PP_CONTROL_ACCEPT);
}

static bool may_ask(const pp_stealing *taking)
{
    return taking->server_count > 1 && taking->refusal_count < pp_stealing_most_refusals(taking->server_count) &&
           !pp_endpoint_is_aborted(taking->endpoint);
}

/* Nothing is under way: the next question, or the end. */
static bool start_wish(pp_stealing *taking)
{
    if (!may_ask(taking)) {
        taking->state = PP_STEALING_ENDED;
        return true;
    }
    if (!is_over(taking, &taking->wish.question.request))
        return false;
    ask(taking);
    return true;
}

static bool progress_wish(pp_stealing *taking)
{
    wish *with = &taking->wish;
    if (taking->state != PP_STEALING_ASKS)
        return false;
    switch (with->state) {
    case WISH_NONE:
        return start_wish(taking);
    case WISH_REFUSED:
        taking->refusal_count++;
        with->state = WISH_NONE;
        return true;
    case WISH_OFFERED:
        if (!is_over(taking, &with->acceptance.request))
            return false;
        accept(taking);
        return true;
    case WISH_COMING:
        if (!is_over(taking, &with->move))
            return false;
        with->state = WISH_NONE;
        taking->state = PP_STEALING_ARRIVED;
        return true;
    case WISH_ASKED:
        break;
    }
    return false;
}

void pp_stealing_ask(pp_stealing *taking, int64_t speed)
{
    if (taking->state == PP_STEALING_ENDED)
        return;
    taking->wish.speed = speed;
    taking->state = PP_STEALING_ASKS;
}

const void *pp_stealing_take(pp_stealing *taking, size_t *bytes)
{
    *bytes = taking->wish.bytes;
    taking->state = PP_STEALING_IDLE;
    return taking->wish.description.data;
}

/* ---- Both ---- */

bool pp_stealing_progress(pp_stealing *taking)
{
    bool is_any = progress_gift(taking);
    return progress_wish(taking) || is_any;
}

pp_stealing_state pp_stealing_get_state(const pp_stealing *taking)
{
    return taking->state;
}

bool pp_stealing_is_idle(const pp_stealing *taking)
{
    return taking->state != PP_STEALING_ASKS && taking->wish.state == WISH_NONE && taking->gift.state == GIFT_NONE &&
           taking->waiting_count == 0;
}

bool pp_stealing_has_left(pp_stealing *taking)
{
    return pp_stealing_is_idle(taking) && is_over(taking, &taking->gift.answer.request) &&
           is_over(taking, &taking->wish.question.request) && is_over(taking, &taking->wish.acceptance.request);
}

int pp_stealing_waits_for(const pp_stealing *taking)
{
    if (pp_stealing_is_idle(taking))
        return -1;
    return taking->servers[taking->state == PP_STEALING_ASKS ? taking->wish.server : taking->gift.server];
}

int64_t pp_stealing_message_count(const pp_stealing *taking)
{
    return taking->message_count;
}
