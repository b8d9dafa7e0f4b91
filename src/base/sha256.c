#include "base/sha256.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t value, int bits)
{
    return value >> bits | value << (32 - bits);
}

static void expand_block(const unsigned char block[64], uint32_t schedule[64])
{
    size_t i;
    for (i = 0; i < 16; i++)
        schedule[i] = pp_load_u32be(block + 4 * i);
    for (i = 16; i < 64; i++) {
        uint32_t a = schedule[i - 15], b = schedule[i - 2];
        uint32_t small0 = rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3;
        uint32_t small1 = rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10;
        schedule[i] = schedule[i - 16] + small0 + schedule[i - 7] + small1;
    }
}

static void absorb_block(uint32_t state[8], const unsigned char block[64])
{
    uint32_t schedule[64], s[8];
    int i;
    expand_block(block, schedule);
    memcpy(s, state, sizeof s);
    for (i = 0; i < 64; i++) {
        uint32_t big1 = rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25);
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t first = s[7] + big1 + choice + round_constants[i] + schedule[i];
        uint32_t big0 = rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += first;
        s[0] = first + big0 + majority;
    }
    for (i = 0; i < 8; i++)
        state[i] += s[i];
}

void pp_sha256_init(pp_sha256 *hash)
{
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(hash, 0, sizeof *hash);
    memcpy(hash->state, initial, sizeof initial);
}

void pp_sha256_add(pp_sha256 *hash, const void *data, size_t bytes)
{
    const unsigned char *next = data;
    while (bytes > 0) {
        size_t filled = (size_t)(hash->total_bytes % 64);
        size_t piece = pp_min_size(bytes, 64 - filled);
        memcpy(hash->block + filled, next, piece);
        hash->total_bytes += piece;
        next += piece;
        bytes -= piece;
        if (filled + piece == 64)
            absorb_block(hash->state, hash->block);
    }
}

void pp_sha256_finish(pp_sha256 *hash, unsigned char digest[PP_SHA256_BYTES])
{
    static const unsigned char padding[64] = {0x80};
    unsigned char length[8];
    int i;
    pp_store_u64be(length, hash->total_bytes * 8);
    pp_sha256_add(hash, padding, 1 + (size_t)((119 - hash->total_bytes % 64) % 64));
    pp_sha256_add(hash, length, sizeof length);
    for (i = 0; i < 32; i++)
        digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void pp_sha256_of(const void *data, size_t bytes, unsigned char digest[PP_SHA256_BYTES])
{
    pp_sha256 hash;
    pp_sha256_init(&hash);
    pp_sha256_add(&hash, data, bytes);
    pp_sha256_finish(&hash, digest);
}

void pp_sha256_print(const unsigned char digest[PP_SHA256_BYTES], char text[PP_SHA256_HEX_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    size_t i;
    for (i = 0; i < PP_SHA256_BYTES; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[PP_SHA256_HEX_BYTES - 1] = '\0';
}
