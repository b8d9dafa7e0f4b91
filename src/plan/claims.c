#include "plan/claims.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

void pp_claims_init(pp_claims *claims, int ndim_most, pp_budget *budget)
{
    *claims = (pp_claims){.ndim_most = ndim_most, .budget = budget};
}

size_t pp_claim_word_count(int ndim_most)
{
    return PP_CLAIM_GEOMETRY + 3 * (size_t)ndim_most;
}

static size_t row_bytes(const pp_claims *claims)
{
    return pp_claim_word_count(claims->ndim_most) * sizeof(int64_t);
}

void pp_claims_clear(pp_claims *claims)
{
    if (claims->budget != NULL)
        pp_budget_release(claims->budget, claims->capacity * row_bytes(claims));
    pp_free(claims->words);
    *claims = (pp_claims){.ndim_most = claims->ndim_most, .budget = claims->budget};
}

static int64_t *row_at(const pp_claims *claims, size_t index)
{
    return claims->words + index * pp_claim_word_count(claims->ndim_most);
}

const int64_t *pp_claims_at(const pp_claims *claims, size_t index)
{
    return row_at(claims, index);
}

static parapet_status grow(pp_claims *claims)
{
    size_t more = claims->capacity / 2 + 1, bytes = row_bytes(claims);
    parapet_status status;
    /* Near the limit only what is needed, so that a claim is refused only if there is no room for it. */
    if (more > pp_budget_available(claims->budget) / bytes)
        more = 1;
    if ((status = pp_budget_reserve(claims->budget, more * bytes, "the claims of a transfer")) != PARAPET_OK)
        return status;
    if ((status = pp_reallocate(&claims->words, (claims->capacity + more) * bytes)) != PARAPET_OK)
        pp_budget_release(claims->budget, more * bytes);
    else
        claims->capacity += more;
    return status;
}

parapet_status pp_claims_add(pp_claims *claims, const int64_t *words)
{
    parapet_status status;
    if (claims->count == claims->capacity && (status = grow(claims)) != PARAPET_OK)
        return status;
    memcpy(row_at(claims, claims->count), words, row_bytes(claims));
    claims->count++;
    return PARAPET_OK;
}

void pp_claim_write(int64_t *words, int ndim_most, int target, int rank, int64_t part, const pp_box *box,
                    const void *data, const int64_t *strides)
{
    int64_t *geometry = words + PP_CLAIM_GEOMETRY;
    int d;
    memset(words, 0, pp_claim_word_count(ndim_most) * sizeof *words);
    words[PP_CLAIM_TARGET] = target;
    words[PP_CLAIM_RANK] = rank;
    words[PP_CLAIM_PART] = part;
    words[PP_CLAIM_ADDRESS] = (int64_t)(intptr_t)data;
    for (d = 0; d < box->ndim; d++) {
        geometry[d] = box->start[d];
        geometry[ndim_most + d] = box->count[d];
        geometry[2 * ndim_most + d] = strides[d];
    }
}

void pp_claim_box(const int64_t *words, int ndim_most, int ndim, pp_box *box)
{
    const int64_t *geometry = words + PP_CLAIM_GEOMETRY;
    int d;
    box->ndim = ndim;
    for (d = 0; d < ndim; d++) {
        box->start[d] = geometry[d];
        box->count[d] = geometry[ndim_most + d];
    }
}

const int64_t *pp_claim_strides(const int64_t *words, int ndim_most)
{
    return words + PP_CLAIM_GEOMETRY + 2 * ndim_most;
}

static int compare_claims(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    int i;
    for (i = PP_CLAIM_TARGET; i <= PP_CLAIM_PART; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Whether every claim comes after the one before it: then there is nothing to do, and qsort need not take memory. */
static bool is_sorted_unique(const pp_claims *claims)
{
    size_t i;
    for (i = 1; i < claims->count; i++)
        if (compare_claims(row_at(claims, i - 1), row_at(claims, i)) >= 0)
            return false;
    return true;
}

void pp_claims_sort_unique(pp_claims *claims)
{
    size_t i, kept = 1;
    if (is_sorted_unique(claims))
        return;
    qsort(claims->words, claims->count, row_bytes(claims), compare_claims);
    for (i = 1; i < claims->count; i++) {
        if (compare_claims(row_at(claims, kept - 1), row_at(claims, i)) == 0)
            continue;
        if (kept != i)
            memcpy(row_at(claims, kept), row_at(claims, i), row_bytes(claims));
        kept++;
    }
    claims->count = kept;
}
