/* settings.h - options of a store at random: servers, owners, sharing, transport, memory, threads. None of them may
 * show in what is stored. */
#ifndef PARAPET_TESTS_SETTINGS_H
#define PARAPET_TESTS_SETTINGS_H

#include <parapet.h>
#include <stddef.h>

#include "draw.h"

/* Where options have to be the same on all ranks, they are. Also sets PARAPET_RANKS_PER_NODE: the store is opened
 * before the next draw. */
parapet_store_options settings_draw(draw *from, int ranks);

void settings_print(const parapet_store_options *options, char *text, size_t bytes);

#endif
