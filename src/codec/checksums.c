/* Decoding of the codecs that put a checksum beside the bytes. fletcher32, crc32 and adler32 are those of
 * numcodecs; fletcher32 is also HDF5's. */
#include <libdeflate.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/status.h"
#include "codec/internal.h"

#define CHECKSUM_BYTES 4

static parapet_status check(const pp_stage_run *run, uint32_t stored, pp_checksum_function checksum)
{
    uint32_t actual;
    if (run->stage->before.format.ignore_checksums)
        return PARAPET_OK;
    actual = checksum(run->result.data, run->result.bytes);
    if (actual != stored)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s: checksum of %zu bytes is %08x, but %08x is stored",
                       run->stage->ops->traits.name, run->result.bytes, actual, stored);
    return PARAPET_OK;
}

static parapet_status check_room(const pp_stage_run *run)
{
    if (run->input.bytes < CHECKSUM_BYTES)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s: %zu encoded bytes have no room for a checksum",
                       run->stage->ops->traits.name, run->input.bytes);
    return PARAPET_OK;
}

parapet_status pp_checksum_decode_end(pp_stage_run *run, pp_checksum_function checksum)
{
    parapet_status status = check_room(run);
    if (status != PARAPET_OK)
        return status;
    run->result = (pp_bytes){run->input.data, run->input.bytes - CHECKSUM_BYTES};
    return check(run, pp_load_u32le(run->input.data + run->result.bytes), checksum);
}

parapet_status pp_checksum_decode_start(pp_stage_run *run, pp_checksum_function checksum)
{
    parapet_status status = check_room(run);
    if (status != PARAPET_OK)
        return status;
    run->result = (pp_bytes){run->input.data + CHECKSUM_BYTES, run->input.bytes - CHECKSUM_BYTES};
    return check(run, pp_load_u32le(run->input.data), checksum);
}

static parapet_status prepare(pp_stage *stage)
{
    stage->decode_effect = PP_EFFECT_NONE;
    pp_stage_grow(stage, CHECKSUM_BYTES);
    return PARAPET_OK;
}

/* Sums of 16-bit words can run for this many words before they need folding. */
#define FLETCHER_RUN 360

static uint32_t fold(uint32_t sum)
{
    return (sum & 0xffff) + (sum >> 16);
}

/* As HDF5 computes it: big-endian words, an odd last byte as the high half of one. */
static uint32_t fletcher32(const unsigned char *data, size_t bytes)
{
    uint32_t first = 0, second = 0;
    size_t words = bytes / 2;
    while (words > 0) {
        size_t run = pp_min_size(words, FLETCHER_RUN);
        words -= run;
        for (; run > 0; run--, data += 2) {
            first += (uint32_t)data[0] << 8 | data[1];
            second += first;
        }
        first = fold(first);
        second = fold(second);
    }
    if (bytes % 2 != 0) {
        first = first + ((uint32_t)data[0] << 8);
        second = fold(second + first);
        first = fold(first);
    }
    return fold(second) << 16 | fold(first);
}

static uint32_t crc32(const unsigned char *data, size_t bytes)
{
    return libdeflate_crc32(0, data, bytes);
}

static uint32_t adler32(const unsigned char *data, size_t bytes)
{
    return libdeflate_adler32(1, data, bytes);
}

static parapet_status decode_fletcher32(pp_stage_run *run)
{
    return pp_checksum_decode_end(run, fletcher32);
}

static parapet_status decode_crc32(pp_stage_run *run)
{
    return pp_checksum_decode_start(run, crc32);
}

static parapet_status decode_adler32(pp_stage_run *run)
{
    return pp_checksum_decode_start(run, adler32);
}

/* Where a checksum stands became a choice in numcodecs 0.14; here it is where it always was. */
static const char *const start[] = {"start", NULL};
static const char *const end[] = {"end", NULL};
static const pp_parameter at_start[] = {
    {"location", PP_PARAMETER_FIXED, .choices = start, .has_others = true},
    {0},
};
const pp_parameter pp_v2_checksum_at_end[] = {
    {"location", PP_PARAMETER_FIXED, .choices = end, .has_others = true},
    {0},
};

const pp_codec_ops pp_fletcher32_ops = {
    .traits =
        {
            .name = "fletcher32",
            .v3_name = "numcodecs.fletcher32",
            .v2_name = "fletcher32",
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_CHECKSUM,
            .carry = pp_carry_nothing,
        },
    .is_fixed_size = true,
    .prepare = prepare,
    .decode = decode_fletcher32,
};

const pp_codec_ops pp_crc32_ops = {
    .traits =
        {
            .name = "crc32",
            .v2_name = "crc32",
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_CHECKSUM,
            .v2_parameters = at_start,
            .carry = pp_carry_nothing,
        },
    .is_fixed_size = true,
    .prepare = prepare,
    .decode = decode_crc32,
};

const pp_codec_ops pp_adler32_ops = {
    .traits =
        {
            .name = "adler32",
            .v2_name = "adler32",
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_CHECKSUM,
            .v2_parameters = at_start,
            .carry = pp_carry_nothing,
        },
    .is_fixed_size = true,
    .prepare = prepare,
    .decode = decode_adler32,
};
