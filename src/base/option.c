#include "base/option.h"

#include <ctype.h>
#include <errno.h>
#include <parapet_store.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "base/text.h"

_Static_assert(sizeof(parapet_durability) == sizeof(int), "enums are set and read as int");

static const void *at(const pp_option *option, const void *fields)
{
    return (const char *)fields + option->offset;
}

const char *pp_option_get_text(const pp_option *option, const void *fields)
{
    return *(const char *const *)at(option, fields);
}

void pp_option_put_text(const pp_option *option, void *fields, const char *text)
{
    *(const char **)(void *)((char *)fields + option->offset) = text;
}

int64_t pp_option_get(const pp_option *option, const void *fields)
{
    if (option->is_text)
        return pp_option_get_text(option, fields) != NULL;
    return option->choice != NULL ? *(const int *)at(option, fields) : *(const int64_t *)at(option, fields);
}

void pp_option_put(const pp_option *option, void *fields, int64_t value)
{
    void *field = (char *)fields + option->offset;
    if (option->choice != NULL)
        *(int *)field = (int)value;
    else
        *(int64_t *)field = value;
}

static parapet_status refuse_name(const pp_option_table *table, const char *name)
{
    pp_text text = {0};
    char *known;
    parapet_status status;
    size_t i;
    for (i = 0; i < table->count; i++)
        pp_text_add(&text, "%s%s", i > 0 ? ", " : "", table->options[i].name);
    if ((status = pp_text_finish(&text, &known)) != PARAPET_OK)
        return status;
    status = pp_fail(PARAPET_ERR_ARGUMENT, "there is no option \"%s\"; the options are %s", name, known);
    pp_free(known);
    return status;
}

/* 1 for "", 1000 for "K", 1024 for "KiB" and so on; 0 for anything else. */
static int64_t unit_of(const char *suffix)
{
    static const char letters[] = "KMGT";
    const char *found = suffix[0] != '\0' ? strchr(letters, toupper((unsigned char)suffix[0])) : NULL;
    int64_t unit = 1, base;
    ptrdiff_t i;
    if (suffix[0] == '\0' || strcmp(suffix, "B") == 0)
        return 1;
    if (found == NULL)
        return 0;
    if (suffix[1] == '\0' || strcmp(suffix + 1, "B") == 0)
        base = 1000;
    else if (strcmp(suffix + 1, "iB") == 0)
        base = 1024;
    else
        return 0;
    for (i = 0; i <= found - letters; i++)
        unit *= base;
    return unit;
}

static parapet_status parse_number(const pp_option *option, const char *text, int64_t *value)
{
    char *end;
    long long number;
    int64_t unit, parsed;
    errno = 0;
    number = strtoll(text, &end, 10);
    unit = unit_of(end);
    if (end == text || errno != 0 || unit == 0 || !pp_multiply_fits(number, unit, &parsed) || parsed < option->low ||
        parsed > option->high)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "option %s cannot be \"%s\": it takes a number from %lld to %lld, optionally followed by K, "
                       "M, G (powers of 1000) or KiB, MiB, GiB (powers of 1024) (%s)",
                       option->name, text, (long long)option->low, (long long)option->high, option->meaning);
    *value = parsed;
    return PARAPET_OK;
}

parapet_status pp_option_parse(const pp_option *option, const char *text, int64_t *value)
{
    char list[PP_CHOICE_LIST_BYTES];
    int chosen;
    if (option->choice == NULL)
        return parse_number(option, text, value);
    if (!pp_choice_parse(option->choice, text, &chosen)) {
        pp_choice_list(option->choice, list);
        return pp_fail(PARAPET_ERR_ARGUMENT, "option %s cannot be \"%s\": it takes %s", option->name, text, list);
    }
    *value = chosen;
    return PARAPET_OK;
}

static parapet_status check_text(const pp_option *option, const char *text)
{
    if (text != NULL && text[0] == '\0')
        return pp_fail(PARAPET_ERR_ARGUMENT, "option %s cannot be empty: it takes %s", option->name, option->meaning);
    return PARAPET_OK;
}

static const pp_option *find(const pp_option_table *table, const char *name)
{
    size_t i;
    for (i = 0; i < table->count; i++)
        if (strcmp(table->options[i].name, name) == 0)
            return &table->options[i];
    return NULL;
}

parapet_status pp_option_set(const pp_option_table *table, void *fields, const char *name, const char *text)
{
    const pp_option *option = find(table, name);
    int64_t value;
    parapet_status status;
    if (option == NULL)
        return refuse_name(table, name);
    if (option->is_text) {
        if ((status = check_text(option, text)) == PARAPET_OK)
            pp_option_put_text(option, fields, text);
        return status;
    }
    if ((status = pp_option_parse(option, text, &value)) == PARAPET_OK)
        pp_option_put(option, fields, value);
    return status;
}

parapet_status pp_option_check(const pp_option *option, const void *fields)
{
    int64_t value = pp_option_get(option, fields);
    if (option->is_text)
        return check_text(option, pp_option_get_text(option, fields));
    if (option->choice != NULL)
        return pp_choice_check(option->choice, option->name, (int)value);
    if (value < option->low || value > option->high)
        return pp_fail(PARAPET_ERR_ARGUMENT, "option %s is %lld, but must be between %lld and %lld", option->name,
                       (long long)value, (long long)option->low, (long long)option->high);
    return PARAPET_OK;
}
