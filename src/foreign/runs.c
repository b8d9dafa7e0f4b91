#include "foreign/runs.h"

#include <string.h>

#include "base/checked.h"

/* Runs that lie close together are read with what is between them, this much at a time. */
#define SPAN_BYTES ((uint64_t)64 << 10)

/* One run, or several without anything between them. */
static parapet_status read_whole(pp_reader *file, const pp_place *place, uint64_t offset, size_t bytes,
                                 unsigned char *target)
{
    uint64_t there = place->run_bytes * place->run_count;
    size_t stored = offset < there ? (size_t)pp_min_u64(bytes, there - offset) : 0;
    memset(target + stored, 0, bytes - stored);
    return stored > 0 ? pp_reader_read(file, place->start + offset, stored, target) : PARAPET_OK;
}

static parapet_status read_one_by_one(pp_reader *file, const pp_place *place, uint64_t offset, size_t bytes,
                                      unsigned char *target)
{
    parapet_status status = PARAPET_OK;
    while (bytes > 0 && status == PARAPET_OK) {
        uint64_t run = offset / place->run_bytes, inside = offset % place->run_bytes;
        size_t piece = (size_t)pp_min_u64(bytes, place->run_bytes - inside);
        status = pp_reader_read(file, place->start + run * place->distance + inside, piece, target);
        target += piece;
        offset += piece;
        bytes -= piece;
    }
    return status;
}

/* Copies what a span of the file has of the runs; returns how much. */
static size_t gather(const pp_place *place, uint64_t offset, size_t bytes, const unsigned char *span,
                     uint64_t span_bytes, unsigned char *target)
{
    uint64_t inside = offset % place->run_bytes, at = 0;
    size_t done = 0;
    while (done < bytes && at < span_bytes) {
        size_t piece = (size_t)pp_min_u64(pp_min_u64(bytes - done, place->run_bytes - inside), span_bytes - at);
        memcpy(target + done, span + at, piece);
        done += piece;
        at += piece + (place->distance - place->run_bytes);
        inside = 0;
    }
    return done;
}

static parapet_status read_in_spans(pp_reader *file, const pp_place *place, uint64_t offset, size_t bytes,
                                    unsigned char *target)
{
    uint64_t end = place->start + (place->run_count - 1) * place->distance + place->run_bytes;
    unsigned char *span = NULL;
    parapet_status status = pp_allocate(&span, SPAN_BYTES);
    while (bytes > 0 && status == PARAPET_OK) {
        uint64_t start = place->start + offset / place->run_bytes * place->distance + offset % place->run_bytes;
        uint64_t span_bytes = pp_min_u64(SPAN_BYTES, end - start);
        size_t done;
        if ((status = pp_reader_read(file, start, (size_t)span_bytes, span)) != PARAPET_OK)
            break;
        done = gather(place, offset, bytes, span, span_bytes, target);
        target += done;
        offset += done;
        bytes -= done;
    }
    pp_free(span);
    return status;
}

parapet_status pp_place_read(pp_reader *file, const pp_place *place, uint64_t offset, size_t bytes,
                             unsigned char *target)
{
    uint64_t there = place->run_bytes * place->run_count;
    size_t stored = offset < there ? (size_t)pp_min_u64(bytes, there - offset) : 0;
    if (place->distance == place->run_bytes || place->run_count <= 1)
        return read_whole(file, place, offset, bytes, target);
    memset(target + stored, 0, bytes - stored);
    if (place->distance <= SPAN_BYTES / 4)
        return read_in_spans(file, place, offset, stored, target);
    return read_one_by_one(file, place, offset, stored, target);
}
