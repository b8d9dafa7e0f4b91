/* option.h - fields of a public struct that can be set by name: numbers (int64_t), enums and booleans (the size
 * of an int), and texts. Each field has one row, from which it is set from text, checked and explained. */
#ifndef PARAPET_BASE_OPTION_H
#define PARAPET_BASE_OPTION_H

#include <stdbool.h>

#include "base/choice.h"

typedef struct pp_option {
    const char *name;
    size_t offset;
    const pp_choice *choice; /* NULL: a number */
    int64_t low, high;       /* of a number */
    int64_t fallback;        /* what 0 becomes */
    const char *meaning;     /* NULL: that of the value */
    bool is_text;            /* a text of the caller, which is not copied; NULL: not given */
} pp_option;

typedef struct pp_option_table {
    const pp_option *options;
    size_t count;
} pp_option_table;

#define PP_OPTION_NUMBER(type, field, low, high, fallback, meaning)                                                  \
    {                                                                                                                \
#field, offsetof(type, field), NULL, low, high, fallback, meaning, false                                     \
    }
#define PP_OPTION_CHOICE(type, field, fallback)                                                                      \
    {                                                                                                                \
#field, offsetof(type, field), &pp_choice_##field, 0, 0, fallback, NULL, false                               \
    }
#define PP_OPTION_BOOLEAN(type, field, meaning)                                                                      \
    {                                                                                                                \
#field, offsetof(type, field), &pp_choice_boolean, 0, 0, 0, meaning, false                                   \
    }

#define PP_OPTION_TEXT(type, field, meaning)                                                                         \
    {                                                                                                                \
#field, offsetof(type, field), NULL, 0, 0, 0, meaning, true                                                  \
    }

/* The value of a number or a choice; of a text, whether it is given. */
int64_t pp_option_get(const pp_option *option, const void *fields);
void pp_option_put(const pp_option *option, void *fields, int64_t value);

/* The text that a field has, or NULL. */
const char *pp_option_get_text(const pp_option *option, const void *fields);
void pp_option_put_text(const pp_option *option, void *fields, const char *text);

/* The value of an option from text: a number with a unit, or a word. The sentence lists what is accepted. */
parapet_status pp_option_parse(const pp_option *option, const char *text, int64_t *value);

/* Sets a field by name. An unknown name is refused with a list of all names. */
parapet_status pp_option_set(const pp_option_table *table, void *fields, const char *name, const char *text);

/* Checks that the field has a value that the option allows. */
parapet_status pp_option_check(const pp_option *option, const void *fields);

#endif
