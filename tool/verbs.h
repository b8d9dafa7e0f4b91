/* verbs.h - the table of verbs, and which of them is named, or may be meant. */
#ifndef PARAPET_TOOL_VERBS_H
#define PARAPET_TOOL_VERBS_H

#include "tool.h"

/* The verbs in the order of the help: verb_plan_copy is in cmd_plan_copy.c, is called as "plan copy", and has the
 * page docs/man/parapet-plan-copy.1. */
#define TOOL_VERBS(ROW)                                                                                              \
    ROW(info)                                                                                                        \
    ROW(ls)                                                                                                          \
    ROW(tree)                                                                                                        \
    ROW(dump)                                                                                                        \
    ROW(stats)                                                                                                       \
    ROW(show)                                                                                                        \
    ROW(attr)                                                                                                        \
    ROW(consolidate)                                                                                                 \
    ROW(check)                                                                                                       \
    ROW(rm)                                                                                                          \
    ROW(gc)                                                                                                          \
    ROW(diff)                                                                                                        \
    ROW(append)                                                                                                      \
    ROW(copy)                                                                                                        \
    ROW(plan_write)                                                                                                  \
    ROW(plan_read)                                                                                                   \
    ROW(plan_copy)                                                                                                   \
    ROW(places)                                                                                                      \
    ROW(bench_disks)                                                                                                 \
    ROW(completion)                                                                                                  \
    ROW(selftest)

#define TOOL_VERB_DECLARE(name) extern const tool_verb verb_##name;
TOOL_VERBS(TOOL_VERB_DECLARE)
#undef TOOL_VERB_DECLARE

/* All of them, ended by NULL. No verb uses this table, which leads to it. */
extern const tool_verb *const tool_verbs[];

/* The verb that the first words name, or NULL. */
const tool_verb *verb_find(int count, char **words);

/* The verb that the first words, which name none, may mean, "info" or "ls -R"; NULL: nobody can tell. */
const char *verb_suggest(int count, char **words);

/* How many words its name has: 1 or 2. */
int verb_word_count(const tool_verb *verb);

/* Whether the name has two words of which this is the first. */
bool verb_begins_with(const tool_verb *verb, const char *word);

#endif
