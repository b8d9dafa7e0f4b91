#include "plan_text.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

static const char weighed[] = "weighed ";

/* What follows the line. */
static char *line_end(char *line)
{
    char *end = strchr(line, '\n');
    return end != NULL ? end + 1 : line + strlen(line);
}

/* Takes the table that begins here out of the text; returns how many ways it has. */
static int cut_table(char *table)
{
    char *end = line_end(table);
    int count = 0;
    for (; strncmp(end, "  ", 2) == 0; end = line_end(end))
        count++;
    memmove(table, end, strlen(end) + 1);
    return count;
}

/* Prints up to the place, which begins a line. */
static void print_until(char *text, char *place)
{
    char kept = *place;
    *place = '\0';
    text_print_folded(text);
    *place = kept;
}

static void print_short(char *text)
{
    char *at = text;
    while (*at != '\0') {
        if (strncmp(at, weighed, strlen(weighed)) != 0) {
            at = line_end(at);
            continue;
        }
        print_until(text, at);
        printf("weighed     %d ways, of which this is the fastest that fits (-v lists them)\n", cut_table(at));
        text = at;
    }
    text_print_folded(text);
}

/* The library prints a document for each array, one after the other; for programs there is one. */
static void print_list(const char *text)
{
    const char *end;
    fputs("{\"plans\": [\n", stdout);
    while ((end = strstr(text, "}\n{")) != NULL) {
        printf("%.*s},\n", (int)(end - text), text);
        text = end + 2;
    }
    printf("%s]}\n", text);
}

void plan_print(const tool_request *request, char *text, bool is_group)
{
    if (request->flags & TOOL_JSON && is_group)
        print_list(text);
    else if (request->flags & TOOL_JSON)
        fputs(text, stdout);
    else if (request->flags & TOOL_VERBOSE)
        text_print_folded(text);
    else
        print_short(text);
}
