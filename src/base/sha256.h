/* sha256.h - SHA-256 (FIPS 180-4), for digests that anyone can recompute with a standard tool. */
#ifndef PARAPET_BASE_SHA256_H
#define PARAPET_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define PP_SHA256_BYTES 32
#define PP_SHA256_HEX_BYTES 65

typedef struct pp_sha256 {
    uint32_t state[8];
    uint64_t total_bytes;
    unsigned char block[64];
} pp_sha256;

void pp_sha256_init(pp_sha256 *hash);
void pp_sha256_add(pp_sha256 *hash, const void *data, size_t bytes);
void pp_sha256_finish(pp_sha256 *hash, unsigned char digest[PP_SHA256_BYTES]);

/* All three at once. */
void pp_sha256_of(const void *data, size_t bytes, unsigned char digest[PP_SHA256_BYTES]);

/* Lower-case hexadecimal with a final NUL. */
void pp_sha256_print(const unsigned char digest[PP_SHA256_BYTES], char text[PP_SHA256_HEX_BYTES]);

#endif
