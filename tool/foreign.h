/* foreign.h - what an operand is that is not a store, in words that help: people name files of metadata, and
 * directories that hold none. */
#ifndef PARAPET_TOOL_FOREIGN_H
#define PARAPET_TOOL_FOREIGN_H

#include <stdbool.h>

/* If the operand is a file of Zarr metadata: says what to name instead. False: it is none, nothing is said. */
bool foreign_report_file(const char *path);

/* If there is no Zarr metadata in the directory, below it or around it: says so. False: there is, or it is no
 * directory; nothing is said. */
bool foreign_refuse_directory(const char *path);

/* If the operand names a place that is no directory, such as "s3://bucket/x": says so. */
bool foreign_refuse_url(const char *operand);

#endif
