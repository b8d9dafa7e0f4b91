/* progress.h - how far a verb is. */
#ifndef PARAPET_TOOL_PROGRESS_H
#define PARAPET_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* One line that says how far a verb is: redrawn on a terminal, added now and then elsewhere. */
typedef struct tool_progress {
    const char *verb;
    bool is_shown, is_terminal, is_drawn;
    bool is_begun;
    double start_seconds, shown_seconds;
    int shown_tenth;     /* of the work, when it was last shown */
    int64_t first_bytes; /* already done at the start */
} tool_progress;

void progress_init(tool_progress *progress, const char *verb, bool is_shown);

/* A parapet_progress_callback; asks to stop when a signal came. */
int progress_report(void *context, int64_t done_bytes, int64_t total_bytes);

/* Takes the line away. */
void progress_end(tool_progress *progress);

#endif
