/* libraries.h - names and versions of the compression libraries in use. */
#ifndef PARAPET_CODEC_LIBRARIES_H
#define PARAPET_CODEC_LIBRARIES_H

#include "base/text.h"

/* One "name version" per line. */
void pp_codec_print_libraries(pp_text *text);

#endif
