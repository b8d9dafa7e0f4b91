/* main.c - the command-line tool `parapet`: finds the verb and hands it its words.
 *
 * Does not know: what the verbs do. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

const tool_verb *const tool_verbs[] = {&verb_info, &verb_ls,   &verb_check,    &verb_gc, &verb_diff,
                                       &verb_copy, &verb_plan, &verb_selftest, NULL};

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
    if (!arguments_parse(&request))
        return TOOL_USAGE;
    if (request.flags & TOOL_HELP) {
        if (ranks_launched() <= 0)
            help_print_verb(stdout, verb);
        return TOOL_OK;
    }
    return ranks_run(&request);
}

static int refuse_verb(const char *name, const tool_verb *nearest)
{
    if (name[0] == '-')
        report_error(name, "there is no such option; parapet --help lists the verbs and options");
    else
        report_error(name, "there is no such verb; the nearest is %s", nearest->name);
    return TOOL_USAGE;
}

/* Whether the words name a verb of two words, which "plan" alone would not know. */
static bool is_plan_copy(int count, char **words)
{
    return count >= 2 && strcmp(words[0], "plan") == 0 && strcmp(words[1], "copy") == 0;
}

static int print_help_of(int count, char **words)
{
    const tool_verb *nearest = NULL;
    const tool_verb *verb = is_plan_copy(count, words) ? &verb_plan_copy : verb_find(words[0], &nearest);
    if (verb == NULL)
        return refuse_verb(words[0], nearest);
    help_print_verb(stdout, verb);
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
    const tool_verb *nearest = NULL;
    const tool_verb *verb;
    if (count < 2) {
        help_print(stderr);
        return TOOL_USAGE;
    }
    if (strcmp(words[1], "-V") == 0 || strcmp(words[1], "--version") == 0)
        return print_version();
    if (strcmp(words[1], "help") == 0 && count > 2)
        return print_help_of(count - 2, words + 2);
    if (strcmp(words[1], "-h") == 0 || strcmp(words[1], "--help") == 0 || strcmp(words[1], "help") == 0) {
        help_print(stdout);
        return TOOL_OK;
    }
    verb = verb_find(words[1], &nearest);
    if (verb == NULL)
        return refuse_verb(words[1], nearest);
    if (is_plan_copy(count - 1, words + 1))
        return run_verb(&verb_plan_copy, count - 3, words + 3);
    return run_verb(verb, count - 2, words + 2);
}

int main(int count, char **words)
{
    int exit_code;
    /* All ranks would say the same of a wrong command line. */
    report_mute(ranks_launched() > 0);
    exit_code = ranks_hand_over(words);
    return finish_output(exit_code == TOOL_OK ? run(count, words) : exit_code);
}
