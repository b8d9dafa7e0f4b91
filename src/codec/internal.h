/* internal.h - what one codec is to the chain.
 *
 * A chain is a row of stages. Each stage has a decoded side (before) and an encoded side (after); a pp_flow says
 * what is known of the bytes there. A codec is a file with one pp_codec_ops in it. */
#ifndef PARAPET_CODEC_INTERNAL_H
#define PARAPET_CODEC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/traits.h"

/* Where the result of a stage lies. */
typedef enum pp_effect {
    PP_EFFECT_NONE,     /* in the input, which is left as it is */
    PP_EFFECT_IN_PLACE, /* where the input was, changed or longer; elsewhere if that is not ours to change */
    PP_EFFECT_ELSEWHERE /* in other memory */
} pp_effect;

/* What is known of the bytes between two stages. Other encoders may need more room than ours, so that there
 * are two bounds. */
typedef struct pp_flow {
    pp_chunk_format format; /* what the elements are, or were */
    bool is_exact;          /* the length is always decode_bytes */
    size_t encode_bytes;    /* the most that our encoders put here */
    size_t decode_bytes;    /* the most that is accepted here when decoding */
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
    unsigned char *output; /* NULL for PP_EFFECT_NONE; the input's place for PP_EFFECT_IN_PLACE */
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

/* NULL for an id that is none. */
const pp_codec_ops *pp_codec_ops_of(pp_codec_id id);

/* The encoded side is extra_bytes longer than the decoded one. */
void pp_stage_grow(pp_stage *stage, size_t extra_bytes);

/* The encoded side has a length that varies, with us up to encode_bound; 0: we do not encode. */
void pp_stage_vary(pp_stage *stage, size_t encode_bound);

/* The level of a compressor of Zarr v2, which numcodecs hands on unchecked; 1 where nothing is said. */
extern const pp_parameter pp_v2_level[];

/* The location of a checksum behind the rest, in Zarr v2. */
extern const pp_parameter pp_v2_checksum_at_end[];

/* A checksum of 4 bytes in little-endian order before or behind the rest; compared unless told to ignore it. */
typedef uint32_t (*pp_checksum_function)(const unsigned char *data, size_t bytes);
parapet_status pp_checksum_decode_end(pp_stage_run *run, pp_checksum_function checksum);
parapet_status pp_checksum_decode_start(pp_stage_run *run, pp_checksum_function checksum);

/* pp_chain_build for the chunks inside a shard: depth is the number of sharding codecs around them. */
parapet_status pp_chain_build_inside(pp_chain **chain, const pp_chain_spec *spec, const pp_chunk_format *format,
                                     int depth);

/* Copies bytes from source to target, which may be the same, reversing each unit. */
void pp_swap_units(unsigned char *target, const unsigned char *source, size_t bytes, size_t unit);

bool pp_crc32c_sse42_is_available(void);
uint32_t pp_crc32c_sse42(uint32_t before, const void *data, size_t bytes);

#endif
