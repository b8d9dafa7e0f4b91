#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "comm/comm.h"

#define FNV_START UINT64_C(14695981039346656037)
#define FNV_PRIME UINT64_C(1099511628211)

#define WHOLE_BYTES 8192         /* more than any path has */
#define SHOWN_BYTES ((size_t)64) /* of a value */

/* Between the name of an argument and its value, and after the value. */
#define VALUE_MARK '\037'
#define END_MARK '\036'

static uint64_t digest_of(uint64_t digest, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    size_t i;
    for (i = 0; i < bytes; i++)
        digest = (digest ^ byte[i]) * FNV_PRIME;
    return digest;
}

/* The words that are shown may be cut off; what is compared is not. */
void pp_call_init(pp_call *call, const char *format, ...)
{
    char whole[WHOLE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(whole, sizeof whole, format, arguments);
    va_end(arguments);
    *call = (pp_call){.digest = FNV_START};
    memcpy(call->words, whole, strnlen(whole, sizeof call->words - 1));
    pp_call_add(call, whole, strlen(whole));
}

void pp_call_add(pp_call *call, const void *data, size_t bytes)
{
    call->digest = digest_of(call->digest, data, bytes);
}

void pp_call_within(pp_call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(call->prefix, sizeof call->prefix, format, arguments);
    va_end(arguments);
}

/* Adds an argument to those that can be told; one that has no room left is compared all the same. */
static void show(pp_call *call, const char *name, const char *value)
{
    char line[sizeof call->prefix + 2 * SHOWN_BYTES];
    size_t used = strlen(call->arguments), bytes, i;
    (void)snprintf(line, sizeof line, "%s%.40s%c%s%c", call->prefix, name, VALUE_MARK, value, END_MARK);
    bytes = strlen(line);
    if (call->is_cut || used + bytes >= sizeof call->arguments) {
        call->is_cut = true;
        return;
    }
    for (i = 0; i < bytes; i++) {
        bool is_shown = (unsigned char)line[i] >= ' ' || line[i] == VALUE_MARK || line[i] == END_MARK;
        call->arguments[used + i] = is_shown ? line[i] : '?';
    }
    call->arguments[used + bytes] = '\0';
}

void pp_call_add_integer(pp_call *call, const char *name, int64_t value)
{
    char text[SHOWN_BYTES];
    (void)snprintf(text, sizeof text, "%" PRId64, value);
    pp_call_add(call, &value, sizeof value);
    show(call, name, text);
}

void pp_call_add_choice(pp_call *call, const pp_choice *choice, int value)
{
    const pp_choice_word *word = pp_choice_word_of(choice, value);
    if (word == NULL) {
        pp_call_add_integer(call, choice->name, value);
        return;
    }
    pp_call_add(call, &value, sizeof value);
    show(call, choice->name, word->word);
}

void pp_call_add_real(pp_call *call, const char *name, double value)
{
    char text[SHOWN_BYTES];
    (void)snprintf(text, sizeof text, "%.17g", value);
    pp_call_add(call, &value, sizeof value);
    show(call, name, text);
}

void pp_call_add_integers(pp_call *call, const char *name, int count, const int64_t *values)
{
    char element[SHOWN_BYTES];
    int i;
    if (values == NULL) {
        pp_call_add(call, "", 1);
        show(call, name, "not given");
        return;
    }
    for (i = 0; i < count; i++) {
        (void)snprintf(element, sizeof element, "%.40s[%d]", name, i);
        pp_call_add_integer(call, element, values[i]);
    }
}

/* A text that is too long to be shown is told by its beginning and a digest of all of it. */
void pp_call_add_text(pp_call *call, const char *name, const char *text)
{
    char shown[SHOWN_BYTES];
    unsigned char is_there = text != NULL;
    size_t bytes = text != NULL ? strlen(text) + 1 : 0;
    pp_call_add(call, &is_there, 1);
    pp_call_add(call, text != NULL ? text : "", bytes);
    if (text == NULL)
        (void)snprintf(shown, sizeof shown, "not given");
    else if (bytes < 36)
        (void)snprintf(shown, sizeof shown, "\"%s\"", text);
    else
        (void)snprintf(shown, sizeof shown, "\"%.24s...\" (digest %08" PRIx32 ")", text,
                       (uint32_t)digest_of(FNV_START, text, bytes));
    show(call, name, shown);
}

void pp_call_add_element(pp_call *call, const char *name, int index, const char *text)
{
    char element[SHOWN_BYTES];
    (void)snprintf(element, sizeof element, "%.40s[%d]", name, index);
    pp_call_add_text(call, element, text);
}

void pp_call_add_value(pp_call *call, const char *name, const void *data, size_t bytes)
{
    char shown[SHOWN_BYTES] = "not given";
    unsigned char is_there = data != NULL;
    size_t i;
    pp_call_add(call, &is_there, 1);
    if (data != NULL) {
        pp_call_add(call, data, bytes);
        (void)snprintf(shown, sizeof shown, "0x");
        for (i = 0; i < bytes && i < 16; i++)
            (void)snprintf(shown + 2 + 2 * i, sizeof shown - 2 - 2 * i, "%02x", ((const unsigned char *)data)[i]);
    }
    show(call, name, shown);
}

/* The argument at the beginning of a list: its bytes, and where its value begins; 0: there is none. */
static size_t length_of_first(const char *list, size_t *value_at)
{
    const char *mark = strchr(list, VALUE_MARK), *end = mark != NULL ? strchr(mark, END_MARK) : NULL;
    if (end == NULL)
        return 0;
    *value_at = (size_t)(mark - list) + 1;
    return (size_t)(end - list) + 1;
}

/* Where the value of an argument of that name stands in a list, and how long it is; NULL: it has none. */
static const char *find_value(const char *list, const char *name, size_t name_bytes, int *value_bytes)
{
    size_t bytes, value_at;
    for (; (bytes = length_of_first(list, &value_at)) > 0; list += bytes)
        if (value_at == name_bytes && memcmp(list, name, name_bytes) == 0) {
            *value_bytes = (int)(bytes - value_at) - 1;
            return list + value_at;
        }
    return NULL;
}

bool pp_call_find_difference(const char *here, const char *there, pp_difference *difference)
{
    size_t bytes, value_at;
    for (; (bytes = length_of_first(here, &value_at)) > 0; here += bytes) {
        int here_bytes = (int)(bytes - value_at) - 1, there_bytes = 0;
        const char *other = find_value(there, here, value_at, &there_bytes);
        if (other != NULL && here_bytes == there_bytes && memcmp(here + value_at, other, (size_t)here_bytes) == 0)
            continue;
        (void)snprintf(difference->name, sizeof difference->name, "%.*s", (int)value_at - 1, here);
        (void)snprintf(difference->here, sizeof difference->here, "%.*s", here_bytes, here + value_at);
        (void)snprintf(difference->there, sizeof difference->there, "%.*s", other != NULL ? there_bytes : 9,
                       other != NULL ? other : "not given");
        return true;
    }
    return false;
}
