/* resident.h - what the system says about this process's memory. */
#ifndef PARAPET_TESTS_RESIDENT_H
#define PARAPET_TESTS_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

/* A line of /proc/self/status ("VmRSS", "VmHWM", "RssAnon", "RssShmem") in bytes; -1: not there. */
int64_t resident_bytes(const char *line);

/* From now on VmHWM is the most since now. false: the system does not do that. */
bool resident_forget_most(void);

#endif
