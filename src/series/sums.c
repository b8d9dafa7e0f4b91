/* sums.c - checksums of open steps: behind every piece of a step, in memory as in the log, there is room for one. It
 * is filled when the piece goes to the log, and compared when the row is written from there. */
#include "series/sums.h"

#include "base/bytes.h"
#include "codec/crc32c.h"

/* A piece that lies at another place than it was written to is not the one that is looked for. */
static uint32_t sum_of(const unsigned char *data, size_t bytes, uint64_t offset)
{
    unsigned char place[8];
    pp_store_u64le(place, offset);
    return pp_crc32c(pp_crc32c(0, data, bytes), place, sizeof place);
}

void pp_series_sum_put(unsigned char *data, size_t bytes, uint64_t offset)
{
    uint32_t sum = sum_of(data, bytes, offset);
    pp_store_u32le(data + bytes, sum);
    pp_store_u32le(data + bytes + 4, ~sum);
}

bool pp_series_sum_fits(const unsigned char *data, size_t bytes, uint64_t offset)
{
    uint32_t sum = sum_of(data, bytes, offset);
    return pp_load_u32le(data + bytes) == sum && pp_load_u32le(data + bytes + 4) == ~sum;
}
