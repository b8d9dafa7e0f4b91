/* codecs_json.h - the codecs of a document of Zarr v3. Not for other modules. */
#ifndef PARAPET_ZARR_CODECS_JSON_H
#define PARAPET_ZARR_CODECS_JSON_H

#include "codec/codec.h"
#include "zarr/types.h"

/* What the codecs of a list work on. */
typedef struct pp_codec_context {
    const pp_type *type;
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM];
    int sharding_depth;
} pp_codec_context;

parapet_status pp_codecs_parse(pp_chain_spec *spec, pp_json *list, const pp_codec_context *context);
parapet_status pp_codecs_print(const pp_chain_spec *spec, int ndim, pp_text *text);

/* The codecs of texts: vlen-utf8, which becomes bytes in spec, and then codecs that turn bytes into bytes. */
parapet_status pp_codecs_parse_texts(pp_chain_spec *spec, pp_json *list);

/* Adds a codec to spec; refuses more than PP_MAX_CODECS. */
parapet_status pp_codec_append(pp_chain_spec *spec, const pp_codec_spec *codec);

#endif
