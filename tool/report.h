/* report.h - what failed, for people and for programs. */
#ifndef PARAPET_TOOL_REPORT_H
#define PARAPET_TOOL_REPORT_H

#include <parapet_status.h>

#include "document.h"

/* While muted nothing is reported: another rank says the same. */
void report_mute(bool is_muted);

/* "parapet: <what>: <message>" on the error stream. */
void report_error(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with the message of the last failed library call. */
void report_failure(const char *what);

/* The same, where the status is known: a document then has it too. */
void report_status(parapet_status status, const char *what);

/* The first error as a JSON document on standard output, unless something is there already. */
void report_document(void);

/* The first error, as a member of a document that tells what was done before it; nothing if there was none. */
void report_add_error(tool_document *document);

/* Writes a whole file. False: already reported. */
bool file_write(const char *path, const char *text);

#endif
