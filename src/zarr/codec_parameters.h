/* codec_parameters.h - what a codec is told, as JSON. Not for other modules. */
#ifndef PARAPET_ZARR_CODEC_PARAMETERS_H
#define PARAPET_ZARR_CODEC_PARAMETERS_H

#include "codec/traits.h"
#include "zarr/json.h"

/* Refuses members of object that are not parameters of the list. who begins the sentence: "the codec gzip". The list
 * may be NULL, here and below. */
parapet_status pp_parameters_check(const pp_parameter *list, pp_json *object, const char *who);

/* Sets the parameters from the members of object, or to their usual values. */
parapet_status pp_parameters_parse(const pp_parameter *list, pp_json *object, const char *who, pp_codec_spec *spec);

/* Prints them as members: "level":3,"checksum":false */
void pp_parameters_print(const pp_parameter *list, const pp_codec_spec *spec, pp_text *text);

#endif
