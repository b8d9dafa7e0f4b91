/* session.c - the ranks describe to each other who holds what, and owners are fixed: see session.h.
 *
 *     claim_parts     own: the parts of this rank as claims, and the shards that they touch
 *     describe        every claim goes to the home of each shard that it touches (run_mail)
 *     list_homes      served: what has come, as shards
 *     fix_owners      if owners need not be the homes: serve_own, or hand_over with a second run_mail, or neither
 *
 * If all ranks have cached the description of this call (session_cache.h), describe_again takes the place of
 * all four, and tell_news only sends claims whose memory is at another address.
 *
 * Invariants:
 *
 *  1. No rank returns alone between two agreements. Each collective step is given the status so far, and is
 *     entered even after a failure: then it sends nothing, but takes part in the exchange, in which the others
 *     would wait for it.
 *  2. Every rank knows the home of every shard by arithmetic (pp_home_of). That is what lets a claim be sent
 *     without asking, to one server, in one letter, however many shards of that server it touches
 *     (sort_letters).
 *  3. An owner has all claims on its shards, and none on others: a home forgets what it has learned about
 *     shards that others get (hand_over, serve_own).
 *  4. What lists take is checked before they grow, together with all that follows from them (expect), so that a
 *     refusal of memory names a limit that is enough, not one that leads to the next refusal.
 *
 * The option `owners` decides whether shards move: docs/guide/many-ranks.md, "Options". That servers plan
 * from descriptions is Panda's idea; its master, which knows the whole request, is a bottleneck for arbitrary
 * boxes and was not taken over (docs/design/papers.md, 3, note e). docs/design/collective.md, "The life of a
 * collective write". */
#include "transfer/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "comm/exchange.h"
#include "transfer/assign.h"
#include "transfer/memory_plan.h"
#include "transfer/point_transfer.h"
#include "transfer/session_cache.h"

static const pp_tiling *tiling_of(const pp_view *view, size_t work)
{
    return view->plan.targets[view->list.work[work].target].tiling;
}

int64_t pp_view_covered_shard(const pp_view *view, size_t first, size_t end)
{
    int64_t shard = view->list.work[first].shard;
    pp_point_range range;
    pp_box box;
    if (view->picked != NULL) {
        range = pp_point_claims_shard(view->picked, shard);
        return pp_point_claims_count(view->picked, &range);
    }
    pp_tiling_shard_box(tiling_of(view, first), shard, &box);
    return pp_worklist_covered_shard(&view->list, &view->plan, first, end, &box);
}

int64_t pp_view_covered_chunk(const pp_view *view, size_t first, size_t end, int64_t chunk)
{
    int64_t shard = view->list.work[first].shard;
    pp_point_range range;
    pp_box box;
    if (view->picked != NULL) {
        range = pp_point_claims_chunk(view->picked, shard, chunk);
        return pp_point_claims_count(view->picked, &range);
    }
    pp_tiling_chunk_box(tiling_of(view, first), shard, chunk, &box);
    return pp_worklist_covered(&view->list, &view->plan, first, end, chunk, &box);
}

static int ndim_most(const pp_transfer_array *arrays, int count)
{
    int i, most = 0;
    for (i = 0; i < count; i++)
        if (arrays[i].context->layout->tiling.shards.ndim > most)
            most = arrays[i].context->layout->tiling.shards.ndim;
    return most;
}

static parapet_status list_targets(pp_session *session)
{
    int i;
    parapet_status status =
        pp_allocate_array(&session->targets, (size_t)session->array_count, sizeof session->targets[0]);
    for (i = 0; i < session->array_count && status == PARAPET_OK; i++) {
        const pp_transfer_context *context = pp_session_context(session, i);
        session->targets[i] =
            (pp_target){.tiling = &context->layout->tiling,
                        .lattice = context->lattice,
                        .turns = context->turns,
                        .may_read_again = pp_layout_may_read_again(context->layout, context->store)};
    }
    return status;
}

/* Shards of all arrays; INT64_MAX if they cannot be counted. */
static int64_t count_shards(const pp_session *session)
{
    int64_t count = 0;
    int i;
    for (i = 0; i < session->array_count; i++)
        if (!pp_add_fits(count, session->targets[i].tiling->shards.cell_count, &count))
            return INT64_MAX;
    return count;
}

/* The turns of servers with weights: the same for all arrays that have any. */
static const pp_turns *find_turns(const pp_session *session)
{
    int i;
    for (i = 0; i < session->array_count; i++)
        if (session->targets[i].turns != NULL)
            return session->targets[i].turns;
    return NULL;
}

/* ---- What this rank holds ---- */

static void link_view(const pp_session *session, pp_view *view)
{
    view->plan =
        (pp_claim_set){.targets = session->targets, .target_count = session->array_count, .claims = &view->claims};
}

static void init_view(const pp_session *session, pp_view *view, int ndim)
{
    pp_claims_init(&view->claims, ndim, session->budget);
    link_view(session, view);
}

static void init_served(pp_session *session, int ndim)
{
    init_view(session, &session->served, ndim);
    pp_list_init(&session->owned, 2 * sizeof(int64_t), session->budget, "the shards of this owner");
}

/* Rows that lists will get. */
typedef struct list_need {
    int64_t claims, work;
} list_need;

static void add_need(list_need *need, const pp_target *target, const pp_box *box)
{
    pp_box cells;
    pp_grid_cells_of_box(&target->tiling->shards, box, &cells);
    need->claims++;
    if (!pp_add_fits(need->work, pp_box_element_count(&cells), &need->work))
        need->work = INT64_MAX;
}

/* The bytes of the lists that are built next; and of these and all that follow from them. */
static size_t bytes_now(const pp_session *session, const list_need *need)
{
    size_t row = pp_claim_word_count(session->own.claims.ndim_most) * sizeof(int64_t);
    if (need->work > (int64_t)(PP_MEMORY_ENDLESS / sizeof(pp_work)))
        return PP_MEMORY_ENDLESS;
    return (size_t)need->claims * row + (size_t)need->work * sizeof(pp_work);
}

static size_t bytes_in_all(const pp_session *session, const list_need *need)
{
    int servers = session->is_alone ? 1 : session->team->server_count;
    int64_t others = pp_memory_others(session->rank_count, servers, count_shards(session), find_turns(session));
    return pp_memory_list_bytes(session->own.claims.ndim_most, need->claims, need->work, others);
}

/* The least that the transfer will need in addition to its lists, in either direction, with messages of this
 * size. */
static size_t find_least_bytes(const pp_session *session, size_t fragment_bytes)
{
    int ranks = session->is_alone ? 1 : session->rank_count;
    size_t least = 0;
    int i;
    for (i = 0; i < session->array_count && session->team != NULL; i++) {
        const pp_transfer_context *context = pp_session_context(session, i);
        least = pp_max_size(least, pp_memory_least_bytes(context->layout, context->threads, ranks, fragment_bytes));
    }
    if (ranks > 1 && session->team->takes)
        least +=
            pp_memory_stealing_bytes(ndim_most(session->arrays, session->array_count), ranks - 1, fragment_bytes);
    return least;
}

/* What a session has taken, and will take. */
typedef struct session_need {
    const pp_session *session;
    size_t used_bytes, list_bytes;
} session_need;

static size_t bytes_needed(const void *context, size_t fragment_bytes)
{
    const session_need *need = context;
    return need->used_bytes + need->list_bytes + find_least_bytes(need->session, fragment_bytes);
}

/* From now on a refusal of more than these bytes names a limit that is enough for all of it, and for all that
 * was expected before. */
static void expect(pp_session *session, const session_need *need, size_t bytes)
{
    size_t enough = pp_memory_find_limit(bytes_needed, need, session->fragment_bytes);
    session->enough_bytes = pp_max_size(session->enough_bytes, enough);
    pp_budget_expect(session->budget, session->enough_bytes - pp_min_size(bytes, session->enough_bytes));
}

/* Whether there is room for the lists; a refusal names a limit that is enough for all that follows from them,
 * too. */
static parapet_status check_need(pp_session *session, const list_need *need, const char *purpose)
{
    size_t now = bytes_now(session, need), used = pp_budget_used(session->budget);
    session_need all = {session, used, bytes_in_all(session, need)};
    expect(session, &all, used + now);
    return pp_budget_check(session->budget, now, purpose);
}

static void measure_array(list_need *need, const pp_parts *parts, const pp_target *target)
{
    pp_part part;
    int i;
    for (i = 0; i < parts->count; i++) {
        pp_parts_at(parts, i, &part);
        if (!pp_box_is_empty(&part.box))
            add_need(need, target, &part.box);
    }
}

static list_need measure_parts(const pp_session *session)
{
    list_need need = {0};
    int target;
    for (target = 0; target < session->array_count; target++)
        measure_array(&need, session->arrays[target].parts, &session->targets[target]);
    return need;
}

/* Lists that do not fit are refused now, and not when half of them are built. */
static parapet_status reserve_own(pp_session *session)
{
    list_need need = measure_parts(session);
    parapet_status status = check_need(session, &need, "the lists of the parts");
    return status == PARAPET_OK ? pp_list_reserve(&session->own.claims.list, (size_t)need.claims) : status;
}

static parapet_status claim_target(pp_session *session, int target)
{
    int64_t words[PP_CLAIM_GEOMETRY + 3 * PARAPET_MAX_NDIM];
    const pp_parts *parts = session->arrays[target].parts;
    parapet_status status = PARAPET_OK;
    pp_part part;
    int i;
    for (i = 0; i < parts->count && status == PARAPET_OK; i++) {
        pp_parts_at(parts, i, &part);
        if (pp_box_is_empty(&part.box))
            continue;
        pp_claim_write(words, session->own.claims.ndim_most, target, session->rank, i, &part.box, part.data,
                       part.strides);
        status = pp_claims_add(&session->own.claims, words);
    }
    return status;
}

/* What this rank holds, as claims. */
static parapet_status claim_parts(pp_session *session)
{
    parapet_status status = reserve_own(session);
    int target;
    for (target = 0; target < session->array_count && status == PARAPET_OK; target++)
        status = claim_target(session, target);
    if (status == PARAPET_OK)
        status = pp_worklist_build(&session->own.list, &session->own.plan, NULL, NULL, session->budget);
    return status;
}

/* ---- Mail: claims and shards on their way to a server ---- */

typedef enum mail_kind { MAIL_CLAIM, MAIL_SHARD } mail_kind;

typedef struct letter {
    int32_t server;
    int32_t kind;
    int64_t index; /* of the claim, or of the first record of the shard */
} letter;

/* An entry of a parcel is the kind, the identity proof of the rank that holds the claim, and the words of the claim.
 */
enum { PROOF_WORDS = sizeof(pp_identity_proof) / sizeof(int64_t), ENTRY_HEAD_WORDS = 1 + PROOF_WORDS };

typedef struct mail {
    pp_session *session;
    const pp_view *from;
    pp_list letters;
    size_t next;
    pp_peers arrived;   /* the ranks whose claims have come */
    bool is_full;       /* there was no room for a claim that came */
    list_need refused;  /* that claim and all that came after it */
    bool is_news;       /* the claims that come are known, and have new addresses */
    pp_failure failure; /* the first failure to keep what came */
} mail;

static int compare_letters(const void *left, const void *right)
{
    const letter *a = left, *b = right;
    if (a->server != b->server)
        return a->server < b->server ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static mail mail_of(pp_session *session, const pp_view *from)
{
    mail post = {.session = session, .from = from};
    pp_list_init(&post.letters, sizeof(letter), session->budget, "letters to the homes of shards");
    return post;
}

/* A claim that touches many shards of one server goes there once. */
static parapet_status sort_letters(mail *post)
{
    parapet_status status = pp_list_sort(&post->letters, compare_letters);
    if (status == PARAPET_OK)
        pp_list_drop_equal(&post->letters, compare_letters);
    return status;
}

static const letter *next_letter(const mail *post)
{
    return post->next < post->letters.count ? pp_list_at(&post->letters, post->next) : NULL;
}

static void clear_mail(mail *post)
{
    pp_list_clear(&post->letters);
    pp_peers_clear(&post->arrived);
}

static void write_entry(const mail *post, const letter *one, int64_t *entry)
{
    const pp_view *from = post->from;
    size_t words = pp_claim_word_count(from->claims.ndim_most);
    pp_identity_proof proof = {0};
    const int64_t *claim;
    const pp_peer *peer;
    entry[0] = one->kind;
    memset(entry + 1, 0, (PROOF_WORDS + words) * sizeof entry[0]);
    if (one->kind == MAIL_SHARD) {
        entry[ENTRY_HEAD_WORDS] = from->list.work[one->index].target;
        entry[ENTRY_HEAD_WORDS + 1] = from->list.work[one->index].shard;
        return;
    }
    claim = pp_claims_at(&from->claims, (size_t)one->index);
    peer = pp_peers_find(&post->session->peers, (int)claim[PP_CLAIM_RANK]);
    proof = peer != NULL ? peer->proof : pp_identity_proof_of(post->session->team->comm);
    memcpy(entry + 1, &proof, sizeof proof);
    memcpy(entry + ENTRY_HEAD_WORDS, claim, words * sizeof claim[0]);
}

static bool next_parcel(void *context, int *rank, void *parcel, size_t *bytes)
{
    mail *post = context;
    size_t words = ENTRY_HEAD_WORDS + pp_claim_word_count(post->from->claims.ndim_most);
    size_t most = PP_PARCEL_BYTES / (words * sizeof(int64_t)), count = 0;
    const letter *one = next_letter(post);
    int32_t server;
    if (one == NULL)
        return false;
    for (server = one->server; count < most && one != NULL && one->server == server; one = next_letter(post)) {
        write_entry(post, one, (int64_t *)parcel + count++ * words);
        post->next++;
    }
    *rank = post->session->team->servers[server];
    *bytes = count * words * sizeof(int64_t);
    if (*rank != post->session->rank)
        pp_session_context(post->session, 0)->counters->description_messages++;
    return true;
}

/* A claim on the same box as before, at another address. */
static void replace_claim(pp_session *session, const int64_t *claim)
{
    int64_t *known = pp_claims_find(&session->served.claims, claim);
    assert(known != NULL || claim[PP_CLAIM_RANK] == session->rank);
    if (known != NULL)
        memcpy(known, claim, session->served.claims.list.row_bytes);
}

static parapet_status keep_entry(mail *post, const int64_t *entry)
{
    pp_session *session = post->session;
    const int64_t *claim = entry + ENTRY_HEAD_WORDS;
    pp_identity_proof proof;
    parapet_status status;
    if (entry[0] == MAIL_SHARD)
        return pp_list_add(&session->owned, claim);
    if (post->is_news) {
        replace_claim(session, claim);
        return PARAPET_OK;
    }
    memcpy(&proof, entry + 1, sizeof proof);
    if ((status = pp_peers_add(&post->arrived, (int)claim[PP_CLAIM_RANK], &proof)) != PARAPET_OK)
        return status;
    return pp_claims_add(&session->served.claims, claim);
}

/* There was no room for a claim: counts what it would have taken. Each server has its share of the shards of
 * it. */
static void count_refused(mail *post, const int64_t *entry)
{
    const int64_t *claim = entry + ENTRY_HEAD_WORDS;
    const pp_target *target = &post->session->targets[claim[PP_CLAIM_TARGET]];
    list_need need = {0};
    pp_box box;
    if (entry[0] == MAIL_SHARD)
        return;
    pp_claim_box(claim, post->session->own.claims.ndim_most, target->tiling->shards.ndim, &box);
    add_need(&need, target, &box);
    post->refused.claims++;
    post->refused.work += pp_divide_up(need.work, post->session->team->server_count);
}

static void receive_parcel(void *context, int source, const void *parcel, size_t bytes)
{
    mail *post = context;
    size_t words = ENTRY_HEAD_WORDS + pp_claim_word_count(post->session->served.claims.ndim_most);
    size_t i, count = bytes / (words * sizeof(int64_t));
    (void)source;
    for (i = 0; i < count; i++) {
        const int64_t *entry = (const int64_t *)parcel + i * words;
        if (post->failure.status == PARAPET_OK) {
            parapet_status status = keep_entry(post, entry);
            pp_failure_take(&post->failure, status);
            post->is_full = status == PARAPET_ERR_MEMORY;
        }
        if (post->is_full)
            count_refused(post, entry);
    }
}

/* Refuses claims that found no room, with a limit that is enough for all that came and for the lists made of
 * them. */
static parapet_status refuse_claims(const mail *post)
{
    pp_session *session = post->session;
    size_t kept = session->served.claims.list.count;
    list_need all = {.claims = post->refused.claims, .work = post->refused.work + (int64_t)kept};
    return check_need(session, &all, "the claims of all ranks on the shards of this one");
}

/* [collective] Sends what there is and keeps what comes; a rank that failed before sends nothing. */
static parapet_status run_mail(mail *post, parapet_status before)
{
    parapet_status status;
    pp_failure_take(&post->failure, before);
    if (before != PARAPET_OK)
        pp_list_clear(&post->letters);
    /* Even after a failure: the others cannot leave the exchange before this rank has entered it. */
    status = pp_comm_exchange(post->session->team->comm,
                              &(pp_exchange){.context = post, .next = next_parcel, .receive = receive_parcel});
    pp_failure_take(&post->failure, status);
    pp_failure_take(&post->failure, pp_peers_append(&post->session->peers, &post->arrived));
    pp_peers_sort(&post->session->peers);
    if (post->refused.claims > 0 && (status = refuse_claims(post)) != PARAPET_OK) {
        post->failure = (pp_failure){0};
        pp_failure_take(&post->failure, status);
    }
    clear_mail(post);
    return pp_failure_put(&post->failure);
}

/* ---- Describing, and fixing owners ---- */

/* Expects as much as an owner may need that gets all that this home has. */
static void expect_owner(pp_session *session, const pp_view *home)
{
    int64_t claims = (int64_t)home->claims.list.count, work = pp_max_i64(claims, (int64_t)home->list.count);
    session_need all = {.session = session,
                        .list_bytes = pp_memory_list_bytes(home->claims.ndim_most, claims, work, 1)};
    expect(session, &all, pp_budget_used(session->budget));
}

/* A letter with every claim to every home of a shard that it touches. */
static parapet_status address_claims(mail *post)
{
    const pp_session *session = post->session;
    const pp_worklist *list = &session->own.list;
    parapet_status status = pp_list_reserve(&post->letters, list->count);
    size_t i;
    for (i = 0; i < list->count && status == PARAPET_OK; i++) {
        const pp_work *work = &list->work[i];
        int home = pp_home_of(&session->targets[work->target], work->shard, session->team->server_count);
        status = pp_list_add(&post->letters, &(letter){.server = home, .kind = MAIL_CLAIM, .index = work->claim});
    }
    return status == PARAPET_OK ? sort_letters(post) : status;
}

/* [collective] */
static parapet_status describe(pp_session *session, parapet_status before)
{
    mail post = mail_of(session, &session->own);
    parapet_status status = before == PARAPET_OK ? address_claims(&post) : before;
    return run_mail(&post, status);
}

typedef struct home_filter {
    const pp_session *session;
    int server;
} home_filter;

static bool is_home(void *context, int target, int64_t shard)
{
    const home_filter *filter = context;
    return pp_home_of(&filter->session->targets[target], shard, filter->session->team->server_count) ==
           filter->server;
}

static int compare_pairs(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

static bool is_owned(void *context, int target, int64_t shard)
{
    const pp_list *owned = context;
    int64_t pair[2] = {target, shard};
    return owned->count > 0 && bsearch(pair, owned->rows, owned->count, owned->row_bytes, compare_pairs) != NULL;
}

/* All claims have come, some of them several times. */
static parapet_status sort_served(pp_session *session)
{
    parapet_status status;
    if ((status = pp_claims_sort_unique(&session->served.claims)) != PARAPET_OK ||
        (status = pp_list_trim(&session->served.claims.list)) != PARAPET_OK)
        return status;
    return pp_list_trim(&session->owned);
}

static parapet_status list_homes(pp_session *session)
{
    home_filter filter = {.session = session, .server = pp_session_server(session)};
    parapet_status status;
    expect_owner(session, &session->served);
    status = sort_served(session);
    if (status != PARAPET_OK)
        return status;
    return pp_worklist_build(&session->served.list, &session->served.plan, is_home, &filter, session->budget);
}

/* Every shard of this home becomes a letter to its owner, with the claims on it. */
static parapet_status write_letters(mail *post, const int32_t *owners)
{
    const pp_worklist *list = &post->from->list;
    size_t first = 0, group = 0, i;
    parapet_status status = pp_list_reserve(&post->letters, list->count + pp_worklist_group_count(list));
    for (; first < list->count && status == PARAPET_OK; group++) {
        size_t end = pp_worklist_group_end(list, first);
        letter one = {.server = owners[group], .kind = MAIL_SHARD, .index = (int64_t)first};
        status = pp_list_add(&post->letters, &one);
        one.kind = MAIL_CLAIM;
        for (i = first; i < end && status == PARAPET_OK; i++) {
            one.index = list->work[i].claim;
            status = pp_list_add(&post->letters, &one);
        }
        first = end;
    }
    return status == PARAPET_OK ? sort_letters(post) : status;
}

void pp_session_serve_nothing(pp_session *session)
{
    int ndim = session->served.claims.ndim_most;
    pp_view_clear(&session->served);
    pp_list_clear(&session->owned);
    init_served(session, ndim);
}

parapet_status pp_session_serve_owned(pp_session *session)
{
    parapet_status status;
    if ((status = pp_list_sort(&session->owned, compare_pairs)) != PARAPET_OK ||
        (status = sort_served(session)) != PARAPET_OK)
        return status;
    return pp_worklist_build(&session->served.list, &session->served.plan, is_owned, &session->owned,
                             session->budget);
}

/* [collective] The homes hand every shard, with the claims on it, to its owner. */
static parapet_status hand_over(pp_session *session, const pp_list *owners, parapet_status before)
{
    pp_view home = session->served;
    mail post = mail_of(session, &home);
    parapet_status status = before;
    home.plan.claims = &home.claims;
    session->served = (pp_view){0};
    init_view(session, &session->served, home.claims.ndim_most);
    expect_owner(session, &home);
    if (status == PARAPET_OK && home.list.count > 0)
        status = write_letters(&post, pp_list_at(owners, 0));
    status = run_mail(&post, status);
    /* Only now: letters are numbers of claims in home, from which run_mail has filled the parcels. */
    pp_view_clear(&home);
    return status == PARAPET_OK ? pp_session_serve_owned(session) : status;
}

/* Every rank reads its own parts, and forgets what it has learned as a home. */
static void serve_own(pp_session *session)
{
    pp_session_serve_nothing(session);
    session->peers.count = 0;
    session->serves_own = true;
}

/* [collective] Where no shard moves, the homes are the owners, and have what owners need. */
static parapet_status fix_owners(pp_session *session, parapet_status before)
{
    pp_assignment assignment;
    parapet_status status = pp_assignment_init(&assignment, session, &session->served, before);
    if (assignment.serves_own)
        serve_own(session);
    else if (assignment.has_moved)
        status = hand_over(session, &assignment.owners, status);
    pp_assignment_clear(&assignment);
    return status;
}

/* [collective, unless alone] */
static parapet_status describe_anew(pp_session *session, parapet_status before)
{
    int ndim = ndim_most(session->arrays, session->array_count);
    parapet_status status = before;
    if (status == PARAPET_OK)
        status = pp_peers_init(&session->peers);
    init_view(session, &session->own, ndim);
    init_served(session, ndim);
    if (status == PARAPET_OK)
        status = claim_parts(session);
    if (session->is_alone)
        return status;
    if ((status = describe(session, status)) == PARAPET_OK)
        status = list_homes(session);
    return session->team->owners->moves ? fix_owners(session, status) : status;
}

/* ---- The same parts again ---- */

/* Sets the addresses of this rank's claims to those of this call, also where it serves itself; returns whether
 * they were others. */
static bool move_target(pp_session *session, int target, size_t *next)
{
    const pp_claims *claims = &session->own.claims;
    int64_t words[PP_CLAIM_GEOMETRY + 3 * PARAPET_MAX_NDIM];
    const pp_parts *parts = session->arrays[target].parts;
    bool has_moved = false;
    pp_part part;
    int i;
    for (i = 0; i < parts->count; i++) {
        int64_t *claim = pp_list_at(&claims->list, *next);
        pp_parts_at(parts, i, &part);
        if (pp_box_is_empty(&part.box))
            continue;
        pp_claim_write(words, claims->ndim_most, target, session->rank, i, &part.box, part.data, part.strides);
        has_moved |= memcmp(claim, words, claims->list.row_bytes) != 0;
        memcpy(claim, words, claims->list.row_bytes);
        replace_claim(session, words);
        *next += 1;
    }
    return has_moved;
}

static bool move_parts(pp_session *session)
{
    bool has_moved = false;
    size_t next = 0;
    int target;
    for (target = 0; target < session->array_count; target++)
        has_moved |= move_target(session, target, &next);
    return has_moved;
}

/* [collective] Ranks whose parts are elsewhere tell the servers that have their claims. */
static parapet_status tell_news(pp_session *session, bool has_moved, parapet_status before)
{
    mail post = mail_of(session, &session->own);
    parapet_status status = before;
    post.is_news = true;
    if (status == PARAPET_OK && has_moved)
        status = address_claims(&post);
    return run_mail(&post, status);
}

/* [collective, if some rank's parts are elsewhere] */
static parapet_status describe_again(pp_session *session, pp_description *taken, bool is_news, parapet_status before)
{
    bool has_moved;
    session->own = taken->own;
    session->served = taken->served;
    session->peers = taken->peers;
    link_view(session, &session->own);
    link_view(session, &session->served);
    pp_list_init(&session->owned, 2 * sizeof(int64_t), session->budget, "the shards of this owner");
    has_moved = move_parts(session);
    pp_session_context(session, 0)->counters->descriptions_reused++;
    return is_news ? tell_news(session, has_moved, before) : before;
}

void pp_session_keep(pp_session *session)
{
    pp_description description = {.own = session->own, .served = session->served, .peers = session->peers};
    if (session->team == NULL || session->team->kept == NULL)
        return;
    session->own = session->served = (pp_view){0};
    session->peers = (pp_peers){0};
    pp_session_cache_put(session->team->kept, session->team, session->arrays, session->array_count, &description);
}

/* ---- The whole ---- */

parapet_status pp_session_build(pp_session *session, pp_direction direction, const pp_team *team,
                                const pp_transfer_array *arrays, int array_count)
{
    pp_description taken;
    parapet_status status;
    bool is_news;
    *session = (pp_session){
        .team = team,
        .arrays = arrays,
        .array_count = array_count,
        .budget = arrays[0].context->budget,
        .rank = pp_comm_rank(team->comm),
        .rank_count = pp_comm_size(team->comm),
        .direction = direction,
        .is_alone = pp_comm_size(team->comm) == 1,
        .serves_own = pp_comm_size(team->comm) == 1,
        .fragment_bytes = team->fragment_bytes,
    };
    status = list_targets(session);
    if (team->is_described) {
        pp_session_cache_take(team->kept, &taken, &is_news);
        status = describe_again(session, &taken, is_news, status);
    } else {
        status = describe_anew(session, status);
    }
    if (status == PARAPET_OK && !session->is_alone)
        pp_peers_try(&session->peers, team->comm, team->uses_direct);
    return status;
}

static parapet_status begin_alone(pp_session *session, const pp_transfer_array *array)
{
    const pp_transfer_context *context = array->context;
    parapet_status status;
    *session = (pp_session){.arrays = array,
                            .array_count = 1,
                            .budget = context->budget,
                            .rank_count = 1,
                            .is_alone = true,
                            .serves_own = true};
    if ((status = list_targets(session)) == PARAPET_OK)
        init_view(session, &session->own, context->layout->tiling.shards.ndim);
    return status;
}

parapet_status pp_session_build_alone(pp_session *session, const pp_transfer_array *array)
{
    parapet_status status = begin_alone(session, array);
    return status == PARAPET_OK ? claim_parts(session) : status;
}

parapet_status pp_session_build_again(pp_session *session, const pp_transfer_array *array, const int64_t *shards,
                                      size_t count)
{
    parapet_status status = begin_alone(session, array);
    return status == PARAPET_OK ? pp_worklist_build_listed(&session->own.list, shards, count, session->budget)
                                : status;
}

size_t pp_point_claims_list_bytes(int64_t shards)
{
    return (size_t)shards * sizeof(pp_work);
}

parapet_status pp_session_build_points(pp_session *session, const pp_transfer_array *array,
                                       const pp_point_claims *picked)
{
    parapet_status status = begin_alone(session, array);
    if (status != PARAPET_OK)
        return status;
    session->own.picked = picked;
    return pp_worklist_build_points(&session->own.list, picked, session->budget);
}

size_t pp_session_list_bytes(const pp_transfer_array *array, int64_t *shard_count)
{
    const pp_tiling *tiling = &array->context->layout->tiling;
    list_need need = {0};
    measure_array(&need, array->parts, &(pp_target){.tiling = tiling});
    *shard_count = need.work;
    return pp_memory_list_bytes(tiling->shards.ndim, need.claims, need.work, 0);
}

parapet_status pp_session_build_trim(pp_session *session, const pp_transfer_array *array, const bool *is_shrunk)
{
    parapet_status status = begin_alone(session, array);
    if (status != PARAPET_OK)
        return status;
    session->trims = true;
    return pp_worklist_build_edge(&session->own.list, &array->context->layout->tiling.shards, is_shrunk,
                                  session->budget);
}

void pp_session_clear(pp_session *session)
{
    pp_view_clear(&session->own);
    pp_view_clear(&session->served);
    pp_peers_clear(&session->peers);
    pp_list_clear(&session->owned);
    if (session->budget != NULL)
        pp_budget_expect(session->budget, 0);
    pp_free(session->targets);
    *session = (pp_session){0};
}

const pp_transfer_context *pp_session_context(const pp_session *session, int target)
{
    return session->arrays[target].context;
}

const pp_view *pp_session_served(const pp_session *session)
{
    return session->serves_own ? &session->own : &session->served;
}

bool pp_session_has_remote(const pp_session *session)
{
    size_t i;
    for (i = 0; i < session->peers.count; i++)
        if (session->peers.peers[i].rank != session->rank)
            return true;
    return false;
}

bool pp_session_uses_direct(const pp_session *session)
{
    size_t i;
    for (i = 0; i < session->peers.count; i++)
        if (atomic_load(&session->peers.peers[i].is_direct))
            return true;
    return false;
}

int64_t pp_session_shard_count(const pp_session *session)
{
    return (int64_t)pp_worklist_group_count(&pp_session_served(session)->list);
}

int64_t pp_session_rank_most(const pp_session *session)
{
    const pp_worklist *list = &pp_session_served(session)->list;
    int64_t most = 0;
    size_t first, end, rank;
    for (first = 0; first < list->count; first = end) {
        int64_t count = 0;
        end = pp_worklist_group_end(list, first);
        for (rank = first; rank < end; rank = pp_worklist_rank_end(list, rank, end))
            count += list->work[rank].rank != session->rank;
        most = pp_max_i64(most, count);
    }
    return most;
}

/* ---- What is sent more than once ---- */

static bool is_sent(const pp_session *session, int rank)
{
    return rank != session->rank && !atomic_load(&pp_peers_find(&session->peers, rank)->is_direct);
}

/* The smallest box that has both. */
static void unite(pp_box *bounds, const pp_box *box)
{
    int d;
    for (d = 0; d < box->ndim; d++) {
        int64_t end = pp_max_i64(bounds->start[d] + bounds->count[d], box->start[d] + box->count[d]);
        bounds->start[d] = pp_min_i64(bounds->start[d], box->start[d]);
        bounds->count[d] = end - bounds->start[d];
    }
}

bool pp_session_sends_several(const pp_session *session, size_t first, size_t end)
{
    const pp_worklist *list = &pp_session_served(session)->list;
    size_t rank_end, sent = 0;
    for (; first < end && sent < 2; first = rank_end) {
        rank_end = pp_worklist_rank_end(list, first, end);
        sent += is_sent(session, list->work[first].rank) ? rank_end - first : 0;
    }
    return sent > 1;
}

int64_t pp_session_sent_elements(const pp_session *session, size_t first, size_t end, int64_t chunk,
                                 const pp_box *box)
{
    const pp_view *view = pp_session_served(session);
    const pp_work *work = view->list.work;
    int64_t sum = 0;
    for (; first < end; first++) {
        pp_box common;
        if (chunk >= work[first].first_chunk && chunk <= work[first].last_chunk &&
            pp_view_intersect(view, first, box, &common) && is_sent(session, work[first].rank))
            sum += pp_box_element_count(&common);
    }
    return sum;
}

/* How often elements of a shard are sent, on average over the box in which their claims lie. */
static int64_t shard_copies(const pp_session *session, size_t first, size_t end)
{
    const pp_view *view = pp_session_served(session);
    const pp_work *work = view->list.work;
    pp_box shard, common, bounds;
    int64_t sum = 0;
    pp_tiling_shard_box(session->targets[work[first].target].tiling, work[first].shard, &shard);
    for (; first < end; first++) {
        if (!is_sent(session, work[first].rank) || !pp_view_intersect(view, first, &shard, &common))
            continue;
        if (sum == 0)
            bounds = common;
        unite(&bounds, &common);
        sum += pp_box_element_count(&common);
    }
    return sum > 0 ? pp_divide_up(sum, pp_box_element_count(&bounds)) : 1;
}

int64_t pp_session_copies(const pp_session *session)
{
    const pp_worklist *list = &pp_session_served(session)->list;
    int64_t most = 1;
    size_t first, end;
    for (first = 0; first < list->count && !session->serves_own; first = end) {
        end = pp_worklist_group_end(list, first);
        most = pp_max_i64(most, shard_copies(session, first, end));
    }
    return most;
}
