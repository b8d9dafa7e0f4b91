/* The bare limit: a file for each rank that holds its block as it lies in memory, 8 MiB at a time. */
#ifndef BENCH_OWN_FILE_H
#define BENCH_OWN_FILE_H

#include "case.h"

/* In a folder of the case's directory, which must exist. flags: 0 or O_DIRECT. Writing ends with fsync. */
void bench_own_file_write(const bench_case *c, const char *folder, int flags);
void bench_own_file_read(const bench_case *c, const char *folder, int flags);

#endif
