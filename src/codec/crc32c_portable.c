/* CRC-32C by tables, eight bytes at a time: tables[k][b] is what byte b does when k bytes follow it. */
#include <pthread.h>

#include "base/bytes.h"
#include "codec/crc32c.h"

#define POLYNOMIAL UINT32_C(0x82F63B78)

static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
    uint32_t byte;
    int bit, k;
    for (byte = 0; byte < 256; byte++) {
        uint32_t state = byte;
        for (bit = 0; bit < 8; bit++)
            state = (state >> 1) ^ (state & 1 ? POLYNOMIAL : 0);
        tables[0][byte] = state;
    }
    for (k = 1; k < 8; k++)
        for (byte = 0; byte < 256; byte++)
            tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 255];
}

static uint32_t add_eight(uint32_t state, const unsigned char *bytes)
{
    uint32_t low = state ^ pp_load_u32le(bytes);
    uint32_t high = pp_load_u32le(bytes + 4);
    return tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
           tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^ tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
}

uint32_t pp_crc32c_portable(uint32_t before, const void *data, size_t bytes)
{
    const unsigned char *next = data;
    uint32_t state = ~before;
    pthread_once(&tables_once, fill_tables);
    for (; bytes >= 8; bytes -= 8, next += 8)
        state = add_eight(state, next);
    for (; bytes > 0; bytes--, next++)
        state = (state >> 8) ^ tables[0][(state ^ *next) & 255];
    return ~state;
}
