/* table.h - a table of places as text: what is known of a file in a format that another program has to read for us.
 * docs/design/foreign.md has the grammar. It is untrusted, as headers are. */
#ifndef PARAPET_FOREIGN_TABLE_H
#define PARAPET_FOREIGN_TABLE_H

#include "foreign/places.h"

/* How every table begins. */
#define PP_TABLE_FIRST_LINE "parapet places 1"

/* Adds what a table lists. places is empty, but for the length of the file. */
parapet_status pp_table_read(const char *text, size_t bytes, pp_places *places);

#endif
