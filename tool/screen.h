/* screen.h - the one place that all output for people and programs passes on its way out.
 *
 * Plans and attributes are printed in many places; what they hold is from outside. Names are made visible one by one
 * besides, since here a line break of a name looks like one of ours. */
#ifndef PARAPET_TOOL_SCREEN_H
#define PARAPET_TOOL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether anything was printed on standard output. */
bool screen_is_used(void);

/* From now on all that goes to standard output is made visible, whoever prints it; ASCII is left as it is. */
void screen_standard_output(void);

/* How wide a line may be: the terminal, or 80 columns where output goes elsewhere. */
size_t screen_columns(void);

#endif
