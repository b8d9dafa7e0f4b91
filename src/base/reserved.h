/* reserved.h - the reserved words at the end of every public struct that a caller fills in. They must be 0, so that a
 * later version can give them a meaning. */
#ifndef PARAPET_BASE_RESERVED_H
#define PARAPET_BASE_RESERVED_H

#include <parapet_status.h>

/* PARAPET_ERR_ARGUMENT, naming the type, unless all of the words are 0. */
parapet_status pp_reserved_check(const char *type, const int64_t *words, size_t count);

/* The same for the member "reserved" of a struct. */
#define PP_RESERVED_CHECK(type, given)                                                                               \
    pp_reserved_check(#type, (given)->reserved, sizeof(given)->reserved / sizeof(given)->reserved[0])

#endif
