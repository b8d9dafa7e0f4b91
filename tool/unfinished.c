#include "unfinished.h"
#include "display.h"
#include "memory.h"
#include "ranks.h"
#include "report.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LINE_BYTES = 4096 };

static bool is_file(const char *directory, const char *name)
{
    struct stat status;
    char *path = text_format("%s/%s", directory, name);
    bool is_there = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    free(path);
    return is_there;
}

bool unfinished_is_here(const char *directory)
{
    return is_file(directory, "__parapet/copy/job") || is_file(directory, "__parapet/copy/finished");
}

bool unfinished_refuse(const char *directory)
{
    bool is_all = unfinished_is_here(directory) && !is_file(directory, "zarr.json");
    if (is_all)
        report_error(directory, "there is nothing to be read yet");
    if (is_all)
        unfinished_report(directory);
    return is_all;
}

/* An option of copy, and the line about it in the library's notes. */
typedef struct tool_option_line {
    const char *line, *option;
    const char *same; /* as if the option were not given */
} tool_option_line;

/* Adds the option if the line is about it and says something; takes the text over. */
static char *add_option(char *text, const char *line)
{
    static const tool_option_line known[] = {
        {"chunks: ", "-c", "as the source"},     {"shards: ", "-s", "as the source"},
        {"order: ", "-a", "as the source"},      {"region: ", "--region", "as the source"},
        {"codec: ", "--codec", "as the source"}, {"unit_bytes: ", "--unit", "0"},
    };
    char *value, *longer;
    size_t i = 0, count = sizeof known / sizeof known[0];
    while (i < count && strncmp(line, known[i].line, strlen(known[i].line)) != 0)
        i++;
    if (i == count || strcmp(line + strlen(known[i].line), known[i].same) == 0)
        return text;
    value = text_quoted(line + strlen(known[i].line));
    longer = text_format("%s %s %s", text, known[i].option, value);
    free(value);
    free(text);
    return longer;
}

static char *options_of(const char *directory)
{
    char line[LINE_BYTES], *path = text_format("%s/__parapet/copy/job", directory), *text = text_format("%s", "");
    FILE *file = fopen(path, "r");
    for (int i = 0; file != NULL && i < 16 && fgets(line, sizeof line, file) != NULL; i++) {
        line[strcspn(line, "\n")] = '\0';
        text = add_option(text, line);
    }
    if (file != NULL)
        (void)fclose(file);
    free(path);
    return text;
}

char *unfinished_command(const char *directory)
{
    char *options = options_of(directory), *target = text_quoted(directory);
    char *command = text_format("parapet copy --resume%s SRC %s", options, target), *visible = text_visible(command);
    free(options);
    free(target);
    free(command);
    return visible;
}

static void print_one(const char *directory)
{
    char *command = unfinished_command(directory), *visible = text_visible(directory);
    (void)fprintf(stderr, "parapet: %s: an unfinished copy; go on with:\n  %s\n", visible, command);
    free(command);
    free(visible);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void unfinished_report(const char *directory)
{
    DIR *listing = opendir(directory);
    const struct dirent *entry;
    char **paths = NULL;
    size_t count = 0;
    if (unfinished_is_here(directory))
        print_one(directory);
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        char *path = tree_label(directory, entry->d_name);
        if (entry->d_name[0] == '.' || !unfinished_is_here(path)) {
            free(path);
            continue;
        }
        paths = memory_grow(paths, count, sizeof *paths);
        paths[count++] = path;
    }
    if (listing != NULL)
        (void)closedir(listing);
    if (count > 0)
        qsort(paths, count, sizeof *paths, compare_names);
    for (size_t i = 0; i < count; i++) {
        print_one(paths[i]);
        free(paths[i]);
    }
    free(paths);
}

/* ---- Appends ---- */

static bool has_append(const char *directory)
{
    return is_file(directory, "__parapet/change");
}

/* At the path, or in the innermost group around it that it names; NULL: there is none. Free with free(). */
static char *find_append_around(const char *path)
{
    char *group = text_format("%s", path), *slash;
    while (!has_append(group) && (slash = strrchr(group, '/')) != NULL && slash != group)
        *slash = '\0';
    if (has_append(group))
        return group;
    free(group);
    return NULL;
}

static int note_mark(void *context, const char *key, const char *reason)
{
    bool *is_interrupted = context;
    (void)reason;
    *is_interrupted = *is_interrupted || strcmp(key, "__parapet/change") == 0;
    return 0;
}

/* What the collector would find to put right was interrupted; what it would find busy is under way. Anything else has
 * come to its end meanwhile. */
static void add_append(tool_appends *appends, const tool_request *request, char *path)
{
    parapet_store *store = NULL;
    bool is_interrupted = false;
    parapet_status status = ranks_open_store(request, &store, path, PARAPET_READ, &request->options);
    if (status == PARAPET_OK)
        status = parapet_store_collect(store, "", 1, note_mark, &is_interrupted);
    (void)parapet_store_close(&store);
    if (status == PARAPET_OK && !is_interrupted) {
        free(path);
        return;
    }
    appends->list = memory_grow(appends->list, appends->count, sizeof *appends->list);
    appends->list[appends->count++] =
        (tool_append){.path = path, .is_under_way = status == PARAPET_ERR_BUSY && !is_interrupted};
}

void appends_find(tool_appends *appends, const tool_request *request, const tool_tree *tree)
{
    const char *path = request->operands[0];
    char *around = find_append_around(path);
    *appends = (tool_appends){0};
    if (around != NULL)
        add_append(appends, request, around);
    for (size_t i = 1; tree != NULL && i < tree->count; i++) {
        char *label = tree_label(path, tree->entries[i].path);
        if (tree->entries[i].kind == PARAPET_NODE_GROUP && has_append(label))
            add_append(appends, request, label);
        else
            free(label);
    }
}

void appends_free(tool_appends *appends)
{
    for (size_t i = 0; i < appends->count; i++)
        free(appends->list[i].path);
    free(appends->list);
    *appends = (tool_appends){0};
}

void append_report(const tool_append *append)
{
    char *target = text_quoted(append->path), *visible = text_visible(target), *name = text_visible(append->path);
    if (append->is_under_way)
        (void)fprintf(stderr, "parapet: %s: another job is appending to it\n", name);
    else
        (void)fprintf(stderr, "parapet: %s: an unfinished append; complete or undo it:\n  parapet gc %s\n", name,
                      visible);
    free(target);
    free(visible);
    free(name);
}

void appends_report(const tool_request *request, const tool_tree *tree)
{
    tool_appends appends;
    (void)fflush(stdout);
    appends_find(&appends, request, tree);
    for (size_t i = 0; i < appends.count; i++)
        append_report(&appends.list[i]);
    appends_free(&appends);
}
