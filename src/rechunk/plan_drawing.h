/* plan_drawing.h - the plan of a copy as one would draw it on a whiteboard: for each pass, the chunks of source and
 * target, a template, and the order in which source chunks are visited. An SVG document of bounded size: of large
 * arrays it shows a corner. Pure; depends on base and geometry. */
#ifndef PARAPET_RECHUNK_PLAN_DRAWING_H
#define PARAPET_RECHUNK_PLAN_DRAWING_H

#include "rechunk/plan_print.h"

/* labels may be NULL. Fails only when there is no memory for the text. */
parapet_status pp_rechunk_draw(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, pp_text *svg);

#endif
