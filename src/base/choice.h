/* choice.h - options that are one of a few words: the enums of a store's options and of a copy, and booleans. Each
 * has one table of words, from which it is parsed, printed, compared between ranks, explained and refused. */
#ifndef PARAPET_BASE_CHOICE_H
#define PARAPET_BASE_CHOICE_H

#include <parapet_status.h>
#include <stdbool.h>

#define PP_CHOICE_VALUES 4
#define PP_CHOICE_LIST_BYTES 160

typedef struct pp_choice_word {
    const char *word;    /* NULL: there is no such value */
    const char *synonym; /* NULL: none */
    const char *meaning; /* NULL: that of the option */
} pp_choice_word;

typedef struct pp_choice {
    const char *name;                       /* of the option; NULL: of many */
    pp_choice_word words[PP_CHOICE_VALUES]; /* by value */
} pp_choice;

extern const pp_choice pp_choice_io_thread, pp_choice_direct_io, pp_choice_durability, pp_choice_owners,
    pp_choice_sharing, pp_choice_transport, pp_choice_reading, pp_choice_cooperation, pp_choice_locks,
    pp_choice_holes;
extern const pp_choice pp_choice_boolean;

/* The value with that word, synonym or number; false: there is none. */
bool pp_choice_parse(const pp_choice *choice, const char *text, int *value);

/* NULL: not a value of this choice. */
const pp_choice_word *pp_choice_word_of(const pp_choice *choice, int value);

/* What is accepted: "choose (0), flush (1) or leave (2)". */
void pp_choice_list(const pp_choice *choice, char list[PP_CHOICE_LIST_BYTES]);

/* PARAPET_ERR_ARGUMENT, with the name, the value and what is accepted, unless the value is one of the choice. */
parapet_status pp_choice_check(const pp_choice *choice, const char *name, int value);

/* The same for an int that must be 0 or 1. */
parapet_status pp_boolean_check(const char *name, int value);

#endif
