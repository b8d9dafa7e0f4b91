/* random.h - numbers that nobody can guess and no other process draws, for names and identities. */
#ifndef PARAPET_BASE_RANDOM_H
#define PARAPET_BASE_RANDOM_H

#include <parapet_status.h>
#include <stdint.h>

#define PP_RANDOM_ID_BYTES 17 /* 16 hexadecimal digits and a NUL */

parapet_status pp_random_number(uint64_t *number);
parapet_status pp_random_id(char id[PP_RANDOM_ID_BYTES]);

#endif
