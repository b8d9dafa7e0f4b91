#include "verbs.h"
#include "memory.h"
#include "spelling.h"

#include <stdlib.h>
#include <string.h>

#define TOOL_VERB_ROW(name) &verb_##name,
const tool_verb *const tool_verbs[] = {TOOL_VERBS(TOOL_VERB_ROW) NULL};
#undef TOOL_VERB_ROW

int verb_word_count(const tool_verb *verb)
{
    return strchr(verb->name, ' ') != NULL ? 2 : 1;
}

bool verb_begins_with(const tool_verb *verb, const char *word)
{
    size_t length = strlen(word);
    return strncmp(verb->name, word, length) == 0 && verb->name[length] == ' ';
}

/* Whether the first words are the name of the verb. */
static bool verb_is_named(const tool_verb *verb, int count, char **words)
{
    const char *second;
    if (verb_word_count(verb) == 1)
        return strcmp(verb->name, words[0]) == 0;
    second = strchr(verb->name, ' ') + 1;
    return count > 1 && verb_begins_with(verb, words[0]) && strcmp(second, words[1]) == 0;
}

const tool_verb *verb_find(int count, char **words)
{
    for (const tool_verb *const *verb = tool_verbs; *verb != NULL; verb++)
        if (verb_is_named(*verb, count, words))
            return *verb;
    return NULL;
}

/* What other tools call the verbs. */
static const struct {
    const char *word, *verb;
} synonyms[] = {
    {"show", "info"},      {"dump", "info"},    {"head", "info"},   {"stat", "info"},    {"describe", "info"},
    {"list", "ls"},        {"dir", "ls"},       {"tree", "ls -R"},  {"verify", "check"}, {"fsck", "check"},
    {"validate", "check"}, {"clean", "gc"},     {"prune", "gc"},    {"compare", "diff"}, {"cmp", "diff"},
    {"cp", "copy"},        {"convert", "copy"}, {"import", "copy"}, {"rechunk", "copy"}, {"test", "selftest"},
};

/* How far the first words are from the name of a verb, if that is near; else SIZE_MAX. */
static size_t near_distance(const tool_verb *verb, int count, char **words)
{
    bool has_second = verb_word_count(verb) == 2 && count > 1;
    char *name = text_format("%s%s%s", words[0], has_second ? " " : "", has_second ? words[1] : "");
    size_t distance = spelling_distance(name, verb->name);
    if (!spelling_is_near(name, distance))
        distance = SIZE_MAX;
    free(name);
    return distance;
}

static const char *nearest_verb(int count, char **words)
{
    const char *nearest = NULL;
    size_t best = SIZE_MAX;
    for (const tool_verb *const *verb = tool_verbs; *verb != NULL; verb++) {
        size_t distance = near_distance(*verb, count, words);
        if (distance < best) {
            best = distance;
            nearest = (*verb)->name;
        }
    }
    return nearest;
}

/* The only verb that begins so. */
static const char *completed_verb(const char *word)
{
    const char *found = NULL;
    for (const tool_verb *const *verb = tool_verbs; *verb != NULL; verb++) {
        if (strncmp((*verb)->name, word, strlen(word)) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = (*verb)->name;
    }
    return found;
}

const char *verb_suggest(int count, char **words)
{
    const char *completed = completed_verb(words[0]);
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
        if (strcmp(words[0], synonyms[i].word) == 0)
            return synonyms[i].verb;
    return completed != NULL ? completed : nearest_verb(count, words);
}
