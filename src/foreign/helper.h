/* helper.h - another program that tells what is in a file. It may be killed, or die: that is then said in a sentence,
 * and nothing else happens. */
#ifndef PARAPET_FOREIGN_HELPER_H
#define PARAPET_FOREIGN_HELPER_H

#include <parapet_status.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct pp_helper_limits {
    bool is_forbidden;
    size_t most_bytes; /* of its output */
    int seconds;
} pp_helper_limits;

/* Runs parapet-places on a file: its output, followed by a NUL; free with pp_free. */
parapet_status pp_helper_run(const char *file, const pp_helper_limits *limits, char **text, size_t *bytes);

#endif
