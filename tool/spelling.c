/* spelling.c - what somebody may have meant who wrote a word that does not exist. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* What other tools call the verbs. */
static const struct {
    const char *word, *verb;
} synonyms[] = {
    {"show", "info"},      {"dump", "info"},    {"head", "info"},   {"stat", "info"},    {"describe", "info"},
    {"list", "ls"},        {"dir", "ls"},       {"tree", "ls -R"},  {"verify", "check"}, {"fsck", "check"},
    {"validate", "check"}, {"clean", "gc"},     {"prune", "gc"},    {"compare", "diff"}, {"cmp", "diff"},
    {"cp", "copy"},        {"convert", "copy"}, {"import", "copy"}, {"rechunk", "copy"}, {"test", "selftest"},
};

enum { WIDTH_MOST = 64 };

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The row of the first i letters of a, from the two rows before it. */
static void fill_row(size_t rows[3][WIDTH_MOST], const char *a, size_t i, const char *b)
{
    size_t *row = rows[i % 3];
    const size_t *last = rows[(i + 2) % 3], *last_but_one = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; b[j - 1] != '\0'; j++) {
        row[j] = lesser(last[j - 1] + (a[i - 1] != b[j - 1]), lesser(last[j], row[j - 1]) + 1);
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            row[j] = lesser(row[j], last_but_one[j - 2] + 1);
    }
}

size_t spelling_distance(const char *a, const char *b)
{
    size_t rows[3][WIDTH_MOST] = {{0}};
    size_t width = strlen(b), length = strlen(a);
    if (width >= WIDTH_MOST)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length; i++)
        fill_row(rows, a, i, b);
    return rows[length % 3][width];
}

/* Words of which most letters differ have nothing to do with each other. */
bool spelling_is_near(const char *word, size_t distance)
{
    return distance < (strlen(word) + 1) / 2;
}

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

const char *spelling_suggest_verb(int count, char **words)
{
    const char *completed = completed_verb(words[0]);
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
        if (strcmp(words[0], synonyms[i].word) == 0)
            return synonyms[i].verb;
    return completed != NULL ? completed : nearest_verb(count, words);
}
