#include "plan/claims.h"

#include <stdlib.h>
#include <string.h>

void pp_claims_init(pp_claims *claims, int ndim_most, pp_budget *budget)
{
    claims->ndim_most = ndim_most;
    pp_list_init(&claims->list, pp_claim_word_count(ndim_most) * sizeof(int64_t), budget, "the claims of a transfer");
}

size_t pp_claim_word_count(int ndim_most)
{
    return PP_CLAIM_GEOMETRY + 3 * (size_t)ndim_most;
}

void pp_claims_clear(pp_claims *claims)
{
    pp_list_clear(&claims->list);
}

const int64_t *pp_claims_at(const pp_claims *claims, size_t index)
{
    return pp_list_at(&claims->list, index);
}

parapet_status pp_claims_add(pp_claims *claims, const int64_t *words)
{
    return pp_list_add(&claims->list, words);
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
    return words + PP_CLAIM_GEOMETRY + (ptrdiff_t)2 * ndim_most;
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

parapet_status pp_claims_sort_unique(pp_claims *claims)
{
    parapet_status status = pp_list_sort(&claims->list, compare_claims);
    if (status == PARAPET_OK)
        pp_list_drop_equal(&claims->list, compare_claims);
    return status;
}

int64_t *pp_claims_find(const pp_claims *claims, const int64_t *words)
{
    const pp_list *list = &claims->list;
    return list->count > 0 ? bsearch(words, list->rows, list->count, list->row_bytes, compare_claims) : NULL;
}
