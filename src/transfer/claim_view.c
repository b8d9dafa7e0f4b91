#include "transfer/claim_view.h"

void pp_view_clear(pp_view *view)
{
    pp_worklist_clear(&view->list);
    pp_claims_clear(&view->claims);
}

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

size_t pp_view_detach(pp_view *view)
{
    view->claims.list.budget = NULL;
    view->list.budget = NULL;
    return view->claims.list.capacity * view->claims.list.row_bytes + view->list.count * sizeof view->list.work[0];
}

void pp_view_attach(pp_view *view, pp_budget *budget)
{
    view->claims.list.budget = budget;
    view->list.budget = budget;
}
