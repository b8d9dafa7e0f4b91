/* The protocol of a collective transfer, endpoint.c and pull.c as they are, over a simulated wire: a few ranks in one
 * process run through random interleavings, each step one rank or one message.
 *
 *     unit_comm_protocol [COUNT | soak]         100,000 interleavings when nothing is said; soak: 1,000,000
 *
 * A failure prints its seed; PARAPET_TEST_SEED with that number repeats it as the first one. */
#include "comm/pull.h"

#include "base/memory.h"
#include "simulated_wire.h"

#define QUICK_COUNT (100000 / TEST_THINNING)
#define SOAK_COUNT 1000000
#define MOST_STEPS 1000000
#define MOST_TRANSFERS 4
#define MOST_WINDOWS 5
#define MOST_SLOTS 3 /* windows of a server in flight */
#define MOST_DELIVERIES 10
#define MOST_FRAGMENTS 3
#define FRAGMENT_BYTES SIM_MOST_BYTES
#define BUDGET_BYTES ((size_t)PP_PULL_ANSWERS * PP_PAGE_BYTES)

typedef enum phase { ASLEEP, BEGINS, SERVES, ENDS, DRAINS, LEAVES, GONE } phase;

/* Why a rank fails in a transfer, if it does. */
typedef enum failing { FAILS_NOT, FAILS_TO_BEGIN, FAILS_SILENTLY, FAILS_ALOUD } failing;

/* What one server wants of one client, once. */
typedef struct deal {
    bool is_offer;
    bool is_asked, is_cancelled, is_done;
    int server, client, tag;
    uint64_t key; /* of its bytes */
    int fragment_count;
    int begun, moved; /* at the client */
} deal;

typedef struct window {
    int delivery_count;
    deal deals[MOST_DELIVERIES];
} window;

typedef struct slot {
    window *of; /* NULL: free */
    pp_delivery deliveries[MOST_DELIVERIES];
    pp_fragment fragments[MOST_DELIVERIES][MOST_FRAGMENTS];
    pp_wire_request moves[MOST_DELIVERIES][MOST_FRAGMENTS];
    unsigned char data[MOST_DELIVERIES][MOST_FRAGMENTS][FRAGMENT_BYTES];
} slot;

/* An answer of the client. */
typedef struct reply {
    deal *of;
    int next;
    pp_fragment placed;
    unsigned char own[FRAGMENT_BYTES]; /* memory of the user */
} reply;

typedef struct person {
    int rank;
    phase phase;
    int transfer;
    bool is_server, is_slow;
    pp_endpoint endpoint;
    pp_budget budget;
    pp_pull *pull;
    reply replies[PP_PULL_ANSWERS];
    slot slots[MOST_SLOTS];
    int slot_count, next_window;
    bool has_failed, was_aborted;
    pp_verdict verdicts[2]; /* what it said in this agreement and in the one before */
} person;

/* What one rank does in the transfer under way. */
typedef struct part {
    failing failing;
    int fails_before; /* so many windows of its own */
    bool has_failed_aloud;
    int window_count;
    window windows[MOST_WINDOWS];
} part;

static struct {
    uint64_t seed;
    test_random random;
    sim_network network;
    int size, server_count, transfer_count;
    int64_t rank_share;   /* of 100 steps */
    int64_t failing_odds; /* one rank in so many fails in a transfer */
    bool is_mixed;        /* reads and writes in one transfer */
    bool is_large;        /* most are small: what goes wrong mostly does so with few */
    person persons[SIM_MOST_RANKS];
    part parts[SIM_MOST_RANKS];
    int left_count;      /* ranks that have left the transfer under way */
    bool has_late_abort; /* one was held back by the one before: it may come after the end */
    int awake_count, gone_count;
    pp_pull_figures figures;
    int64_t steps, deals, failures, cancelled, late_aborts;
} world;

static void broken(const char *what)
{
    fprintf(stderr, "seed %llu: %s (%d ranks, %d servers, step %lld)\n", (unsigned long long)world.seed, what,
            world.size, world.server_count, (long long)world.steps);
    fail_msg("seed %llu: %s", (unsigned long long)world.seed, what);
}

static void demand(bool is_true, const char *what)
{
    if (!is_true)
        broken(what);
}

static int64_t draw(int64_t low, int64_t high)
{
    return test_random_between(&world.random, low, high);
}

static bool draw_one_in(int64_t n)
{
    return draw(1, n) == 1;
}

/* ---- What is to be transferred ---- */

static size_t fragment_bytes(const deal *of, int number)
{
    return 1 + (size_t)((of->key >> (number * 8)) % FRAGMENT_BYTES);
}

static void make_fragment(const deal *of, int number, unsigned char *data)
{
    uint64_t word = of->key + (uint64_t)number * UINT64_C(0x9E3779B97F4A7C15);
    size_t bytes = fragment_bytes(of, number), i;
    for (i = 0; i < bytes; i++)
        data[i] = (unsigned char)(word >> (i % 8 * 8)) ^ (unsigned char)i;
}

static bool is_fragment(const deal *of, int number, const unsigned char *data)
{
    unsigned char expected[FRAGMENT_BYTES];
    make_fragment(of, number, expected);
    return memcmp(expected, data, fragment_bytes(of, number)) == 0;
}

static void draw_deal(deal *drawn, int server, int favourite, bool is_read)
{
    drawn->server = server;
    drawn->client = draw_one_in(2) ? favourite : (int)draw(0, world.size - 1);
    if (drawn->client == server) /* what a server has itself needs no messages */
        drawn->client = (server + 1) % world.size;
    drawn->is_offer = world.is_mixed ? draw_one_in(2) : is_read;
    drawn->key = test_random_next(&world.random);
    /* An offer may be only news; nobody asks for nothing. */
    drawn->fragment_count = (int)draw(drawn->is_offer ? 0 : 1, MOST_FRAGMENTS);
    drawn->is_asked = drawn->is_cancelled = drawn->is_done = false;
    drawn->begun = drawn->moved = 0;
}

static failing draw_failing(void)
{
    if (!draw_one_in(world.failing_odds))
        return FAILS_NOT;
    return draw_one_in(4) ? FAILS_TO_BEGIN : draw_one_in(3) ? FAILS_SILENTLY : FAILS_ALOUD;
}

static void draw_part(int rank, bool is_read)
{
    part *of = &world.parts[rank];
    int w, i, favourite = (int)draw(0, world.size - 1);
    of->failing = draw_failing();
    of->has_failed_aloud = false;
    of->window_count = world.persons[rank].is_server ? (int)draw(0, world.is_large ? MOST_WINDOWS : 2) : 0;
    of->fails_before = (int)draw(0, of->window_count);
    for (w = 0; w < of->window_count; w++) {
        of->windows[w].delivery_count = (int)draw(0, draw_one_in(world.is_large ? 3 : 12) ? MOST_DELIVERIES : 2);
        for (i = 0; i < of->windows[w].delivery_count; i++)
            draw_deal(&of->windows[w].deals[i], rank, favourite, is_read);
    }
}

static void draw_transfer(void)
{
    bool is_read = draw_one_in(2);
    int rank;
    world.is_mixed = draw_one_in(3);
    world.left_count = 0;
    memset(&world.figures, 0, sizeof world.figures);
    world.network.delivered_data = world.network.delivered_bytes = 0;
    for (rank = 0; rank < world.size; rank++)
        draw_part(rank, is_read);
}

/* ---- The client ---- */

static bool begin(void *context, int answer, const pp_pull_request *request)
{
    person *who = context;
    reply *mine = &who->replies[answer];
    const part *server = &world.parts[request->words[1]];
    demand(request->words[0] == who->transfer && request->words[PP_REQUEST_WORDS - 1] == ~request->words[0],
           "a request of another transfer is answered");
    demand(request->words[2] < server->window_count, "a request says what nobody asked");
    mine->of = &world.parts[request->words[1]].windows[request->words[2]].deals[request->words[3]];
    mine->next = 0;
    demand(mine->of->client == who->rank && mine->of->is_asked, "a request comes to the wrong rank");
    mine->of->begun++;
    return mine->of->fragment_count > 0;
}

static unsigned char *choose_memory(reply *mine, void *buffer)
{
    return draw_one_in(2) ? mine->own : buffer;
}

static bool pack(void *context, int answer, void *buffer, pp_fragment *fragment)
{
    reply *mine = &((person *)context)->replies[answer];
    if (mine->next == mine->of->fragment_count)
        return false;
    fragment->data = choose_memory(mine, buffer);
    fragment->bytes = fragment_bytes(mine->of, mine->next);
    make_fragment(mine->of, mine->next++, fragment->data);
    mine->of->moved++;
    return true;
}

static bool place(void *context, int answer, void *buffer, pp_fragment *fragment)
{
    reply *mine = &((person *)context)->replies[answer];
    if (mine->next == mine->of->fragment_count)
        return false;
    fragment->data = choose_memory(mine, buffer);
    fragment->bytes = fragment_bytes(mine->of, mine->next++);
    mine->placed = *fragment;
    return true;
}

static void unpack(void *context, int answer)
{
    reply *mine = &((person *)context)->replies[answer];
    demand(is_fragment(mine->of, mine->next - 1, mine->placed.data), "a client gets wrong bytes");
    mine->of->moved++;
}

/* ---- The server ---- */

static void ask_window(person *who, slot *in, window *of)
{
    int s = (int)(in - who->slots), i, f;
    in->of = of;
    for (i = 0; i < of->delivery_count; i++) {
        deal *wanted = &of->deals[i];
        pp_delivery *delivery = &in->deliveries[i];
        delivery->rank = wanted->client;
        /* A tag means one direction: data to a rank as its client and as its server must not meet. */
        delivery->tag = wanted->tag = (s * MOST_DELIVERIES + i) * 2 + wanted->is_offer;
        delivery->is_offer = wanted->is_offer;
        delivery->request.words[0] = who->transfer;
        delivery->request.words[1] = who->rank;
        delivery->request.words[2] = of - world.parts[who->rank].windows;
        delivery->request.words[3] = i;
        delivery->request.words[PP_REQUEST_WORDS - 1] = ~delivery->request.words[0];
        delivery->fragments = in->fragments[i];
        delivery->fragment_count = wanted->fragment_count;
        delivery->moves = in->moves[i];
        for (f = 0; f < wanted->fragment_count; f++) {
            in->fragments[i][f] = (pp_fragment){in->data[i][f], fragment_bytes(wanted, f)};
            if (wanted->is_offer)
                make_fragment(wanted, f, in->data[i][f]);
        }
        wanted->is_asked = true;
        pp_pull_ask(who->pull, delivery);
    }
}

static void check_delivery(const pp_delivery *delivery, deal *wanted, slot *in, int number)
{
    int f;
    wanted->is_done = true;
    wanted->is_cancelled = delivery->is_cancelled;
    for (f = 0; f < wanted->fragment_count && !delivery->is_cancelled && !wanted->is_offer; f++)
        demand(is_fragment(wanted, f, in->data[number][f]), "a server gets wrong bytes");
}

static bool finish_window(slot *in)
{
    int i;
    for (i = 0; i < in->of->delivery_count; i++)
        if (in->deliveries[i].state != PP_DELIVERY_DONE)
            return false;
    for (i = 0; i < in->of->delivery_count; i++)
        check_delivery(&in->deliveries[i], &in->of->deals[i], in, i);
    in->of = NULL;
    return true;
}

static bool fail_now(person *who)
{
    part *mine = &world.parts[who->rank];
    if (who->has_failed || mine->failing < FAILS_SILENTLY || who->next_window < mine->fails_before)
        return false;
    who->has_failed = true;
    if (mine->failing == FAILS_ALOUD) {
        mine->has_failed_aloud = true;
        pp_pull_abort(who->pull);
        if (draw_one_in(3))
            pp_pull_abort(who->pull);
    }
    return true;
}

/* Fails, finishes windows and begins new ones; true: it did something. */
static bool serve(person *who)
{
    part *mine = &world.parts[who->rank];
    bool is_any = fail_now(who);
    int s;
    for (s = 0; s < who->slot_count; s++) {
        slot *in = &who->slots[s];
        if (in->of != NULL)
            is_any = finish_window(in) || is_any;
        if (in->of != NULL || who->has_failed || pp_pull_is_aborted(who->pull) ||
            who->next_window == mine->window_count)
            continue;
        ask_window(who, in, &mine->windows[who->next_window++]);
        is_any = true;
    }
    return is_any;
}

static bool has_served(const person *who)
{
    bool has_more = who->next_window < world.parts[who->rank].window_count;
    int s;
    for (s = 0; s < who->slot_count; s++)
        if (who->slots[s].of != NULL)
            return false;
    return pp_pull_is_idle(who->pull) && (!has_more || who->has_failed || pp_pull_is_aborted(who->pull)) &&
           (who->has_failed || world.parts[who->rank].failing < FAILS_SILENTLY || pp_pull_is_aborted(who->pull));
}

/* ---- Agreements ---- */

static void join(person *who, parapet_status status)
{
    pp_verdict *mine = &who->verdicts[who->endpoint.round % 2];
    mine->least = draw(-5, 5);
    mine->common = (uint64_t)draw(0, 255) | (uint64_t)draw(0, 255);
    mine->told[0] = draw(-5, 5);
    mine->told[1] = who->rank;
    mine->digest = draw_one_in(20) ? 2 : 1;
    mine->failed_rank = status != PARAPET_OK ? who->rank : -1;
    mine->status = status;
    mine->differing_rank = -1;
    mine->call_rank = who->rank;
    mine->call[0] = (char)('a' + who->rank);
    mine->sentence[0] = (char)('A' + who->rank);
    pp_endpoint_join(&who->endpoint, mine);
}

/* Everybody has said something; some may have begun to say the next thing. */
static void check_verdict(const pp_endpoint *endpoint)
{
    const pp_verdict *all = &endpoint->verdict;
    int rank, failed = -1, differing = -1, round = (int)((endpoint->round - 1) % 2);
    int64_t least = INT64_MAX;
    uint64_t common = UINT64_MAX;
    for (rank = world.size - 1; rank >= 0; rank--) {
        const pp_verdict *said = &world.persons[rank].verdicts[round];
        least = said->least < least ? said->least : least;
        common &= said->common;
        failed = said->failed_rank >= 0 ? rank : failed;
        differing = said->digest != world.persons[0].verdicts[round].digest ? rank : differing;
    }
    demand(all->least == least, "an agreement has another smallest value");
    demand(all->common == common, "an agreement has other common bits");
    demand(all->told[0] == world.persons[0].verdicts[round].told[0] && all->told[1] == 0,
           "an agreement tells something else than rank 0 said");
    demand(all->failed_rank == failed, "an agreement names another rank as the lowest that failed");
    demand(failed < 0 ||
               (all->status == world.persons[failed].verdicts[round].status && all->sentence[0] == 'A' + failed),
           "an agreement has another status or sentence");
    demand(all->differing_rank == differing, "an agreement names another rank as the lowest that differs");
    demand(differing < 0 || all->differing_call[0] == 'a' + differing, "an agreement has another differing call");
}

/* ---- What holds after a transfer ---- */

static void check_deal(const deal *of, int64_t *fragments, int64_t *controls)
{
    if (!of->is_asked)
        return;
    world.deals++;
    world.cancelled += of->is_cancelled;
    demand(of->is_done, "a delivery never ends");
    demand(of->begun == (of->is_cancelled ? 0 : 1), "a request is lost or doubled");
    demand(of->moved == (of->is_cancelled ? 0 : of->fragment_count), "a fragment is lost or doubled");
    if (of->is_cancelled)
        return;
    *fragments += of->fragment_count;
    *controls += !of->is_offer ? 1 : of->fragment_count == 0 ? 2 : 1 + of->fragment_count;
}

static void check_transfer(bool has_failed)
{
    int64_t fragments = 0, controls = 0;
    int rank, w, i;
    for (rank = 0; rank < world.size; rank++) {
        part *of = &world.parts[rank];
        demand(has_failed || world.persons[rank].next_window == of->window_count, "a window was left out");
        for (w = 0; w < of->window_count; w++)
            for (i = 0; i < of->windows[w].delivery_count; i++) {
                demand(has_failed || (of->windows[w].deals[i].is_asked && !of->windows[w].deals[i].is_cancelled),
                       "a delivery was cancelled and nobody failed");
                check_deal(&of->windows[w].deals[i], &fragments, &controls);
            }
    }
    demand(world.figures.data_messages == fragments && world.figures.control_messages == controls,
           "the figures count other messages");
    demand(world.network.delivered_data == fragments && world.figures.data_bytes == world.network.delivered_bytes,
           "data was sent and not received");
    world.failures += has_failed;
}

/* By the time that a rank knows the end it has been told of the failure: ABORT goes before REPORT and RESULT. */
static void check_was_told(const person *who)
{
    int rank;
    bool is_aloud = false;
    for (rank = 0; rank < world.size; rank++)
        is_aloud |= world.parts[rank].has_failed_aloud;
    world.late_aborts += who->was_aborted != is_aloud;
    demand(who->was_aborted == is_aloud || world.has_late_abort, "a rank was not told that another failed");
}

/* ---- The life of a rank ---- */

static void start_transfer(person *who)
{
    pp_pull_options options = {&who->endpoint, &who->budget, FRAGMENT_BYTES, {who, begin, pack, place, unpack}};
    assert_ok(pp_pull_build(&who->pull, &options));
    who->slot_count = (int)draw(1, MOST_SLOTS);
    who->next_window = 0;
    who->phase = SERVES;
}

static void leave_transfer(person *who, bool has_failed)
{
    pp_pull_figures mine;
    if (who->pull != NULL) {
        mine = pp_pull_get_figures(who->pull);
        world.figures.control_messages += mine.control_messages;
        world.figures.data_messages += mine.data_messages;
        world.figures.data_bytes += mine.data_bytes;
        pp_pull_free(who->pull);
        who->pull = NULL;
        demand(pp_budget_peak(&who->budget) <= BUDGET_BYTES && pp_budget_used(&who->budget) == 0,
               "a budget is exceeded, or not given back");
    }
    demand(who->endpoint.request_count == 0, "a request still waits after the end");
    who->transfer++;
    who->phase = ASLEEP;
    world.awake_count--;
    if (++world.left_count < world.size)
        return;
    check_transfer(has_failed);
    draw_transfer();
}

static void wake(person *who)
{
    bool is_last = who->transfer == world.transfer_count;
    who->has_failed = who->was_aborted = false;
    world.awake_count++;
    who->phase = is_last ? LEAVES : BEGINS;
    join(who, !is_last && world.parts[who->rank].failing == FAILS_TO_BEGIN ? PARAPET_ERR_ARGUMENT : PARAPET_OK);
}

static void finish_begin(person *who)
{
    check_verdict(&who->endpoint);
    if (who->endpoint.verdict.failed_rank >= 0)
        leave_transfer(who, true);
    else
        start_transfer(who);
}

static void step_agreement(person *who)
{
    if (who->pull != NULL)
        (void)pp_pull_progress(who->pull);
    else
        (void)pp_endpoint_progress(&who->endpoint);
    who->was_aborted |= pp_endpoint_is_aborted(&who->endpoint);
    if (!pp_endpoint_is_agreed(&who->endpoint))
        return;
    world.network.calls++;
    if (who->phase == BEGINS) {
        finish_begin(who);
    } else {
        check_verdict(&who->endpoint);
        if (who->phase == ENDS)
            check_was_told(who);
        world.gone_count += who->phase == LEAVES;
        who->phase = who->phase == ENDS ? DRAINS : GONE;
    }
}

static void step_server(person *who)
{
    (void)pp_pull_progress(who->pull);
    who->was_aborted |= pp_endpoint_is_aborted(&who->endpoint);
    if (serve(who))
        world.network.calls++;
    if (!has_served(who))
        return;
    join(who, who->has_failed ? PARAPET_ERR_IO : PARAPET_OK);
    world.network.calls++;
    who->phase = ENDS;
}

/* MPI may need what was sent for longer than the receiver needs to get it. */
static void step_drain(person *who)
{
    if (pp_pull_is_answering(who->pull))
        (void)pp_pull_progress(who->pull);
    if (pp_pull_is_answering(who->pull))
        return;
    world.network.calls++;
    leave_transfer(who, who->endpoint.verdict.failed_rank >= 0);
}

static void note_late_aborts(const person *who)
{
    int i;
    for (i = 0; i <= PP_TREE_WIDTH; i++)
        world.has_late_abort |= who->endpoint.neighbours[i].wants_abort;
}

static void step_rank(person *who)
{
    switch (who->phase) {
    case BEGINS:
    case ENDS:
    case LEAVES:
        step_agreement(who);
        break;
    case SERVES:
        step_server(who);
        break;
    case DRAINS:
        step_drain(who);
        break;
    case ASLEEP:
    case GONE:
        return;
    }
    demand(who->endpoint.request_count <= who->endpoint.request_capacity,
           "more requests wait than there is room for");
    note_late_aborts(who);
}

/* ---- The world ---- */

/* Every control message that is sent: credits, and nothing is asked for after a failure is known. */
static void watch_control(int source, int target, const pp_control *control)
{
    const person *who = &world.persons[source];
    int s, i, under_way = 0;
    if (control->kind != PP_CONTROL_REQUEST && control->kind != PP_CONTROL_OFFER)
        return;
    demand(!who->was_aborted && !pp_endpoint_is_aborted(&who->endpoint),
           "a rank asks although it knows of a failure");
    for (s = 0; s < who->slot_count; s++)
        for (i = 0; who->slots[s].of != NULL && i < who->slots[s].of->delivery_count; i++)
            under_way +=
                who->slots[s].deliveries[i].rank == target && who->slots[s].deliveries[i].state == PP_DELIVERY_ASKED;
    demand(under_way <= PP_PULL_CREDITS, "more requests with one client than there are credits");
}

static void start_rank(int rank)
{
    person *who = &world.persons[rank];
    who->rank = rank;
    who->phase = ASLEEP;
    who->transfer = 0;
    who->is_slow = draw_one_in(6);
    who->is_server = rank < world.server_count;
    pp_budget_init(&who->budget, BUDGET_BYTES);
    pp_endpoint_init(&who->endpoint, &world.network.wires[rank].wire);
    assert_ok(pp_endpoint_allow_requests(&who->endpoint, (size_t)world.server_count * PP_PULL_CREDITS));
}

static void start_world(uint64_t seed)
{
    int rank, i;
    world.seed = seed;
    world.random.state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    world.is_large = draw_one_in(20);
    world.size = (int)draw(2, world.is_large || draw_one_in(8) ? SIM_MOST_RANKS : 4);
    world.server_count = (int)draw(1, world.size);
    world.transfer_count = (int)draw(1, world.is_large ? MOST_TRANSFERS : 2);
    world.rank_share = draw_one_in(4) ? 8 : draw_one_in(4) ? 90 : draw(20, 75);
    world.failing_odds = draw_one_in(12) ? 3 : 5 * world.size;
    world.has_late_abort = false;
    world.awake_count = world.gone_count = 0;
    world.steps = 0;
    sim_restart(&world.network, world.size, draw_one_in(6) ? (unsigned)draw(1, 6) : 0);
    for (rank = 0; rank < world.size; rank++)
        start_rank(rank);
    for (i = 0; i < world.size; i++) { /* servers are any ranks */
        int other = (int)draw(i, world.size - 1);
        bool kept = world.persons[i].is_server;
        world.persons[i].is_server = world.persons[other].is_server;
        world.persons[other].is_server = kept;
    }
    draw_transfer();
}

/* Nothing is under way: every rank is woken and tried, and one of them must move. */
static void step_all(void)
{
    int64_t before = world.network.calls;
    int rank, awake = world.awake_count;
    for (rank = 0; rank < world.size; rank++)
        step_rank(&world.persons[rank]);
    if (world.network.calls != before || sim_can_move(&world.network))
        return;
    for (rank = 0; rank < world.size; rank++)
        if (world.persons[rank].phase == ASLEEP) {
            wake(&world.persons[rank]);
            return;
        }
    demand(awake != world.awake_count, "deadlock: nothing can move");
}

static void step_one(void)
{
    person *who = &world.persons[draw(0, world.size - 1)];
    if (who->is_slow && !draw_one_in(16))
        return;
    if (who->phase != ASLEEP)
        step_rank(who);
    else if (draw_one_in(8))
        wake(who);
}

static void end_world(void)
{
    int rank, i;
    while (sim_can_move(&world.network))
        sim_move(&world.network, &world.random);
    for (rank = 0; rank < world.size; rank++) {
        person *who = &world.persons[rank];
        pp_wire *wire = who->endpoint.wire;
        for (i = 0; i <= PP_TREE_WIDTH; i++) {
            pp_neighbour *next = &who->endpoint.neighbours[i];
            demand(wire->ops->is_over(wire, &next->verdict.request) && wire->ops->is_over(wire, &next->abort.request),
                   "a message of an agreement never leaves");
        }
        demand(world.network.wires[rank].arrived.first == NULL, "a message is left after the last agreement");
        pp_endpoint_clear(&who->endpoint);
    }
    demand(world.network.send_count == 0 && world.network.receive_count == 0, "something is under way after the end");
}

static void run_world(uint64_t seed)
{
    start_world(seed);
    while (world.gone_count < world.size) {
        demand(++world.steps < MOST_STEPS, "it does not end");
        if (!sim_can_move(&world.network) && draw_one_in(4))
            step_all();
        else if (sim_can_move(&world.network) && draw(1, 100) > world.rank_share)
            sim_move(&world.network, &world.random);
        else
            step_one();
    }
    end_world();
}

static int64_t run_count = QUICK_COUNT;

static void test_protocol__any_interleaving_ends_and_loses_nothing(void **state)
{
    const char *text = getenv("PARAPET_TEST_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : UINT64_C(20261115);
    int64_t i, steps = 0;
    (void)state;
    printf("seed %llu and the following\n", (unsigned long long)seed);
    sim_init(&world.network, broken, watch_control);
    for (i = 0; i < run_count; i++) {
        run_world(seed + (uint64_t)i);
        steps += world.steps;
    }
    printf(
        "%lld interleavings, %lld steps, %lld deliveries (%lld cancelled), %lld failed transfers, %lld late aborts\n",
        (long long)i, (long long)steps, (long long)world.deals, (long long)world.cancelled, (long long)world.failures,
        (long long)world.late_aborts);
    demand(run_count < 1000 || (world.cancelled > 0 && world.failures > 0), "nothing ever failed");
    assert_int_equal(pp_memory_live_count(), 0);
}

/* ---- What chance seldom shows: an ABORT that MPI holds back for long ---- */

static pp_endpoint pair[2];

static void watch_nothing(int source, int target, const pp_control *control)
{
    (void)source;
    (void)target;
    (void)control;
}

static void start_pair(void)
{
    int rank;
    sim_init(&world.network, broken, watch_nothing);
    sim_restart(&world.network, 2, 0);
    for (rank = 0; rank < 2; rank++)
        pp_endpoint_init(&pair[rank], &world.network.wires[rank].wire);
}

/* Everything arrives; everything but ABORT is acknowledged too. */
static void move_all(void)
{
    int i = 0;
    while (world.network.movable_count > 0)
        sim_deliver(&world.network, world.network.movable[0]);
    while (i < world.network.pending_count)
        if (world.network.pending[i]->copy.control.kind == PP_CONTROL_ABORT)
            i++;
        else
            sim_acknowledge(&world.network, world.network.pending[i]);
}

static void agree_pair(void)
{
    static const pp_verdict fine = {.failed_rank = -1, .differing_rank = -1};
    int rank, tries, agreed = 0;
    for (rank = 0; rank < 2; rank++)
        pp_endpoint_join(&pair[rank], &fine);
    for (tries = 0; tries < 8 && agreed != 3; tries++)
        for (rank = 0; rank < 2; rank++) {
            move_all();
            (void)pp_endpoint_progress(&pair[rank]);
            agreed |= pp_endpoint_is_agreed(&pair[rank]) << rank;
        }
    assert_int_equal(agreed, 3);
}

static void test_station__an_abort_is_not_sent_after_its_round(void **state)
{
    (void)state;
    start_pair();
    pp_endpoint_abort(&pair[1]);
    agree_pair();
    pp_endpoint_abort(&pair[1]); /* has to wait for the one before */
    agree_pair();
    assert_int_equal(world.network.pending_count, 1);
    sim_acknowledge(&world.network, world.network.pending[0]);
    (void)pp_endpoint_progress(&pair[1]);
    assert_int_equal(world.network.pending_count, 0);
}

static void test_station__an_abort_of_an_old_round_undoes_nothing(void **state)
{
    static pp_wire_message late;
    (void)state;
    start_pair();
    agree_pair();
    pp_endpoint_abort(&pair[0]);
    late.control.kind = PP_CONTROL_ABORT;
    late.control.round = 1;
    late.request.is_active = false;
    sim_send_control(pair[1].wire, 0, &late);
    move_all();
    assert_true(pp_endpoint_progress(&pair[0]));
    assert_true(pp_endpoint_is_aborted(&pair[0]));
    assert_false(pp_endpoint_is_aborted(&pair[1])); /* nobody has told it yet */
    assert_true(pp_endpoint_progress(&pair[1]));
    assert_true(pp_endpoint_is_aborted(&pair[1]));
}

/* Rank 0 has failed, and waits for rank 1 in vain: both learn of the failure, and that they are out of step. */
static void test_station__whoever_is_late_is_told_beside_another_failure(void **state)
{
    static const pp_verdict fine = {.failed_rank = -1, .differing_rank = -1};
    static const pp_verdict failed = {
        .failed_rank = 0, .differing_rank = -1, .status = PARAPET_ERR_IO, .sentence = "no space"};
    int rank;
    (void)state;
    start_pair();
    pp_endpoint_join(&pair[0], &failed);
    pp_endpoint_give_up(&pair[0], PARAPET_ERR_TIMEOUT, "rank 1 did not arrive");
    assert_true(pp_endpoint_is_agreed(&pair[0]));
    pp_endpoint_join(&pair[1], &fine);
    move_all();
    (void)pp_endpoint_progress(&pair[1]);
    assert_true(pp_endpoint_is_agreed(&pair[1]));
    for (rank = 0; rank < 2; rank++) {
        assert_int_equal(pair[rank].verdict.status, PARAPET_ERR_IO);
        assert_string_equal(pair[rank].verdict.sentence, "no space");
        assert_true(pair[rank].verdict.is_late);
    }
}

/* What a rank below says of an exchange that it has given up reaches everybody. */
static void test_station__whoever_was_late_below_is_known_above(void **state)
{
    static const pp_verdict fine = {.failed_rank = -1, .differing_rank = -1};
    static const pp_verdict late = {
        .failed_rank = 1, .differing_rank = -1, .status = PARAPET_ERR_IO, .is_late = true};
    (void)state;
    start_pair();
    pp_endpoint_join(&pair[1], &late);
    assert_false(pp_endpoint_is_agreed(&pair[1]));
    pp_endpoint_join(&pair[0], &fine);
    move_all();
    (void)pp_endpoint_progress(&pair[0]);
    assert_true(pp_endpoint_is_agreed(&pair[0]));
    assert_true(pair[0].verdict.is_late);
}

static pp_verdict missed(int by, int missing)
{
    pp_verdict verdict = {.failed_rank = PP_RANK_UNKNOWN,
                          .differing_rank = -1,
                          .status = PARAPET_ERR_TIMEOUT,
                          .is_late = true,
                          .missing_rank = missing,
                          .missed_by = by};
    (void)snprintf(verdict.sentence, sizeof verdict.sentence, "rank %d did not answer", missing);
    return verdict;
}

static void check_missing(pp_verdict below, pp_verdict above, const char *sentence)
{
    start_pair();
    pp_endpoint_join(&pair[1], &below);
    assert_false(pp_endpoint_is_agreed(&pair[1]));
    pp_endpoint_join(&pair[0], &above);
    move_all();
    (void)pp_endpoint_progress(&pair[0]);
    assert_true(pp_endpoint_is_agreed(&pair[0]));
    assert_string_equal(pair[0].verdict.sentence, sentence);
    assert_true(pair[0].verdict.is_late);
}

/* Of several ranks that waited for one another, the one is named that waited for nobody. */
static void test_station__the_end_of_a_chain_of_waiting_ranks_is_named(void **state)
{
    pp_verdict other = {.failed_rank = 1, .differing_rank = -1, .status = PARAPET_ERR_IO, .sentence = "no space"};
    (void)state;
    check_missing(missed(1, 2), missed(0, 1), "rank 2 did not answer");
    check_missing(missed(1, 0), missed(0, 2), "rank 2 did not answer");
    check_missing(missed(1, 2), missed(0, -1), "rank 2 did not answer"); /* who gave up an exchange knows nobody */
    check_missing(missed(1, -1), missed(0, 2), "rank 2 did not answer");
    check_missing(other, missed(0, 1), "no space");
}

static pp_verdict refused(int rank, uint64_t enough)
{
    pp_verdict verdict = {.failed_rank = rank,
                          .differing_rank = -1,
                          .status = PARAPET_ERR_MEMORY,
                          .is_late = true,
                          .missing_rank = -1,
                          .enough = enough};
    (void)snprintf(verdict.sentence, sizeof verdict.sentence, "set it to %d", (int)enough);
    return verdict;
}

/* Of several refusals of memory, the one is told that needs most, or else the lower rank could be served, and the
 * other one would refuse. What no limit would mend comes first. */
static void test_station__the_largest_limit_that_is_named_is_told(void **state)
{
    pp_verdict other = {.failed_rank = 1, .differing_rank = -1, .is_late = true, .sentence = "no space"};
    (void)state;
    check_missing(refused(1, 7), refused(0, 5), "set it to 7");
    check_missing(refused(1, 5), refused(0, 7), "set it to 7");
    check_missing(refused(1, 7), refused(0, 0), "set it to 0");
    check_missing(other, refused(0, 7), "no space");
    check_missing(refused(1, 7), missed(0, 1), "set it to 7");
    other.status = PARAPET_ERR_TIMEOUT; /* it gave up itself */
    check_missing(other, refused(0, 7), "set it to 7");
}

/* What somebody knows who waited for data is not replaced by whom an agreement waits for. */
static void test_station__who_was_missed_is_known_better_than_who_did_not_arrive(void **state)
{
    pp_verdict known = missed(0, 3), unknown = missed(0, -1);
    (void)state;
    start_pair();
    pp_endpoint_join(&pair[0], &known);
    pp_endpoint_give_up(&pair[0], PARAPET_ERR_TIMEOUT, "rank 1 did not arrive");
    assert_string_equal(pair[0].verdict.sentence, "rank 3 did not answer");
    start_pair();
    pp_endpoint_join(&pair[0], &unknown);
    pp_endpoint_give_up(&pair[0], PARAPET_ERR_TIMEOUT, "rank 1 did not arrive");
    assert_string_equal(pair[0].verdict.sentence, "rank 1 did not arrive");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_station__the_end_of_a_chain_of_waiting_ranks_is_named),
        cmocka_unit_test(test_station__the_largest_limit_that_is_named_is_told),
        cmocka_unit_test(test_station__who_was_missed_is_known_better_than_who_did_not_arrive),
        cmocka_unit_test(test_station__whoever_is_late_is_told_beside_another_failure),
        cmocka_unit_test(test_station__whoever_was_late_below_is_known_above),
        cmocka_unit_test(test_station__an_abort_is_not_sent_after_its_round),
        cmocka_unit_test(test_station__an_abort_of_an_old_round_undoes_nothing),
        cmocka_unit_test(test_protocol__any_interleaving_ends_and_loses_nothing),
    };
    if (argc > 1)
        run_count = strcmp(argv[1], "soak") == 0 ? SOAK_COUNT : strtoll(argv[1], NULL, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
