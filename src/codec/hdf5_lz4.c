/* lz4 as the filter 32004 of HDF5 stores it: the decoded length in eight bytes, that of a block in four, then each
 * block with its encoded length before it; all big-endian. A block that does not get shorter is stored as it is. */
#include <limits.h>
#include <lz4.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/status.h"
#include "codec/internal.h"

#define HEADER_BYTES 12
#define LENGTH_BYTES 4

static parapet_status prepare(pp_stage *stage)
{
    pp_stage_vary(stage, 0);
    return PARAPET_OK;
}

static parapet_status refuse(const pp_stage_run *run)
{
    return pp_fail(PARAPET_ERR_CORRUPT, "hdf5_lz4: the %zu encoded bytes are damaged", run->input.bytes);
}

/* The block whose length is at input decodes to bytes at output. False: it does not. */
static bool decode_block(pp_bytes *input, unsigned char *output, size_t bytes)
{
    uint32_t encoded;
    if (input->bytes < LENGTH_BYTES)
        return false;
    encoded = pp_load_u32be(input->data);
    if (encoded > input->bytes - LENGTH_BYTES || encoded > INT_MAX)
        return false;
    if (encoded == bytes)
        memcpy(output, input->data + LENGTH_BYTES, bytes);
    else if (LZ4_decompress_safe((const char *)input->data + LENGTH_BYTES, (char *)output, (int)encoded,
                                 (int)bytes) != (int)bytes)
        return false;
    *input = (pp_bytes){input->data + LENGTH_BYTES + encoded, input->bytes - LENGTH_BYTES - encoded};
    return true;
}

static parapet_status decode(pp_stage_run *run)
{
    pp_bytes input = run->input;
    uint64_t bytes, block, done, next;
    if (input.bytes < HEADER_BYTES)
        return refuse(run);
    bytes = pp_load_u64be(input.data);
    block = pp_load_u32be(input.data + 8);
    if (bytes > run->capacity || (run->stage->before.is_exact && bytes != run->capacity))
        return pp_fail(PARAPET_ERR_CORRUPT, "hdf5_lz4: decoded to %llu bytes instead of %zu",
                       (unsigned long long)bytes, run->capacity);
    if (block == 0 || block > LZ4_MAX_INPUT_SIZE)
        return refuse(run);
    input = (pp_bytes){input.data + HEADER_BYTES, input.bytes - HEADER_BYTES};
    for (done = 0; done < bytes; done += next) {
        next = pp_min_u64(block, bytes - done);
        if (!decode_block(&input, run->output + done, (size_t)next))
            return refuse(run);
    }
    run->result = (pp_bytes){run->output, (size_t)bytes};
    return input.bytes == 0 ? PARAPET_OK : refuse(run);
}

/* Zarr v3 has no lz4. */
static bool carry(pp_codec_spec *spec)
{
    *spec = (pp_codec_spec){.id = PP_CODEC_ZSTD, .level = 3};
    return true;
}

const pp_codec_ops pp_hdf5_lz4_ops = {
    .traits =
        {
            .name = "hdf5_lz4",
            .v3_name = "hdf5.lz4", /* in the documents of HDF5 files, and nowhere else */
            .kind = PP_BYTES_TO_BYTES,
            .role = PP_ROLE_COMPRESSOR,
            .carry = carry,
        },
    .prepare = prepare,
    .decode = decode,
};
