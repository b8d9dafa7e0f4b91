#include "transfer/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "comm/exchange.h"

const int64_t *pp_view_claim(const pp_view *view, size_t work)
{
    return pp_claims_at(&view->claims, (size_t)view->list.work[work].claim);
}

bool pp_view_intersect(const pp_view *view, size_t work, const pp_box *box, pp_box *common)
{
    if (view->list.work[work].claim == PP_NO_CLAIM)
        return false;
    pp_claim_box(pp_view_claim(view, work), view->claims.ndim_most, box->ndim, common);
    return pp_box_intersect(common, box, common);
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
    int64_t first_shard = 0;
    int i;
    parapet_status status =
        pp_allocate_array(&session->targets, (size_t)session->array_count, sizeof session->targets[0]);
    for (i = 0; i < session->array_count && status == PARAPET_OK; i++) {
        const pp_layout *layout = pp_session_context(session, i)->layout;
        int64_t behind;
        /* Only where homes lie depends on it: what does not fit starts again. */
        if (!pp_add_fits(first_shard, layout->tiling.shards.cell_count, &behind)) {
            first_shard = 0;
            behind = layout->tiling.shards.cell_count;
        }
        session->targets[i] = (pp_target){.tiling = &layout->tiling, .first_shard = first_shard};
        first_shard = behind;
    }
    return status;
}

static void init_view(pp_session *session, pp_view *view, int ndim)
{
    pp_claims_init(&view->claims, ndim, session->budget);
    view->plan =
        (pp_claim_set){.targets = session->targets, .target_count = session->array_count, .claims = &view->claims};
}

/* What this rank holds, as claims. */
static parapet_status claim_parts(pp_session *session)
{
    int64_t words[PP_CLAIM_GEOMETRY + 3 * PARAPET_MAX_NDIM];
    int ndim = session->own.claims.ndim_most, target, part;
    parapet_status status = PARAPET_OK;
    for (target = 0; target < session->array_count; target++) {
        const pp_parts *parts = session->arrays[target].parts;
        for (part = 0; part < parts->count && status == PARAPET_OK; part++) {
            if (pp_box_is_empty(&parts->boxes[part]))
                continue;
            pp_claim_write(words, ndim, target, session->rank, part, &parts->boxes[part], parts->memory[part].data,
                           parts->memory[part].strides);
            status = pp_claims_add(&session->own.claims, words);
        }
    }
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
enum { CARD_WORDS = sizeof(pp_identity_proof) / sizeof(int64_t), ENTRY_HEAD_WORDS = 1 + CARD_WORDS };

typedef struct mail {
    pp_session *session;
    const pp_view *from;
    letter *letters;
    size_t count, next;
    size_t reserved_bytes;
    pp_peers arrived;   /* who holds what came */
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

/* A claim that touches many shards of one server goes there once. */
static void sort_letters(mail *post)
{
    size_t i, kept = 0;
    if (post->count > 0)
        qsort(post->letters, post->count, sizeof post->letters[0], compare_letters);
    for (i = 0; i < post->count; i++)
        if (kept == 0 || compare_letters(&post->letters[kept - 1], &post->letters[i]) != 0)
            post->letters[kept++] = post->letters[i];
    post->count = kept;
}

static parapet_status reserve_letters(mail *post, size_t count)
{
    size_t bytes = count * sizeof post->letters[0];
    parapet_status status = pp_budget_reserve(post->session->budget, bytes, "letters to the homes of shards");
    if (status != PARAPET_OK)
        return status;
    post->reserved_bytes = bytes;
    return pp_allocate_array(&post->letters, count, sizeof post->letters[0]);
}

static void clear_mail(mail *post)
{
    pp_budget_release(post->session->budget, post->reserved_bytes);
    pp_free(post->letters);
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
    memset(entry + 1, 0, (CARD_WORDS + words) * sizeof entry[0]);
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
    int32_t server;
    if (post->next == post->count)
        return false;
    server = post->letters[post->next].server;
    while (count < most && post->next < post->count && post->letters[post->next].server == server)
        write_entry(post, &post->letters[post->next++], (int64_t *)parcel + count++ * words);
    *rank = post->session->team->servers[server];
    *bytes = count * words * sizeof(int64_t);
    return true;
}

static parapet_status keep_owned(pp_owned *owned, int64_t target, int64_t shard)
{
    parapet_status status;
    if (owned->count == owned->capacity) {
        size_t capacity = pp_max_size(16, 2 * owned->capacity);
        if ((status = pp_reallocate(&owned->shards, capacity * 2 * sizeof owned->shards[0])) != PARAPET_OK)
            return status;
        owned->capacity = capacity;
    }
    owned->shards[2 * owned->count] = target;
    owned->shards[2 * owned->count + 1] = shard;
    owned->count++;
    return PARAPET_OK;
}

static parapet_status keep_entry(mail *post, const int64_t *entry)
{
    pp_session *session = post->session;
    const int64_t *claim = entry + ENTRY_HEAD_WORDS;
    pp_identity_proof proof;
    parapet_status status;
    if (entry[0] == MAIL_SHARD)
        return keep_owned(&session->owned, claim[0], claim[1]);
    memcpy(&proof, entry + 1, sizeof proof);
    if ((status = pp_peers_add(&post->arrived, (int)claim[PP_CLAIM_RANK], &proof)) != PARAPET_OK)
        return status;
    return pp_claims_add(&session->served.claims, claim);
}

static void receive_parcel(void *context, int source, const void *parcel, size_t bytes)
{
    mail *post = context;
    size_t words = ENTRY_HEAD_WORDS + pp_claim_word_count(post->session->served.claims.ndim_most);
    size_t i, count = bytes / (words * sizeof(int64_t));
    (void)source;
    for (i = 0; i < count && post->failure.status == PARAPET_OK; i++)
        pp_failure_take(&post->failure, keep_entry(post, (const int64_t *)parcel + i * words));
}

/* [collective] Sends what there is and keeps what comes; a rank that failed before sends nothing. */
static parapet_status run_mail(mail *post, parapet_status before)
{
    parapet_status status;
    pp_failure_take(&post->failure, before);
    if (before != PARAPET_OK)
        post->count = 0;
    status = pp_comm_exchange(post->session->team->comm,
                              &(pp_exchange){.context = post, .next = next_parcel, .receive = receive_parcel});
    pp_failure_take(&post->failure, status);
    pp_failure_take(&post->failure, pp_peers_append(&post->session->peers, &post->arrived));
    pp_peers_sort(&post->session->peers);
    clear_mail(post);
    return pp_failure_put(&post->failure);
}

/* ---- Describing, and fixing owners ---- */

static parapet_status describe(pp_session *session, parapet_status before)
{
    mail post = {.session = session, .from = &session->own};
    parapet_status status = before;
    const pp_worklist *list = &session->own.list;
    size_t i;
    if (status == PARAPET_OK && (status = reserve_letters(&post, list->count)) == PARAPET_OK) {
        for (i = 0; i < list->count; i++)
            post.letters[i] = (letter){.server = pp_home_of(&session->targets[list->work[i].target],
                                                            list->work[i].shard, session->team->server_count),
                                       .kind = MAIL_CLAIM,
                                       .index = list->work[i].claim};
        post.count = list->count;
        sort_letters(&post);
    }
    return run_mail(&post, status);
}

static int own_server(const pp_session *session)
{
    int i;
    for (i = 0; i < session->team->server_count; i++)
        if (session->team->servers[i] == session->rank)
            return i;
    return -1;
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
    const pp_owned *owned = context;
    int64_t pair[2] = {target, shard};
    return owned->count > 0 &&
           bsearch(pair, owned->shards, owned->count, 2 * sizeof owned->shards[0], compare_pairs) != NULL;
}

static parapet_status list_homes(pp_session *session)
{
    home_filter filter = {.session = session, .server = own_server(session)};
    pp_claims_sort_unique(&session->served.claims);
    return pp_worklist_build(&session->served.list, &session->served.plan, is_home, &filter, session->budget);
}

/* Every shard of this home becomes a letter to its owner, with the claims on it. */
static parapet_status write_letters(mail *post, const int *owners)
{
    const pp_worklist *list = &post->from->list;
    size_t first = 0, group = 0, i;
    parapet_status status = reserve_letters(post, list->count + pp_worklist_group_count(list));
    if (status != PARAPET_OK)
        return status;
    for (; first < list->count; group++) {
        size_t end = pp_worklist_group_end(list, first);
        post->letters[post->count++] = (letter){.server = owners[group], .kind = MAIL_SHARD, .index = (int64_t)first};
        for (i = first; i < end; i++)
            post->letters[post->count++] =
                (letter){.server = owners[group], .kind = MAIL_CLAIM, .index = list->work[i].claim};
        first = end;
    }
    sort_letters(post);
    return PARAPET_OK;
}

static parapet_status choose_owners(const pp_session *session, const pp_view *home, mail *post)
{
    pp_owner_case owner_case = {
        .plan = &home->plan,
        .list = &home->list,
        .servers = session->team->servers,
        .server_count = session->team->server_count,
        .home = own_server(session),
    };
    int *owners = NULL;
    parapet_status status = pp_allocate_array(&owners, pp_worklist_group_count(&home->list), sizeof owners[0]);
    if (status == PARAPET_OK && home->list.count > 0)
        status = session->team->ownership->choose(&owner_case, owners);
    if (status == PARAPET_OK)
        status = write_letters(post, owners);
    pp_free(owners);
    return status;
}

/* [collective] The homes hand every shard, with the claims on it, to its owner. */
static parapet_status hand_over(pp_session *session, parapet_status before)
{
    pp_view home = session->served;
    mail post = {.session = session, .from = &home};
    parapet_status status = before;
    home.plan.claims = &home.claims;
    session->served = (pp_view){0};
    init_view(session, &session->served, home.claims.ndim_most);
    if (status == PARAPET_OK)
        status = choose_owners(session, &home, &post);
    status = run_mail(&post, status);
    pp_worklist_clear(&home.list);
    pp_claims_clear(&home.claims);
    if (status != PARAPET_OK)
        return status;
    if (session->owned.count > 0)
        qsort(session->owned.shards, session->owned.count, 2 * sizeof session->owned.shards[0], compare_pairs);
    pp_claims_sort_unique(&session->served.claims);
    return pp_worklist_build(&session->served.list, &session->served.plan, is_owned, &session->owned,
                             session->budget);
}

parapet_status pp_session_build(pp_session *session, const pp_team *team, const pp_transfer_array *arrays,
                                int array_count)
{
    int ndim = ndim_most(arrays, array_count);
    parapet_status status;
    *session = (pp_session){
        .team = team,
        .arrays = arrays,
        .array_count = array_count,
        .budget = arrays[0].context->budget,
        .rank = pp_comm_rank(team->comm),
        .rank_count = pp_comm_size(team->comm),
        .is_alone = pp_comm_size(team->comm) == 1,
        .fragment_bytes = team->fragment_bytes,
    };
    status = list_targets(session);
    if (status == PARAPET_OK)
        status = pp_peers_init(&session->peers);
    init_view(session, &session->own, ndim);
    init_view(session, &session->served, ndim);
    if (status == PARAPET_OK)
        status = claim_parts(session);
    if (session->is_alone)
        return status;
    if ((status = describe(session, status)) == PARAPET_OK)
        status = list_homes(session);
    if (team->ownership->moves)
        status = hand_over(session, status);
    if (status == PARAPET_OK)
        pp_peers_try(&session->peers, team->comm, team->uses_direct);
    return status;
}

parapet_status pp_session_build_trim(pp_session *session, const pp_transfer_array *array, const bool *is_shrunk)
{
    const pp_transfer_context *context = array->context;
    parapet_status status;
    *session =
        (pp_session){.arrays = array, .array_count = 1, .budget = context->budget, .rank_count = 1, .is_alone = true};
    if ((status = list_targets(session)) != PARAPET_OK)
        return status;
    init_view(session, &session->own, context->layout->tiling.shards.ndim);
    return pp_worklist_build_edge(&session->own.list, &context->layout->tiling.shards, is_shrunk, context->budget);
}

void pp_session_clear(pp_session *session)
{
    pp_worklist_clear(&session->own.list);
    pp_claims_clear(&session->own.claims);
    pp_worklist_clear(&session->served.list);
    pp_claims_clear(&session->served.claims);
    pp_peers_clear(&session->peers);
    pp_free(session->owned.shards);
    pp_free(session->targets);
    *session = (pp_session){0};
}

const pp_transfer_context *pp_session_context(const pp_session *session, int target)
{
    return session->arrays[target].context;
}

const pp_view *pp_session_served(const pp_session *session)
{
    return session->is_alone ? &session->own : &session->served;
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
