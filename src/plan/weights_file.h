/* weights_file.h - how fast the servers of a job are, as text that a program or a person has written:
 *
 *     parapet weights 1
 *     servers 2
 *     server 0 writing 512000000 reading 730000000
 *     server 1 writing 256000000 reading 365000000
 *     end
 *
 * Pure. Depends on base. The text is not trusted. Speeds are whole bytes per second, in the order of the servers. */
#ifndef PARAPET_PLAN_WEIGHTS_FILE_H
#define PARAPET_PLAN_WEIGHTS_FILE_H

#include "plan/weights.h"

#include "base/memory.h"

/* A file that is larger than this is none. */
#define PP_WEIGHTS_FILE_BYTES_MOST ((size_t)16 << 20)

typedef struct pp_given_speeds {
    int64_t *writing, *reading; /* 1 to PP_SPEED_MOST, of every server */
    int server_count;
} pp_given_speeds;

/* Room for the speeds of that many servers, all 0. Clear it even after a failure. */
parapet_status pp_given_speeds_init(pp_given_speeds *speeds, size_t server_count);

/* What is not exactly of this form is refused, naming the line. Clear it even after a failure. */
parapet_status pp_weights_file_parse(pp_given_speeds *speeds, const char *text, size_t bytes);

/* Refuses speeds of another number of servers. */
parapet_status pp_given_speeds_check(const pp_given_speeds *speeds, int server_count);

void pp_given_speeds_clear(pp_given_speeds *speeds);

#endif
