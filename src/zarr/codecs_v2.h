/* codecs_v2.h - the filters and the compressor of a document of Zarr v2. Not for other modules. */
#ifndef PARAPET_ZARR_CODECS_V2_H
#define PARAPET_ZARR_CODECS_V2_H

#include "codec/codec.h"
#include "zarr/types.h"

/* Appends the filters and the compressor of a .zarray. */
parapet_status pp_codecs_parse_v2(pp_chain_spec *spec, pp_json *zarray, const pp_type *type);

#endif
