#include "report.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

/* A list of its own: that of verbs.c leads to this file. */
#define TOOL_VERB_ROW(name) &verb_##name,
static const tool_verb *const verbs[] = {TOOL_VERBS(TOOL_VERB_ROW) NULL};
#undef TOOL_VERB_ROW

static const tool_flag flags[] = {
    {0, 0, NULL, NULL},
};

/* The long options of a verb, each behind a blank. */
static void print_options(const tool_verb *verb)
{
    for (const tool_flag *flag = verb->flags; flag->name != NULL; flag++)
        printf(" --%s", flag->name);
    for (const tool_value *value = verb->values; value != NULL && value->name != NULL; value++)
        if (value->usage != NULL)
            printf(" --%s", value->name);
    fputs(" --json --verbose --help --max-mem --threads", stdout);
}

/* The words that can begin a command line: of verbs of two words, the first once. */
static void print_first_words(void)
{
    for (const tool_verb *const *verb = verbs; *verb != NULL; verb++) {
        int length = (int)strcspn((*verb)->name, " ");
        bool is_known = verb > verbs && strncmp(verb[-1]->name, (*verb)->name, (size_t)length) == 0 &&
                        (verb[-1]->name[length] == ' ');
        if (!is_known)
            printf("%.*s ", length, (*verb)->name);
    }
    fputs("help", stdout);
}

/* The same text serves zsh, after bashcompinit. */
static void print_script(void)
{
    fputs("_parapet() {\n"
          "    local word=\"${COMP_WORDS[COMP_CWORD]}\" verb=\"${COMP_WORDS[1]}\" options=\"\"\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          stdout);
    print_first_words();
    fputs("\" -- \"$word\"))\n        return\n    fi\n    [ \"$verb\" = plan ] && verb=\"plan ${COMP_WORDS[2]}\"\n"
          "    case \"$verb\" in\n",
          stdout);
    for (const tool_verb *const *verb = verbs; *verb != NULL; verb++) {
        printf("    \"%s\") options=\"", (*verb)->name);
        print_options(*verb);
        fputs("\" ;;\n", stdout);
    }
    fputs("    \"plan \"*) options=\"write read copy\" ;;\n    esac\n"
          "    case \"$verb $word\" in\n"
          "    *\" -\"* | \"plan \"*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
          "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n}\n"
          "complete -o filenames -F _parapet parapet\n",
          stdout);
}

static int run(const tool_request *request)
{
    if (request->operand_count > 0 && strcmp(request->operands[0], "bash") != 0 &&
        strcmp(request->operands[0], "zsh") != 0) {
        report_error("completion", "there is none for \"%s\", only for bash and zsh", request->operands[0]);
        return TOOL_USAGE;
    }
    if (request->operand_count > 0 && strcmp(request->operands[0], "zsh") == 0)
        fputs("autoload -Uz bashcompinit && bashcompinit\n", stdout);
    print_script();
    return TOOL_OK;
}

const tool_verb verb_completion = {
    .name = "completion",
    .operands = "[SHELL]",
    .summary = "Prints a script that completes verbs and options in a shell.",
    .details = "SHELL is bash, the default, or zsh. For the shell that runs now:\n"
               "  eval \"$(parapet completion bash)\"\n"
               "To keep it, write it to ~/.local/share/bash-completion/completions/parapet.\n",
    .exit_codes = "0 printed, 2 wrong usage.",
    .flags = flags,
    .operands_min = 0,
    .operands_max = 1,
    .run = run,
};
