/* crc32c.h - CRC-32C (Castagnoli), as the crc32c codec stores it. Uses the fastest way that this processor has. */
#ifndef PARAPET_CODEC_CRC32C_H
#define PARAPET_CODEC_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues a checksum over more data; before is the checksum so far, or 0 at the start. */
uint32_t pp_crc32c(uint32_t before, const void *data, size_t bytes);

/* The portable way, for tests and other processors. */
uint32_t pp_crc32c_portable(uint32_t before, const void *data, size_t bytes);

/* "ISA-L", "SSE4.2" or "portable". */
const char *pp_crc32c_name(void);

#endif
