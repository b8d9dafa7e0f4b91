#include "transfer/stolen.h"

#include <string.h>

/* A shard is its head and then, for each claim, the identity proof of the rank that holds it, and the claim. */
enum { HEAD_TARGET, HEAD_SHARD, HEAD_CLAIMS, HEAD_WORDS };
enum { PROOF_WORDS = sizeof(pp_identity_proof) / sizeof(int64_t) };

static size_t claim_words(const pp_session *session)
{
    return PROOF_WORDS + pp_claim_word_count(session->served.claims.ndim_most);
}

size_t pp_stolen_bytes(const pp_session *session, size_t first, size_t end)
{
    return (HEAD_WORDS + (end - first) * claim_words(session)) * sizeof(int64_t);
}

static void write_claim(const pp_session *session, size_t work, int64_t *words)
{
    const int64_t *claim = pp_view_claim(&session->served, work);
    const pp_peer *peer = pp_peers_find(&session->peers, (int)claim[PP_CLAIM_RANK]);
    pp_identity_proof proof = peer != NULL ? peer->proof : pp_identity_proof_of(session->team->comm);
    memcpy(words, &proof, sizeof proof);
    memcpy(words + PROOF_WORDS, claim, (claim_words(session) - PROOF_WORDS) * sizeof words[0]);
}

void pp_stolen_write(const pp_session *session, size_t first, size_t end, int64_t *words)
{
    const pp_worklist *list = &session->served.list;
    while (first < end) {
        size_t behind = pp_worklist_group_end(list, first);
        words[HEAD_TARGET] = list->work[first].target;
        words[HEAD_SHARD] = list->work[first].shard;
        words[HEAD_CLAIMS] = (int64_t)(behind - first);
        words += HEAD_WORDS;
        for (; first < behind; first++, words += claim_words(session))
            write_claim(session, first, words);
    }
}

/* ---- From a description ---- */

static parapet_status read_claim(pp_session *session, pp_peers *holders, const int64_t *words)
{
    const int64_t *claim = words + PROOF_WORDS;
    pp_identity_proof proof;
    parapet_status status;
    memcpy(&proof, words, sizeof proof);
    if (pp_peers_find(&session->peers, (int)claim[PP_CLAIM_RANK]) == NULL &&
        (status = pp_peers_add(holders, (int)claim[PP_CLAIM_RANK], &proof)) != PARAPET_OK)
        return status;
    return pp_claims_add(&session->served.claims, claim);
}

static parapet_status read_shards(pp_session *session, pp_peers *holders, const int64_t *words, size_t bytes)
{
    const int64_t *end = words + bytes / sizeof words[0];
    parapet_status status = PARAPET_OK;
    while (words < end && status == PARAPET_OK) {
        int64_t left = words[HEAD_CLAIMS];
        status = pp_list_add(&session->owned, words);
        for (words += HEAD_WORDS; left > 0 && status == PARAPET_OK; left--, words += claim_words(session))
            status = read_claim(session, holders, words);
    }
    return status;
}

/* Exactly, so that lists do not grow beyond what was planned for them. */
static parapet_status make_room(pp_session *session, size_t bytes)
{
    size_t claims = bytes / (claim_words(session) * sizeof(int64_t));
    size_t shards = bytes / ((HEAD_WORDS + claim_words(session)) * sizeof(int64_t));
    parapet_status status = pp_list_reserve(&session->served.claims.list, claims);
    return status == PARAPET_OK ? pp_list_reserve(&session->owned, shards) : status;
}

/* Those that were not known before. */
static parapet_status meet(pp_session *session, pp_peers *holders)
{
    const pp_team *team = session->team;
    parapet_status status;
    pp_peers_sort(holders);
    pp_peers_try(holders, team->comm, team->uses_direct);
    status = pp_peers_append(&session->peers, holders);
    pp_peers_sort(&session->peers);
    return status;
}

parapet_status pp_stolen_read(pp_session *session, const int64_t *words, size_t bytes)
{
    pp_peers holders = {0};
    parapet_status status;
    pp_session_serve_nothing(session);
    status = make_room(session, bytes);
    if (status == PARAPET_OK)
        status = read_shards(session, &holders, words, bytes);
    if (status == PARAPET_OK)
        status = meet(session, &holders);
    pp_peers_clear(&holders);
    return status == PARAPET_OK ? pp_session_serve_owned(session) : status;
}
