/* sums.h - checksums of open steps, one behind every piece. */
#ifndef PARAPET_SERIES_SUMS_H
#define PARAPET_SERIES_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a piece takes in addition to its bytes. */
#define PP_SERIES_SUM_BYTES 8

/* Follows the bytes of a piece that begins at offset in the log. */
void pp_series_sum_put(unsigned char *data, size_t bytes, uint64_t offset);
bool pp_series_sum_fits(const unsigned char *data, size_t bytes, uint64_t offset);

#endif
