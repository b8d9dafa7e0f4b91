/* interrupt.h - signals that end a copy. */
#ifndef PARAPET_TOOL_INTERRUPT_H
#define PARAPET_TOOL_INTERRUPT_H

#include "tool.h"

/* SIGINT and SIGTERM from now on leave their number. What is under way should come to its end then; if it does not,
 * the words are printed by rank 0, with a document for --json, and the process ends. */
void interrupt_watch(const tool_request *request, const char *words);
int interrupt_signal(void); /* 0: none came */

/* It has come to its end: the process may say so at leisure. */
void interrupt_end_orderly(void);

#endif
