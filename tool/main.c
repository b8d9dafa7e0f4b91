/* main.c - the command-line tool `parapet`: finds the verb and hands it its words.
 *
 * Does not know: what the verbs do. */
#include "arguments.h"
#include "memory.h"
#include "ranks.h"
#include "report.h"
#include "screen.h"
#include "tool.h"
#include "verbs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(FILE *out)
{
    fputs("Usage: parapet VERB [options] ...\n\n"
          "Inspects, checks, compares and copies Zarr stores, and plans transfers.\n\nVerbs:\n",
          out);
    for (const tool_verb *const *verb = tool_verbs; *verb != NULL; verb++)
        fprintf(out, "  %-10s  %s\n", (*verb)->name, (*verb)->summary);
    fputs("\n  -h, --help     print this help; parapet help VERB prints that of a verb\n"
          "  -V, --version  print the versions of this tool, MPI and every codec\n",
          out);
}

/* A full disk or a closed pipe must not look like success. */
static int finish_output(int exit_code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    report_error("standard output", "cannot be written");
    return TOOL_FAILED;
}

static int run_verb(const tool_verb *verb, int count, char **words)
{
    tool_request request = {.verb = verb, .words = words, .word_count = count};
    int exit_code = TOOL_OK;
    if (!arguments_parse(&request))
        exit_code = TOOL_USAGE;
    else if (!(request.flags & TOOL_HELP))
        exit_code = ranks_run(&request);
    else if (ranks_launched() <= 0)
        help_print_verb(stdout, verb);
    arguments_clear(&request);
    return exit_code;
}

/* Verbs that begin with this word; returns how many there are. */
static int print_family(FILE *out, const char *word)
{
    int count = 0;
    for (const tool_verb *const *verb = tool_verbs; *verb != NULL; verb++)
        if (verb_begins_with(*verb, word)) {
            fprintf(out, "%s  %-10s  %s\n", count == 0 ? "Verbs:\n" : "", (*verb)->name, (*verb)->summary);
            count++;
        }
    return count;
}

/* The first of them; NULL: there is none. */
static const tool_verb *first_of_family(const char *word)
{
    for (const tool_verb *const *verb = tool_verbs; *verb != NULL; verb++)
        if (verb_begins_with(*verb, word))
            return *verb;
    return NULL;
}

/* "info, ls, ..."; free with free(). */
static char *text_of_verbs(void)
{
    char *text = text_format("%s", tool_verbs[0]->name);
    for (const tool_verb *const *verb = tool_verbs + 1; *verb != NULL; verb++) {
        char *longer = text_format("%s, %s", text, (*verb)->name);
        free(text);
        text = longer;
    }
    return text;
}

static void report_unknown_verb(int count, char **words)
{
    const char *meant = verb_suggest(count, words);
    char *verbs = text_of_verbs();
    if (meant != NULL)
        report_error(words[0], "there is no such verb; the nearest is %s", meant);
    else
        report_error(words[0], "there is no such verb; there are %s", verbs);
    free(verbs);
}

static int refuse_verb(int count, char **words)
{
    const tool_verb *first = first_of_family(words[0]);
    if (words[0][0] == '-')
        report_error(words[0], "there is no such option; parapet --help lists the verbs and options");
    else if (first != NULL)
        report_error(words[0], "it must be followed by a second word, as in %s; parapet help %s lists them",
                     first->name, words[0]);
    else
        report_unknown_verb(count, words);
    return TOOL_USAGE;
}

static int print_help_of(int count, char **words)
{
    const tool_verb *verb = verb_find(count, words);
    if (verb != NULL)
        help_print_verb(stdout, verb);
    else if (count > 1 || print_family(stdout, words[0]) == 0)
        return refuse_verb(count, words);
    return TOOL_OK;
}

static int print_version(void)
{
    const char *text = parapet_version();
    size_t length = strlen(text);
    printf("%s%s", text, length > 0 && text[length - 1] == '\n' ? "" : "\n");
    return TOOL_OK;
}

static int run(int count, char **words)
{
    const tool_verb *verb;
    int first;
    if (count < 2) {
        print_help(stderr);
        return TOOL_USAGE;
    }
    if (strcmp(words[1], "-V") == 0 || strcmp(words[1], "--version") == 0)
        return print_version();
    if (strcmp(words[1], "help") == 0 && count > 2)
        return print_help_of(count - 2, words + 2);
    if (strcmp(words[1], "-h") == 0 || strcmp(words[1], "--help") == 0 || strcmp(words[1], "help") == 0) {
        print_help(stdout);
        return TOOL_OK;
    }
    verb = verb_find(count - 1, words + 1);
    if (verb == NULL)
        return refuse_verb(count - 1, words + 1);
    first = 1 + verb_word_count(verb);
    return run_verb(verb, count - first, words + first);
}

/* Also where the words are wrong otherwise. */
static bool asks_for_document(int count, char **words)
{
    for (int i = 1; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--json") == 0)
            return true;
    return false;
}

int main(int count, char **words)
{
    int exit_code;
    (void)signal(SIGXFSZ, SIG_IGN); /* ulimit -f: a write that goes too far fails, and is told */
    /* All ranks would say the same of a wrong command line. */
    report_mute(ranks_launched() > 0);
    exit_code = ranks_hand_over(words);
    screen_standard_output();
    if (exit_code == TOOL_OK)
        exit_code = run(count, words);
    if (exit_code != TOOL_OK && asks_for_document(count, words))
        report_document();
    return finish_output(exit_code);
}
