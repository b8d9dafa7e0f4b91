/* plan_text.h - a plan in words and as a drawing. */
#ifndef PARAPET_COPY_PLAN_TEXT_H
#define PARAPET_COPY_PLAN_TEXT_H

#include "copy/view.h"

/* A plan, and the documents it is about. */
typedef struct pp_copy_planned {
    const pp_array_document *source, *target;
    const pp_copy_view *view;
    const pp_rechunk_plan *plan;
} pp_copy_planned;

parapet_status pp_copy_planned_print(const pp_copy_planned *planned, bool is_json, pp_text *text);
parapet_status pp_copy_planned_draw(const pp_copy_planned *planned, pp_text *svg);

#endif
