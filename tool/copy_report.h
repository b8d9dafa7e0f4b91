/* copy_report.h - one run of copy, and what is printed of it. */
#ifndef PARAPET_TOOL_COPY_REPORT_H
#define PARAPET_TOOL_COPY_REPORT_H

#include "node.h"
#include "place.h"

/* What one run of copy is, for its reports; only rank 0 prints. */
typedef struct tool_copying {
    const tool_request *request;
    tool_place source, target, temporary;
    parapet_store_options options;
    char *memory_origin;
    tool_node node; /* the source */
    parapet_copy_request copy;
    parapet_copy_result result;
    int signal; /* that ended it on any rank; 0: none */
} tool_copying;

/* What is copied, to where, and within which memory. */
void copying_print_header(const tool_copying *copying);

/* How it ended. */
void copying_print_result(const tool_copying *copying);
void copying_print_document(const tool_copying *copying, parapet_status status);

/* The command that goes on with a copy that was interrupted. */
char *copying_resume_command(const tool_copying *copying);

#endif
