/* json_print.h - values in sentences, and text as JSON; how documents are printed is in json.h. Not for other
 * modules. */
#ifndef PARAPET_ZARR_JSON_PRINT_H
#define PARAPET_ZARR_JSON_PRINT_H

#include "zarr/json.h"

#define PP_JSON_WORDS_BYTES 80

/* A value for use in a sentence, shortened if it is long. Returns words. */
const char *pp_json_words(pp_json *json, char words[PP_JSON_WORDS_BYTES]);

void pp_json_print_text(const char *string, size_t bytes, pp_text *text);

#endif
