/* quantity.h - numbers and sizes as people type them. */
#ifndef PARAPET_TOOL_QUANTITY_H
#define PARAPET_TOOL_QUANTITY_H

#include "tool.h"

/* Says that the value of a flag is not what is expected, "a number of 1 or more"; returns false. */
bool value_refuse(const char *name, const char *text, const char *expected);

/* A number from 0 on that ends where end says. */
bool number_parse(const char *text, const char **end, int64_t *number);

/* The value of a flag as a number from low on; not given: number stays as it is. False: already reported. */
bool integer_parse(const tool_request *request, const char *name, int64_t low, int64_t *number);

/* Numbers with commas between them; returns how many, -1: a usage error, already reported. */
int list_parse(const tool_request *request, const char *name, int64_t *numbers);

/* The same, one number per dimension of a shape. */
bool extents_parse(const tool_request *request, const char *name, int ndim, int64_t *numbers);

/* As integer_parse, for bytes or bytes per second: "1.5G", "300 MB/s", "64KiB". */
bool size_parse(const tool_request *request, const char *name, double *bytes);

char *text_of_rate(double bytes_per_second); /* "12.3 MB/s", powers of 1000 as for disks and networks */
char *text_of_clock(double seconds);         /* "0:01:23" */
char *text_of_seconds(double seconds);       /* "0.05 s", "123 s" */

#endif
