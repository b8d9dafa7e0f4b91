#include "transfer/assign.h"

#include <stdlib.h>
#include <string.h>

#include "base/ranks.h"
#include "base/status.h"
#include "comm/exchange.h"
#include "plan/proposals.h"
#include "plan/self_service.h"

int pp_session_server(const pp_session *session)
{
    return pp_ranks_find(session->team->servers, session->team->server_count, session->rank);
}

/* ---- Slips: a few numbers on their way to a server ---- */

enum { SLIP_WORDS = 5 };

typedef struct slip {
    int64_t server; /* to which it goes; not sent */
    int64_t words[SLIP_WORDS];
} slip;

/* One exchange of slips. */
typedef struct slips {
    const pp_session *session;
    pp_list sent, arrived; /* of slip */
    size_t next;
    pp_failure failure; /* the first failure to keep what came */
} slips;

static slips slips_of(const pp_session *session)
{
    slips made = {.session = session};
    pp_list_init(&made.sent, sizeof(slip), session->budget, "proposals of owners");
    pp_list_init(&made.arrived, sizeof(slip), session->budget, "proposals of owners");
    return made;
}

static void clear_slips(slips *all)
{
    pp_list_clear(&all->sent);
    pp_list_clear(&all->arrived);
}

static int compare_slips(const void *left, const void *right)
{
    const slip *a = left, *b = right;
    return (a->server > b->server) - (a->server < b->server);
}

static bool next_parcel(void *context, int *rank, void *parcel, size_t *bytes)
{
    slips *all = context;
    const size_t row = SLIP_WORDS * sizeof(int64_t);
    const slip *first = all->next < all->sent.count ? pp_list_at(&all->sent, all->next) : NULL;
    if (first == NULL)
        return false;
    for (*bytes = 0; *bytes + row <= PP_PARCEL_BYTES && all->next < all->sent.count; all->next++) {
        const slip *one = pp_list_at(&all->sent, all->next);
        if (one->server != first->server)
            break;
        memcpy((unsigned char *)parcel + *bytes, one->words, row);
        *bytes += row;
    }
    *rank = all->session->team->servers[first->server];
    if (*rank != all->session->rank)
        all->session->arrays[0].context->counters->description_messages++;
    return true;
}

static void receive_parcel(void *context, int source, const void *parcel, size_t bytes)
{
    slips *all = context;
    const size_t row = SLIP_WORDS * sizeof(int64_t);
    size_t done;
    (void)source;
    for (done = 0; done + row <= bytes && all->failure.status == PARAPET_OK; done += row) {
        slip one = {0};
        memcpy(one.words, (const unsigned char *)parcel + done, row);
        pp_failure_take(&all->failure, pp_list_add(&all->arrived, &one));
    }
}

/* [collective] Sends what there is and keeps what comes; a rank that failed before sends nothing. */
static parapet_status exchange_slips(slips *all, parapet_status before)
{
    pp_failure_take(&all->failure, before);
    if (before == PARAPET_OK)
        pp_failure_take(&all->failure, pp_list_sort(&all->sent, compare_slips));
    if (all->failure.status != PARAPET_OK)
        pp_list_clear(&all->sent);
    pp_failure_take(&all->failure,
                    pp_comm_exchange(all->session->team->comm,
                                     &(pp_exchange){.context = all, .next = next_parcel, .receive = receive_parcel}));
    pp_list_clear(&all->sent);
    return pp_failure_put(&all->failure);
}

/* ---- Proposing ---- */

/* What one rank knows while owners are being fixed. */
typedef struct table {
    const pp_session *session;
    int server;           /* index of this rank; -1: it is none */
    pp_list own;          /* the shards of this home, by target and shard */
    pp_list asked;        /* those that are proposed to this server */
    pp_fair_share fair;   /* what servers may be given */
    int64_t given;        /* to this server so far, in bytes */
    pp_left left;         /* shards of this home that have no owner */
    int64_t bytes, moves; /* of the shards of this home; how many of them are proposed to others */
    int64_t crossing;     /* how many of them are wanted elsewhere, at least in part; later of all homes */
    int64_t unfit;        /* 0: as far as this home can tell, every rank can read its parts itself */
    int64_t excess;       /* unless they read too much: of this home, as in self_service.h */
} table;

/* Only reads, and only where shards go to those who want them: other owners have reasons of their own, such as chunks
 * that they keep, weights, or that they can be relieved. */
static bool may_serve_own(const pp_session *session)
{
    return session->direction == PP_READING && !session->team->takes;
}

static parapet_status list_own(table *of, const pp_view *home)
{
    const pp_owner_case owner_case = {.plan = &home->plan,
                                      .list = &home->list,
                                      .servers = of->session->team->servers,
                                      .server_count = of->session->team->server_count,
                                      .home = of->server};
    parapet_status status = pp_list_reserve(&of->own, pp_worklist_group_count(&home->list));
    size_t first, end;
    for (first = 0; first < home->list.count && status == PARAPET_OK; first = end) {
        pp_proposal proposal;
        end = pp_worklist_group_end(&home->list, first);
        pp_owner_propose(&owner_case, of->session->team->owners, first, end, &proposal);
        of->bytes += proposal.load_bytes;
        of->moves += proposal.server != proposal.home;
        of->crossing += proposal.server != proposal.home || proposal.held_bytes < proposal.load_bytes;
        if (of->unfit == 0)
            of->unfit = !pp_self_service_fits(&owner_case, first, end, &of->excess);
        status = pp_list_add(&of->own, &proposal);
    }
    return status;
}

static parapet_status find_overlap(table *of, const pp_view *home)
{
    bool is_disjoint;
    parapet_status status = pp_worklist_is_disjoint(&home->list, &home->plan, &is_disjoint);
    of->unfit = !is_disjoint;
    return status;
}

/* What a server proposes to itself need not travel. */
static parapet_status write_proposals(table *of, slips *post)
{
    parapet_status status = pp_list_reserve(&post->sent, (size_t)of->moves);
    size_t i;
    for (i = 0; i < of->own.count && status == PARAPET_OK; i++) {
        const pp_proposal *one = pp_list_at(&of->own, i);
        if (one->server == one->home)
            status = pp_list_add(&of->asked, one);
        else
            status = pp_list_add(
                &post->sent,
                &(slip){one->server, {one->target, one->shard, one->load_bytes, one->held_bytes, one->home}});
    }
    return status;
}

static parapet_status read_proposals(table *of, const slips *post)
{
    parapet_status status = pp_list_reserve(&of->asked, post->arrived.count);
    size_t i;
    for (i = 0; i < post->arrived.count && status == PARAPET_OK; i++) {
        const int64_t *words = ((const slip *)pp_list_at(&post->arrived, i))->words;
        status = pp_list_add(&of->asked, &(pp_proposal){.target = (int32_t)words[0],
                                                        .shard = words[1],
                                                        .load_bytes = words[2],
                                                        .held_bytes = words[3],
                                                        .home = (int32_t)words[4],
                                                        .server = of->server,
                                                        .owner = PP_NO_OWNER});
    }
    return status;
}

/* [collective] */
static parapet_status propose(table *of, parapet_status before)
{
    slips post = slips_of(of->session);
    parapet_status status = before == PARAPET_OK ? write_proposals(of, &post) : before;
    if ((status = exchange_slips(&post, status)) == PARAPET_OK)
        status = read_proposals(of, &post);
    clear_slips(&post);
    return status;
}

/* ---- Accepting ---- */

/* The owner of a shard of this home is known. */
static void set_owner(table *of, int64_t target, int64_t shard, int32_t owner)
{
    pp_proposal key = {.target = (int32_t)target, .shard = shard}, *one = NULL;
    if (of->own.count > 0)
        one = bsearch(&key, of->own.rows, of->own.count, of->own.row_bytes, pp_proposal_compare_shards);
    if (one != NULL)
        one->owner = owner;
}

static parapet_status write_answers(table *of, slips *post)
{
    parapet_status status = pp_list_sort(&of->asked, pp_proposal_compare_held);
    size_t i;
    if (status == PARAPET_OK && of->asked.count > 0)
        pp_proposals_accept(pp_list_at(&of->asked, 0), of->asked.count, &of->fair, &of->given);
    for (i = 0; i < of->asked.count && status == PARAPET_OK; i++) {
        const pp_proposal *one = pp_list_at(&of->asked, i);
        if (one->owner != PP_NO_OWNER && one->home == of->server)
            set_owner(of, one->target, one->shard, one->owner);
        else if (one->owner != PP_NO_OWNER)
            status = pp_list_add(&post->sent, &(slip){one->home, {one->target, one->shard, one->owner}});
    }
    return status;
}

static void read_answers(table *of, const slips *post)
{
    size_t i;
    for (i = 0; i < post->arrived.count; i++) {
        const int64_t *words = ((const slip *)pp_list_at(&post->arrived, i))->words;
        set_owner(of, words[0], words[1], (int32_t)words[2]);
    }
}

/* [collective] Silence means no. */
static parapet_status answer(table *of, parapet_status before)
{
    slips post = slips_of(of->session);
    parapet_status status = before == PARAPET_OK ? write_answers(of, &post) : before;
    pp_list_clear(&of->asked);
    if ((status = exchange_slips(&post, status)) == PARAPET_OK)
        read_answers(of, &post);
    clear_slips(&post);
    return status;
}

/* ---- Dealing out what is left ---- */

/* The first server deals. It learns three numbers of every server, and nothing of shards. */
static parapet_status write_room(const table *of, slips *post)
{
    if (of->server < 0)
        return PARAPET_OK;
    return pp_list_add(&post->sent, &(slip){0, {of->server, of->given, of->left.count, of->left.bytes}});
}

static int compare_rooms(const void *left, const void *right)
{
    const slip *a = left, *b = right;
    return (a->words[0] > b->words[0]) - (a->words[0] < b->words[0]);
}

static parapet_status read_rooms(const slips *post, pp_list *rooms)
{
    parapet_status status = pp_list_reserve(rooms, post->arrived.count);
    size_t i;
    for (i = 0; i < post->arrived.count && status == PARAPET_OK; i++) {
        const int64_t *words = ((const slip *)pp_list_at(&post->arrived, i))->words;
        status = pp_list_add(rooms, &(pp_room){words[0], words[1], {words[2], words[3]}});
    }
    return status;
}

static parapet_status write_deals(const table *of, slips *rooms_post, slips *post)
{
    pp_dealer dealer = {.fair = of->fair};
    pp_list rooms;
    pp_deal deal;
    parapet_status status;
    pp_list_init(&rooms, sizeof(pp_room), post->session->budget, "proposals of owners");
    if ((status = pp_list_sort(&rooms_post->arrived, compare_rooms)) == PARAPET_OK)
        status = read_rooms(rooms_post, &rooms);
    dealer.count = rooms.count;
    dealer.rooms = rooms.count > 0 ? pp_list_at(&rooms, 0) : NULL;
    while (status == PARAPET_OK && pp_dealer_next(&dealer, &deal))
        status = pp_list_add(&post->sent, &(slip){deal.home, {deal.home, deal.server, deal.count}});
    pp_list_clear(&rooms);
    return status;
}

static void read_deals(table *of, const slips *post)
{
    size_t i, next = 0;
    for (i = 0; i < post->arrived.count; i++) {
        const int64_t *words = ((const slip *)pp_list_at(&post->arrived, i))->words;
        pp_deal deal = {.home = words[0], .server = words[1], .count = words[2]};
        pp_proposals_give((pp_proposal *)(void *)of->own.rows, of->own.count, &deal, &next);
    }
}

/* [collective] */
static parapet_status deal_out(table *of, parapet_status before)
{
    slips rooms = slips_of(of->session), deals = slips_of(of->session);
    parapet_status status = before == PARAPET_OK ? write_room(of, &rooms) : before;
    if ((status = exchange_slips(&rooms, status)) == PARAPET_OK)
        status = write_deals(of, &rooms, &deals);
    clear_slips(&rooms);
    if ((status = exchange_slips(&deals, status)) == PARAPET_OK)
        read_deals(of, &deals);
    clear_slips(&deals);
    return status;
}

/* ---- All of it ---- */

/* [collective] Whether there is anything to be moved, and nobody has failed; if so, what servers may be given. */
static parapet_status begin(table *of, parapet_status before, pp_assignment *assignment)
{
    int64_t sums[7] = {
        before != PARAPET_OK, of->bytes, (int64_t)of->own.count, of->moves, of->crossing, of->unfit, of->excess};
    bool is_well;
    pp_failure failure = {0};
    pp_failure_take(&failure, before);
    pp_failure_take(&failure, pp_comm_add_up(of->session->team->comm, sums, 7));
    is_well = failure.status == PARAPET_OK && sums[0] == 0;
    assignment->has_moved = is_well && sums[3] > 0;
    assignment->serves_own = is_well && sums[5] == 0 && sums[6] <= 0;
    of->crossing = sums[4];
    of->fair = pp_fair_share_of(sums[1], sums[2], of->session->team->server_count);
    return pp_failure_put(&failure);
}

/* What this rank holds. */
static int64_t count_held(const pp_session *session)
{
    const pp_claims *claims = &session->own.claims;
    int64_t bytes = 0;
    size_t i;
    for (i = 0; i < claims->list.count; i++) {
        const int64_t *claim = pp_claims_at(claims, i);
        const pp_tiling *tiling = session->targets[claim[PP_CLAIM_TARGET]].tiling;
        pp_box box;
        pp_claim_box(claim, claims->ndim_most, tiling->shards.ndim, &box);
        bytes += pp_box_element_count(&box) * (int64_t)tiling->element_bytes;
    }
    return bytes;
}

/* [collective] No rank is to read more itself than a server may be given. */
static parapet_status weigh(const table *of, parapet_status before, pp_assignment *assignment)
{
    int64_t sums[2] = {before != PARAPET_OK, (double)count_held(of->session) > of->fair.limit_bytes};
    bool is_well;
    pp_failure failure = {0};
    pp_failure_take(&failure, before);
    pp_failure_take(&failure, pp_comm_add_up(of->session->team->comm, sums, 2));
    is_well = failure.status == PARAPET_OK && sums[0] == 0;
    assignment->serves_own = is_well && sums[1] == 0;
    assignment->has_moved = is_well && assignment->has_moved && !assignment->serves_own;
    return pp_failure_put(&failure);
}

/* [collective] Homes keep what nobody accepted, as far as they have room. *is_left: some home could not keep all. If
 * a rank has failed, nothing moves. */
static parapet_status keep(table *of, parapet_status before, bool *is_left, bool *has_moved)
{
    int64_t sums[2] = {before != PARAPET_OK, 0};
    pp_failure failure = {0};
    pp_failure_take(&failure, before);
    if (before == PARAPET_OK && of->own.count > 0)
        of->left = pp_proposals_keep(pp_list_at(&of->own, 0), of->own.count, &of->fair, &of->given);
    sums[1] = of->left.count;
    pp_failure_take(&failure, pp_comm_add_up(of->session->team->comm, sums, 2));
    *has_moved = failure.status == PARAPET_OK && sums[0] == 0;
    *is_left = sums[1] > 0;
    return pp_failure_put(&failure);
}

static parapet_status list_owners(table *of, pp_list *owners)
{
    parapet_status status = pp_list_reserve(owners, of->own.count);
    size_t i;
    if (of->own.count > 0)
        pp_proposals_finish(pp_list_at(&of->own, 0), of->own.count);
    for (i = 0; i < of->own.count && status == PARAPET_OK; i++)
        status = pp_list_add(owners, &((const pp_proposal *)pp_list_at(&of->own, i))->owner);
    return status;
}

parapet_status pp_assignment_init(pp_assignment *assignment, const pp_session *session, const pp_view *home,
                                  parapet_status before)
{
    table of = {.session = session, .server = pp_session_server(session), .unfit = !may_serve_own(session)};
    parapet_status status = before;
    bool is_left = false;
    *assignment = (pp_assignment){.has_moved = false};
    pp_list_init(&assignment->owners, sizeof(int32_t), session->budget, "the owners of shards");
    pp_list_init(&of.own, sizeof(pp_proposal), session->budget, "proposals of owners");
    pp_list_init(&of.asked, sizeof(pp_proposal), session->budget, "proposals of owners");
    if (status == PARAPET_OK)
        status = list_own(&of, home);
    if (status == PARAPET_OK && of.unfit == 0)
        status = find_overlap(&of, home);
    status = begin(&of, status, assignment);
    if (assignment->serves_own && of.crossing > 0)
        status = weigh(&of, status, assignment);
    if (assignment->has_moved) {
        status = answer(&of, propose(&of, status));
        status = keep(&of, status, &is_left, &assignment->has_moved);
    }
    if (assignment->has_moved && is_left)
        status = deal_out(&of, status);
    if (assignment->has_moved && status == PARAPET_OK)
        status = list_owners(&of, &assignment->owners);
    pp_list_clear(&of.own);
    pp_list_clear(&of.asked);
    return status;
}

void pp_assignment_clear(pp_assignment *assignment)
{
    pp_list_clear(&assignment->owners);
}
