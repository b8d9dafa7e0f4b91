/* drawing.h - a schedule as one would draw it on a whiteboard: the array, its shards in the colours of their owners,
 * and where ranks begin. An SVG document of bounded size. Pure; depends on base and geometry. */
#ifndef PARAPET_PLAN_DRAWING_H
#define PARAPET_PLAN_DRAWING_H

#include "plan/print.h"

void pp_plan_draw(const pp_plan_facts *facts, pp_text *svg);

#endif
