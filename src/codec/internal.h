/* internal.h - a codec as the chain sees it.
 *
 * A chain is a row of stages. Each stage has a decoded side (before) and an encoded side (after); a pp_flow says what
 * is known about the bytes there. A codec is a file with one pp_codec_ops in it. */
#ifndef PARAPET_CODEC_INTERNAL_H
#define PARAPET_CODEC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/traits.h"

/* Where a stage puts its result. */
typedef enum pp_effect {
    PP_EFFECT_NONE,     /* in the input, which is left as it is */
    PP_EFFECT_IN_PLACE, /* where the input was, changed or longer; elsewhere if we may not change it */
    PP_EFFECT_ELSEWHERE /* in other memory */
} pp_effect;

/* What is known about the bytes between two stages. There are two limits, because other encoders may need more room
 * than ours. */
typedef struct pp_flow {
    pp_chunk_format format; /* what the elements are, or were */
    bool is_exact;          /* the length is always decode_bytes */
    size_t encode_bytes;    /* the largest length that our encoders produce */
    size_t decode_bytes;    /* the largest length that is accepted when decoding */
} pp_flow;

typedef struct pp_stage {
    const struct pp_codec_ops *ops;
    pp_codec_spec spec;
    pp_flow before;
    pp_flow after;
    pp_effect encode_effect;
    pp_effect decode_effect;
    bool is_swapped; /* bytes: the encoded side is not in the byte order of this machine */
    int depth;       /* sharding codecs around this chain */
    void *plan;      /* whatever prepare wants to keep; freed by forget */
} pp_stage;

/* One use of a stage. The codec sets result. */
typedef struct pp_stage_run {
    const pp_stage *stage;
    void *context;
    pp_bytes input;
    unsigned char *output; /* NULL for PP_EFFECT_NONE; where the input is for PP_EFFECT_IN_PLACE */
    size_t capacity;       /* of output */
    pp_bytes result;
} pp_stage_run;

typedef struct pp_codec_ops {
    pp_codec_traits traits;
    bool is_fixed_size; /* the encoded length follows from the decoded one */

    /* Checks the stage's spec and before; on entry after is a copy of before and both effects are ELSEWHERE. */
    parapet_status (*prepare)(pp_stage *stage);
    void (*forget)(pp_stage *stage); /* may be NULL */

    parapet_status (*encode)(pp_stage_run *run); /* NULL: decodes only */
    parapet_status (*decode)(pp_stage_run *run);

    /* What a thread needs to run the stage; NULL: nothing. context_bytes is the part taken from the budget. */
    size_t (*context_bytes)(const pp_stage *stage);
    parapet_status (*context_build)(void **context, const pp_stage *stage, pp_budget *budget);
    void (*context_free)(void *context);
} pp_codec_ops;

#define PP_CODEC_DECLARE(id, name) extern const pp_codec_ops pp_##name##_ops;
PP_CODEC_TABLE(PP_CODEC_DECLARE)
#undef PP_CODEC_DECLARE

/* NULL: not an id of a codec. */
const pp_codec_ops *pp_codec_ops_of(pp_codec_id id);

/* The encoded side is extra_bytes longer than the decoded one. */
void pp_stage_grow(pp_stage *stage, size_t extra_bytes);

/* The encoded side has a variable length, up to encode_bound from our encoder; 0: we do not encode. */
void pp_stage_vary(pp_stage *stage, size_t encode_bound);

/* The level of a Zarr v2 compressor, which numcodecs passes on unchecked; 1 if none is given. */
extern const pp_parameter pp_v2_level[];

/* The location of a checksum at the end, in Zarr v2. */
extern const pp_parameter pp_v2_checksum_at_end[];

/* A checksum of 4 bytes in little-endian order, at the start or at the end; compared unless told to ignore it. */
typedef uint32_t (*pp_checksum_function)(const unsigned char *data, size_t bytes);
parapet_status pp_checksum_decode_end(pp_stage_run *run, pp_checksum_function checksum);
parapet_status pp_checksum_decode_start(pp_stage_run *run, pp_checksum_function checksum);

/* pp_chain_build for the chunks inside a shard: depth is the number of sharding codecs around them. */
parapet_status pp_chain_build_inside(pp_chain **chain, const pp_chain_spec *spec, const pp_chunk_format *format,
                                     int depth);

bool pp_crc32c_sse42_is_available(void);
uint32_t pp_crc32c_sse42(uint32_t before, const void *data, size_t bytes);

#endif
