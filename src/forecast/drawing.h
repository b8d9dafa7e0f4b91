/* drawing.h - a schedule as one would draw it on a whiteboard: the array, its shards in the colours of their owners,
 * and where ranks begin. An SVG document of bounded size. Pure; depends on base, geometry and plan. */
#ifndef PARAPET_FORECAST_DRAWING_H
#define PARAPET_FORECAST_DRAWING_H

#include "forecast/print.h"

void pp_forecast_draw(const pp_forecast_facts *facts, pp_text *svg);

#endif
