#include "attributes.h"
#include "memory.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* What follows the string that starts at the quote. */
static const char *skip_string(const char *at)
{
    at++;
    while (*at != '\0' && *at != '"')
        at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    return *at == '"' ? at + 1 : at;
}

/* What follows the JSON value that starts here. */
static const char *skip_value(const char *at)
{
    int depth = 0;
    while (*at != '\0') {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        if (depth == 0 && strchr(",:}]", *at) != NULL)
            break;
        if (*at == '}' || *at == ']')
            depth--;
        at++;
    }
    return at;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const tool_attribute *)a)->name, ((const tool_attribute *)b)->name);
}

static char *canonical(const char *begin, const char *end);

static void add_member(tool_attribute_list *list, char *name, char *value)
{
    list->entries = memory_grow(list->entries, list->count, sizeof *list->entries);
    list->entries[list->count++] = (tool_attribute){.name = name, .value = value};
}

/* Takes a JSON object or list apart; the entries of a list have no name. Nesting is bounded by the library,
 * which refuses metadata that is nested too deeply. */
static void split(tool_attribute_list *list, const char *json)
{
    bool is_object = *json == '{';
    const char *at = skip_space(json + 1);
    while (*at != '\0' && *at != '}' && *at != ']') {
        const char *name = at;
        const char *name_end = is_object ? skip_string(at) : at;
        const char *value = is_object ? skip_space(skip_space(name_end) + 1) : at;
        at = skip_value(value);
        add_member(list, text_format("%.*s", (int)(name_end - name), name), canonical(value, at));
        if (*at == ',')
            at = skip_space(at + 1);
    }
    if (is_object && list->count > 1)
        qsort(list->entries, list->count, sizeof *list->entries, compare_names);
}

/* The value between begin and end on one line, with the members of objects in the order of their names. */
static char *canonical(const char *begin, const char *end)
{
    tool_attribute_list list = {0};
    char *text;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    if (*begin != '{' && *begin != '[')
        return text_format("%.*s", (int)(end - begin), begin);
    split(&list, begin);
    text = text_format("%c", *begin);
    for (size_t i = 0; i < list.count; i++) {
        const tool_attribute *member = &list.entries[i];
        char *longer = text_format("%s%s%s%s%s", text, i == 0 ? "" : ", ", member->name, *begin == '{' ? ": " : "",
                                   member->value);
        free(text);
        text = longer;
    }
    attributes_free(&list);
    char *whole = text_format("%s%c", text, *begin == '{' ? '}' : ']');
    free(text);
    return whole;
}

static void remove_seal(tool_attribute_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        tool_attribute *entry = &list->entries[i];
        if (strcmp(entry->name, TOOL_SEAL_ATTRIBUTE) != 0)
            continue;
        free(entry->name);
        free(entry->value);
        list->count--;
        memmove(entry, entry + 1, (list->count - i) * sizeof *entry);
        return;
    }
}

void attributes_init(tool_attribute_list *list, const char *json)
{
    const char *object = skip_space(json);
    *list = (tool_attribute_list){0};
    if (*object == '{')
        split(list, object);
    remove_seal(list);
}

void attributes_free(tool_attribute_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->entries[i].name);
        free(list->entries[i].value);
    }
    free(list->entries);
    *list = (tool_attribute_list){0};
}
