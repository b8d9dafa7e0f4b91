/* stage.c - how long the encoded side of a codec is. */
#include "codec/internal.h"

/* What other encoders may add to what they cannot compress: twice as much, and this. */
#define FOREIGN_SLACK_BYTES ((size_t)64 << 10)

void pp_stage_grow(pp_stage *stage, size_t extra_bytes)
{
    stage->after.encode_bytes += extra_bytes;
    stage->after.decode_bytes += extra_bytes;
}

void pp_stage_vary(pp_stage *stage, size_t encode_bound)
{
    stage->after.is_exact = false;
    stage->after.decode_bytes = 2 * stage->after.decode_bytes + FOREIGN_SLACK_BYTES;
    stage->after.encode_bytes = encode_bound > 0 ? encode_bound : stage->after.decode_bytes;
}
