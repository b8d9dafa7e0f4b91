#include "arguments.h"
#include "foreign.h"
#include "memory.h"
#include "report.h"
#include "spelling.h"

#include <stdlib.h>
#include <string.h>

static const tool_flag common_flags[] = {
    {TOOL_JSON, 0, "json", "print one JSON document"},
    {TOOL_VERBOSE, 'v', "verbose", "print more, starting with the options in force"},
    {TOOL_HELP, 'h', "help", "print this help"},
    {0, 0, NULL, NULL},
};

/* Flags with a value: options of the library under the name that users expect. */
typedef struct tool_option_flag {
    char letter;
    const char *name;
    const char *option; /* NULL: the value is name=value */
    const char *usage;
    const char *help;
} tool_option_flag;

static const tool_option_flag option_flags[] = {
    {0, "max-mem", "memory_bytes", "--max-mem SIZE", "limit on all buffers; takes K, M, G or KiB, MiB, GiB"},
    {0, "threads", "threads", "--threads N", "threads that decode, including the main thread"},
    {'o', "option", NULL, "-o NAME=VALUE", "set any option of the library"},
};

enum { OPTION_FLAG_COUNT = sizeof option_flags / sizeof option_flags[0] };

static const tool_flag *find_flag(const tool_flag *flags, const char *name, char letter)
{
    for (; flags->name != NULL; flags++)
        if (name != NULL ? strcmp(flags->name, name) == 0 : flags->letter == letter)
            return flags;
    return NULL;
}

static const tool_option_flag *find_option(const char *name, size_t length, char letter)
{
    for (int i = 0; i < OPTION_FLAG_COUNT; i++) {
        const tool_option_flag *flag = &option_flags[i];
        bool is_named = name != NULL && strncmp(flag->name, name, length) == 0 && flag->name[length] == '\0';
        if (is_named || (name == NULL && flag->letter == letter))
            return flag;
    }
    return NULL;
}

/* Index of a flag with a value that the verb itself has; -1: none. */
static int find_value(const tool_verb *verb, const char *name, size_t length, char letter)
{
    for (int i = 0; verb->values != NULL && verb->values[i].name != NULL; i++) {
        const tool_value *value = &verb->values[i];
        bool is_named = name != NULL && strncmp(value->name, name, length) == 0 && value->name[length] == '\0';
        if (is_named || (name == NULL && value->letter == letter))
            return i;
    }
    return -1;
}

const char *request_value(const tool_request *request, const char *name)
{
    int index = find_value(request->verb, name, strlen(name), 0);
    return index < 0 ? NULL : request->values[index];
}

static void nearest_of(const tool_flag *flags, const char *name, const char **nearest, size_t *best)
{
    for (; flags->name != NULL; flags++) {
        size_t distance = spelling_distance(name, flags->name);
        if (distance < *best) {
            *best = distance;
            *nearest = flags->name;
        }
    }
}

static bool refuse_flag(const tool_verb *verb, const char *word)
{
    const char *nearest = NULL;
    size_t best = SIZE_MAX;
    if (strncmp(word, "--", 2) == 0) {
        nearest_of(verb->flags, word + 2, &nearest, &best);
        nearest_of(common_flags, word + 2, &nearest, &best);
        for (int i = 0; i < OPTION_FLAG_COUNT; i++) {
            const tool_flag flag[2] = {{.name = option_flags[i].name}, {.name = NULL}};
            nearest_of(flag, word + 2, &nearest, &best);
        }
        for (const tool_value *value = verb->values; value != NULL && value->name != NULL; value++) {
            const tool_flag flag[2] = {{.name = value->name}, {.name = NULL}};
            nearest_of(flag, word + 2, &nearest, &best);
        }
    }
    if (nearest != NULL && spelling_is_near(word + 2, best))
        report_error(verb->name, "there is no option %s; the nearest is --%s", word, nearest);
    else
        report_error(verb->name, "there is no option %s; parapet help %s lists them", word, verb->name);
    return false;
}

static bool set_named_option(tool_request *request, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    char *name;
    bool is_set;
    if (equals == NULL) {
        report_error("-o", "\"%s\" is not of the form name=value", assignment);
        return false;
    }
    name = text_format("%.*s", (int)(equals - assignment), assignment);
    is_set = parapet_store_options_set(&request->options, name, equals + 1) == PARAPET_OK;
    if (!is_set)
        report_failure("-o");
    free(name);
    return is_set;
}

static bool set_option(tool_request *request, const tool_option_flag *flag, const char *value)
{
    char *what;
    if (flag->option == NULL)
        return set_named_option(request, value);
    if (parapet_store_options_set(&request->options, flag->option, value) == PARAPET_OK)
        return true;
    what = text_format("--%s", flag->name);
    report_failure(what);
    free(what);
    return false;
}

/* The words that are still to be read. */
typedef struct tool_cursor {
    char **words;
    int count;
    int at;
} tool_cursor;

/* The value that came with the flag, or else the next word; NULL: there is none, already reported. */
static const char *next_value(const tool_request *request, const char *name, const char *usage, const char *value,
                              tool_cursor *cursor)
{
    if (value == NULL && cursor->at < cursor->count)
        value = cursor->words[cursor->at++];
    if (value == NULL)
        report_error(request->verb->name, "--%s needs a value: %s", name, usage);
    return value;
}

static bool take_value(tool_request *request, const tool_option_flag *flag, const char *value, tool_cursor *cursor)
{
    value = next_value(request, flag->name, flag->usage, value, cursor);
    return value != NULL && set_option(request, flag, value);
}

/* Of two values, one would be lost without a word. */
static bool take_own_value(tool_request *request, int index, const char *value, tool_cursor *cursor)
{
    const tool_value *own = &request->verb->values[index];
    const char *usage = own->usage != NULL ? own->usage : own->help;
    if (request->values[index] != NULL) {
        report_error(request->verb->name, "--%s is given twice, but only one can be meant; give it once: %s",
                     own->name, usage);
        return false;
    }
    request->values[index] = next_value(request, own->name, usage, value, cursor);
    return request->values[index] != NULL;
}

static bool parse_long(tool_request *request, const char *word, tool_cursor *cursor)
{
    const char *name = word + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals == NULL ? strlen(name) : (size_t)(equals - name);
    const tool_option_flag *option = find_option(name, length, 0);
    const tool_flag *flag = find_flag(request->verb->flags, name, 0);
    int own = find_value(request->verb, name, length, 0);
    if (own >= 0)
        return take_own_value(request, own, equals == NULL ? NULL : equals + 1, cursor);
    if (option != NULL)
        return take_value(request, option, equals == NULL ? NULL : equals + 1, cursor);
    if (flag == NULL)
        flag = find_flag(common_flags, name, 0);
    if (flag == NULL)
        return refuse_flag(request->verb, word);
    request->flags |= flag->bit;
    if (flag->bit == TOOL_TAKEOVER)
        request->options.takeover = 1;
    return true;
}

static bool refuse_letter(const tool_verb *verb, char letter)
{
    const char word[3] = {'-', letter, '\0'};
    return refuse_flag(verb, word);
}

/* One or several letters after a dash; the rest of the word is the value of a letter that needs one. */
static bool parse_short(tool_request *request, const char *word, tool_cursor *cursor)
{
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const tool_option_flag *option = find_option(NULL, 0, *letter);
        const tool_flag *flag = find_flag(request->verb->flags, NULL, *letter);
        const char *rest = letter[1] == '\0' ? NULL : letter + 1;
        int own = find_value(request->verb, NULL, 0, *letter);
        if (own >= 0)
            return take_own_value(request, own, rest, cursor);
        if (option != NULL)
            return take_value(request, option, rest, cursor);
        if (flag == NULL)
            flag = find_flag(common_flags, NULL, *letter);
        if (flag == NULL)
            return refuse_letter(request->verb, *letter);
        request->flags |= flag->bit;
    }
    return true;
}

static bool take_operand(tool_request *request, const char *word)
{
    static const char local[] = "file://";
    if (request->operand_count == request->verb->operands_max) {
        report_error(request->verb->name, "\"%s\" is one operand too many; usage: parapet %s [options] %s", word,
                     request->verb->name, request->verb->operands);
        return false;
    }
    if (foreign_refuse_url(word))
        return false;
    if (strncmp(word, local, strlen(local)) == 0)
        word += strlen(local);
    request->operands[request->operand_count++] = word;
    return true;
}

static bool parse_word(tool_request *request, tool_cursor *cursor, bool *has_ended)
{
    const char *word = cursor->words[cursor->at++];
    if (*has_ended || word[0] != '-' || word[1] == '\0')
        return take_operand(request, word);
    if (strcmp(word, "--") == 0) {
        *has_ended = true;
        return true;
    }
    return word[1] == '-' ? parse_long(request, word, cursor) : parse_short(request, word, cursor);
}

bool arguments_parse(tool_request *request)
{
    tool_cursor cursor = {.words = request->words, .count = request->word_count};
    bool has_ended = false;
    request->operands = memory_get(((size_t)request->word_count + 2) * sizeof request->operands[0]);
    while (cursor.at < cursor.count)
        if (!parse_word(request, &cursor, &has_ended))
            return false;
    if (request->flags & TOOL_HELP || request->operand_count >= request->verb->operands_min)
        return true;
    report_error(request->verb->name, "an operand is missing; usage: parapet %s [options] %s", request->verb->name,
                 request->verb->operands);
    return false;
}

void arguments_clear(tool_request *request)
{
    free(request->operands);
    request->operands = NULL;
}

static void print_flags(FILE *out, const tool_flag *flags)
{
    for (; flags->name != NULL; flags++) {
        char letter[5] = "    ";
        char *name = text_format("--%s", flags->name);
        if (flags->letter != 0)
            (void)snprintf(letter, sizeof letter, "-%c, ", flags->letter);
        fprintf(out, "  %s%-16s %s\n", letter, name, flags->help);
        free(name);
    }
}

enum { LINE_WIDTH = 80, HELP_COLUMN = 23 };

/* As much of a list as a line has room for, then the rest of it below. */
static void print_list(FILE *out, const char *list)
{
    const size_t room = LINE_WIDTH - HELP_COLUMN;
    while (strlen(list) > room) {
        size_t end = room;
        while (end > 1 && strncmp(list + end - 1, ", ", 2) != 0)
            end--;
        if (end == 1)
            break;
        fprintf(out, "%.*s\n%*s", (int)end, list, HELP_COLUMN, "");
        list += end + 1;
    }
    fprintf(out, "%s", list);
}

/* The words that a choice takes: behind the help, or below it where the line has no room for them. */
static void print_words(FILE *out, const tool_value *value)
{
    const char *words = parapet_option_words(value->name);
    if (words == NULL)
        return;
    if (HELP_COLUMN + strlen(value->help) + strlen(": ") + strlen(words) <= LINE_WIDTH)
        fprintf(out, ": %s", words);
    else {
        fprintf(out, ":\n%*s", HELP_COLUMN, "");
        print_list(out, words);
    }
}

static void print_values(FILE *out, const tool_value *values)
{
    for (; values != NULL && values->name != NULL; values++) {
        char letter[5] = "    ";
        if (values->letter != 0)
            (void)snprintf(letter, sizeof letter, "-%c, ", values->letter);
        if (values->usage == NULL)
            continue;
        fprintf(out, "  %s%-16s %s", letter, values->usage, values->help);
        print_words(out, values);
        fputc('\n', out);
    }
}

void help_print_verb(FILE *out, const tool_verb *verb)
{
    fprintf(out, "Usage: parapet %s [options]%s%s\n\n%s\n%s\nOptions:\n", verb->name,
            verb->operands[0] != '\0' ? " " : "", verb->operands, verb->summary, verb->details);
    print_values(out, verb->values);
    print_flags(out, verb->flags);
    print_flags(out, common_flags);
    for (int i = 0; i < OPTION_FLAG_COUNT; i++)
        fprintf(out, "  %s%-*s %s\n", option_flags[i].letter ? "" : "    ", option_flags[i].letter ? 20 : 16,
                option_flags[i].usage, option_flags[i].help);
    fprintf(out, "\nExit codes: %s\n", verb->exit_codes);
}
