/* session_cache.c - the slots that hold descriptions of earlier calls: see session_cache.h.
 *
 *     empty --pp_session_cache_put--> lent --pin (pp_session_cache_find)--> pinned --pp_session_cache_take--> taken
 *       ^                             |  ^                                     |                               |
 *       |  give_back, by the budget   |  +----unpin (pp_session_cache_choose)--+                               |
 *       +-----------------------------+  +----pp_session_cache_put, after an agreement-------------------------+
 *       +----the session is cleared after a failure------------------------------------------------------------+
 *
 * Invariants:
 *
 *  1. Which slot is used depends only on what is the same on all ranks: the bits that were agreed on, and clock
 *     and used_at. What is in a slot is not the same: a rank may have had to give its half back. Then it sets
 *     no bit.
 *  2. A slot whose bit was announced stays pinned until the agreement is known, because another rank may count
 *     on it.
 *  3. A description is used only in the way in which it was made, direct or with messages (digest_call): with
 *     messages a server never learns of new addresses, so later it could not copy directly.
 *
 * The option `keep_descriptions`: docs/guide/caching.md. Owners that stay from call to call are the persistent file
 * domains of Coloma et al. (docs/design/papers.md, 5); docs/design/collective.md, "The same parts again". */
#include "transfer/session_cache.h"

#include <assert.h>
#include <string.h>

#include "base/sha256.h"

typedef struct cached_slot {
    pp_loan loan;    /* first, so that a loan is its slot */
    bool is_pinned;  /* by the call that begins: not lent, so the budget cannot have it given back */
    int64_t used_at; /* the same on all ranks, as it decides which slot is used again */
    unsigned char digest[PP_SHA256_BYTES];
    pp_description description;
} cached_slot;

struct pp_session_cache {
    pp_budget *budget;
    cached_slot slots[PP_SESSION_CACHE_COUNT];
    int64_t clock; /* counts the calls that used a slot */
    int chosen;    /* the slot of the call that has begun; -1: none */
    bool has_moved;
};

/* ---- Slots ---- */

static void clear_description(pp_description *description)
{
    pp_view_clear(&description->own);
    pp_view_clear(&description->served);
    pp_peers_clear(&description->peers);
}

static void give_back(pp_loan *loan)
{
    cached_slot *slot = (cached_slot *)(void *)loan;
    clear_description(&slot->description);
}

/* Peers are memory of the budget only while they are kept. */
static size_t peer_bytes(const pp_description *description)
{
    return description->peers.capacity * sizeof description->peers.peers[0];
}

/* false: there is no description in the slot. */
static bool pin(const pp_session_cache *kept, cached_slot *slot)
{
    slot->is_pinned = slot->is_pinned || pp_budget_reclaim(kept->budget, &slot->loan);
    return slot->is_pinned;
}

static void unpin(const pp_session_cache *kept, cached_slot *slot)
{
    if (slot->is_pinned)
        pp_budget_lend(kept->budget, &slot->loan);
    slot->is_pinned = false;
}

/* The slot is pinned. */
static void take_out(const pp_session_cache *kept, cached_slot *slot, pp_description *taken)
{
    assert(slot->is_pinned);
    slot->is_pinned = false;
    *taken = slot->description;
    slot->description = (pp_description){0};
    pp_view_attach(&taken->own, kept->budget);
    pp_view_attach(&taken->served, kept->budget);
    pp_budget_release(kept->budget, peer_bytes(taken));
}

static void drop(const pp_session_cache *kept, cached_slot *slot)
{
    pp_description dropped;
    if (!pin(kept, slot))
        return;
    take_out(kept, slot, &dropped);
    clear_description(&dropped);
}

parapet_status pp_session_cache_build(pp_session_cache **kept, pp_budget *budget)
{
    parapet_status status = pp_allocate(kept, sizeof **kept);
    if (status != PARAPET_OK)
        return status;
    (*kept)->budget = budget;
    (*kept)->chosen = -1;
    return PARAPET_OK;
}

void pp_session_cache_free(pp_session_cache *kept)
{
    int i;
    for (i = 0; kept != NULL && i < PP_SESSION_CACHE_COUNT; i++)
        drop(kept, &kept->slots[i]);
    pp_free(kept);
}

/* ---- Whether a description fits ---- */

static void add_words(pp_sha256 *hash, const int64_t *words, int count)
{
    pp_sha256_add(hash, words, (size_t)count * sizeof words[0]);
}

static void add_target(pp_sha256 *hash, const pp_transfer_context *context, int server_count)
{
    const pp_tiling *tiling = &context->layout->tiling;
    const int64_t head[] = {tiling->shards.ndim, (int64_t)tiling->element_bytes,
                            context->lattice->phase % server_count};
    int ndim = tiling->shards.ndim;
    add_words(hash, head, sizeof head / sizeof head[0]);
    add_words(hash, tiling->shards.shape, ndim);
    add_words(hash, tiling->shards.cell_shape, ndim);
    add_words(hash, tiling->chunks.cell_shape, ndim);
    add_words(hash, context->lattice->multipliers, ndim);
}

/* What a description depends on in addition to the parts; the way in which pieces travel is part of it (3). */
static void digest_call(const pp_team *team, const pp_transfer_array *arrays, int array_count,
                        unsigned char digest[PP_SHA256_BYTES])
{
    const int64_t head[] = {array_count, team->uses_direct};
    pp_sha256 hash;
    int i;
    pp_sha256_init(&hash);
    add_words(&hash, head, sizeof head / sizeof head[0]);
    for (i = 0; i < array_count; i++)
        add_target(&hash, arrays[i].context, team->server_count);
    pp_sha256_finish(&hash, digest);
}

typedef enum fit { FITS_NOT, FITS_ELSEWHERE, FITS } fit;

/* Whether a claim is one on the same box; with the same address and strides, or elsewhere. */
static fit fit_of_claim(const int64_t *claim, const int64_t *words, int ndim_most)
{
    size_t box_bytes = (size_t)2 * (size_t)ndim_most * sizeof words[0];
    if (claim[PP_CLAIM_TARGET] != words[PP_CLAIM_TARGET] || claim[PP_CLAIM_PART] != words[PP_CLAIM_PART] ||
        memcmp(claim + PP_CLAIM_GEOMETRY, words + PP_CLAIM_GEOMETRY, box_bytes) != 0)
        return FITS_NOT;
    return memcmp(claim, words, pp_claim_word_count(ndim_most) * sizeof words[0]) == 0 ? FITS : FITS_ELSEWHERE;
}

/* Of the parts of one array, whose claims begin at *next. */
static fit fit_of_parts(const pp_claims *claims, const pp_parts *parts, int target, size_t *next)
{
    int64_t words[PP_CLAIM_GEOMETRY + 3 * PARAPET_MAX_NDIM];
    fit worst = FITS, one;
    pp_part part;
    int i;
    for (i = 0; i < parts->count && worst != FITS_NOT; i++) {
        const int64_t *claim = *next < claims->list.count ? pp_claims_at(claims, *next) : NULL;
        pp_parts_at(parts, i, &part);
        if (pp_box_is_empty(&part.box))
            continue;
        if (claim == NULL)
            return FITS_NOT;
        pp_claim_write(words, claims->ndim_most, target, (int)claim[PP_CLAIM_RANK], i, &part.box, part.data,
                       part.strides);
        one = fit_of_claim(claim, words, claims->ndim_most);
        worst = one < worst ? one : worst;
        *next += 1;
    }
    return worst;
}

/* The slot is pinned. */
static fit fit_of_slot(const cached_slot *slot, const pp_transfer_array *arrays, int array_count)
{
    const pp_claims *claims = &slot->description.own.claims;
    fit worst = FITS, one;
    size_t next = 0;
    int i;
    for (i = 0; i < array_count && worst != FITS_NOT; i++) {
        one = fit_of_parts(claims, arrays[i].parts, i, &next);
        worst = one < worst ? one : worst;
    }
    return next == claims->list.count ? worst : FITS_NOT;
}

/* Two bits of each slot: that the parts are the same, and that they are where they were. */
static uint64_t bit_of(int slot, bool is_in_place)
{
    return UINT64_C(1) << (slot + (is_in_place ? PP_SESSION_CACHE_COUNT : 0));
}

uint64_t pp_session_cache_find(pp_session_cache *kept, const pp_team *team, const pp_transfer_array *arrays,
                               int array_count)
{
    unsigned char digest[PP_SHA256_BYTES];
    uint64_t bits = 0;
    int i;
    digest_call(team, arrays, array_count, digest);
    for (i = 0; i < PP_SESSION_CACHE_COUNT; i++) {
        cached_slot *slot = &kept->slots[i];
        fit found = FITS_NOT;
        if (memcmp(slot->digest, digest, sizeof digest) == 0 && pin(kept, slot))
            found = fit_of_slot(slot, arrays, array_count);
        if (found == FITS_NOT)
            unpin(kept, slot);
        else
            bits |= bit_of(i, false);
        if (found == FITS || (found == FITS_ELSEWHERE && !team->uses_direct))
            bits |= bit_of(i, true);
    }
    return bits;
}

bool pp_session_cache_choose(pp_session_cache *kept, uint64_t common)
{
    int i;
    kept->chosen = -1;
    kept->has_moved = true;
    for (i = 0; i < PP_SESSION_CACHE_COUNT && kept->has_moved; i++)
        if ((common & bit_of(i, false)) != 0) {
            kept->chosen = i;
            kept->has_moved = (common & bit_of(i, true)) == 0;
        }
    for (i = 0; i < PP_SESSION_CACHE_COUNT; i++)
        if (i != kept->chosen)
            unpin(kept, &kept->slots[i]);
    return kept->chosen >= 0;
}

/* ---- Taking and keeping ---- */

void pp_session_cache_take(pp_session_cache *kept, pp_description *taken, bool *has_moved)
{
    take_out(kept, &kept->slots[kept->chosen], taken);
    *has_moved = kept->has_moved;
}

/* The one that was chosen, or else the one that was used longest ago. */
static cached_slot *slot_to_fill(pp_session_cache *kept)
{
    cached_slot *oldest = &kept->slots[0];
    int i;
    if (kept->chosen >= 0)
        return &kept->slots[kept->chosen];
    for (i = 1; i < PP_SESSION_CACHE_COUNT; i++)
        if (kept->slots[i].used_at < oldest->used_at)
            oldest = &kept->slots[i];
    return oldest;
}

void pp_session_cache_put(pp_session_cache *kept, const pp_team *team, const pp_transfer_array *arrays,
                          int array_count, pp_description *description)
{
    cached_slot *slot = slot_to_fill(kept);
    size_t bytes = peer_bytes(description);
    drop(kept, slot);
    kept->chosen = -1;
    slot->used_at = ++kept->clock; /* before this rank can fail alone: the clock must be the same on all ranks */
    if (pp_budget_reserve(kept->budget, bytes, "the ranks of a kept description") != PARAPET_OK) {
        clear_description(description);
        return;
    }
    digest_call(team, arrays, array_count, slot->digest);
    slot->description = *description;
    bytes += pp_view_detach(&slot->description.own) + pp_view_detach(&slot->description.served);
    slot->loan = (pp_loan){.bytes = bytes, .give_back = give_back};
    pp_budget_lend(kept->budget, &slot->loan);
    *description = (pp_description){0};
}
