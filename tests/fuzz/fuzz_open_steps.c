/* fuzz_open_steps.c - the file of open steps of a series, from anyone.
 *
 *     | 's' or not | bytes of a piece | steps | offset: 2 bytes | gap between steps | the file ... |
 *
 * With 's' the piece gets its checksums where it lies. What is read is within the file, and what is accepted is what
 * lies there. */
#include <stdlib.h>
#include <string.h>

#include "bed.h"
#include "series/row.h"
#include "series/step_pieces.h"
#include "series/sums.h"

enum { HEADER_BYTES = 6, PIECE_MOST = 64, STEPS_MOST = 4 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static pp_series_piece piece_of(const unsigned char *header)
{
    pp_series_piece piece = {.bytes = header[1] % PIECE_MOST + 1, .box = {.ndim = 2}};
    piece.box.count[0] = header[2] % STEPS_MOST + 1;
    piece.offset = (uint64_t)header[3] | (uint64_t)header[4] << 8;
    piece.stride_bytes = piece.bytes + PP_SERIES_SUM_BYTES + header[5];
    return piece;
}

static void mend(const pp_series_piece *piece, unsigned char *file, size_t bytes)
{
    int64_t i;
    for (i = 0; i < piece->box.count[0]; i++) {
        uint64_t offset = piece->offset + (uint64_t)i * piece->stride_bytes;
        if (offset + piece->bytes + PP_SERIES_SUM_BYTES <= bytes)
            pp_series_sum_put(file + offset, piece->bytes, offset);
    }
}

static void check_piece(const pp_series_piece *piece, const unsigned char *file, size_t bytes)
{
    size_t room = piece->bytes * (size_t)piece->box.count[0] + PP_SERIES_SUM_BYTES;
    unsigned char *target = malloc(room);
    bed_object object;
    int64_t i;
    require(target != NULL);
    if (pp_series_piece_read(bed_series(), bed_open(&object, file, bytes), piece, target) == PARAPET_OK)
        for (i = 0; i < piece->box.count[0]; i++) {
            uint64_t offset = piece->offset + (uint64_t)i * piece->stride_bytes;
            require(offset + piece->bytes <= bytes);
            require(memcmp(target + (size_t)i * piece->bytes, file + offset, piece->bytes) == 0);
        }
    free(target);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    pp_series_piece piece;
    unsigned char *file;
    if (bytes <= HEADER_BYTES)
        return 0;
    piece = piece_of(data);
    bytes -= HEADER_BYTES;
    file = malloc(bytes);
    require(file != NULL);
    memcpy(file, data + HEADER_BYTES, bytes);
    if (data[0] == 's')
        mend(&piece, file, bytes);
    check_piece(&piece, file, bytes);
    free(file);
    return 0;
}
