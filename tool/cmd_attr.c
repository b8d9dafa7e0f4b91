#include "arguments.h"
#include "attributes.h"
#include "document.h"
#include "memory.h"
#include "node.h"
#include "place.h"
#include "report.h"
#include "store.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tool_flag flags[] = {
    {TOOL_TAKEOVER, 0, "takeover", "declare that the jobs on other machines are gone"},
    {0, 0, NULL, NULL},
};

static const tool_value values[] = {
    {'s', "set", "--set NAME=VALUE", "VALUE is JSON, or else text: \"units=K\", \"scale=0.1\""},
    {'d', "remove", "--remove NAME", "take the attribute away"},
    {'g', "get", "--get NAME", "print the value of one attribute as JSON"},
    {0, NULL, NULL, NULL},
};

static parapet_status set_attribute(tool_node *node, const char *name, const char *json)
{
    if (node->array != NULL)
        return parapet_array_attribute_set(node->array, name, json);
    return parapet_group_attribute_set(node->group, name, json);
}

static parapet_status get_attribute(tool_node *node, const char *name, char **json)
{
    if (node->array != NULL)
        return parapet_array_attribute_get(node->array, name, json);
    return parapet_group_attribute_get(node->group, name, json);
}

/* Text as a JSON string; free with free(). */
static char *quoted(const char *text)
{
    char *json = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&json, &bytes);
    if (out == NULL)
        return text_format("\"\"");
    fputc('"', out);
    for (; *text != '\0'; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            fputc(*text, out);
    fputc('"', out);
    (void)fclose(out);
    return json;
}

/* The value as JSON if it is some, else as text. */
static parapet_status set_value(tool_node *node, const char *name, const char *value)
{
    parapet_status status = value[0] != '\0' ? set_attribute(node, name, value) : PARAPET_ERR_ARGUMENT;
    char *text;
    if (status != PARAPET_ERR_ARGUMENT && status != PARAPET_ERR_FORMAT)
        return status;
    text = quoted(value);
    status = set_attribute(node, name, text);
    free(text);
    return status;
}

static parapet_status remove_attribute(tool_node *node, const char *name)
{
    char *json = NULL;
    parapet_status status = get_attribute(node, name, &json);
    parapet_free(json);
    return status == PARAPET_OK ? set_attribute(node, name, NULL) : status;
}

static parapet_status change(const tool_request *request, tool_node *node)
{
    const char *assignment = request_value(request, "set"), *removed = request_value(request, "remove");
    parapet_status status = PARAPET_OK;
    if (assignment != NULL) {
        char *name = text_format("%.*s", (int)strcspn(assignment, "="), assignment);
        status = set_value(node, name, assignment + strlen(name) + 1);
        free(name);
    }
    if (status == PARAPET_OK && removed != NULL)
        status = remove_attribute(node, removed);
    return status;
}

static void print_all(const char *json)
{
    tool_attribute_list list;
    attributes_init(&list, json);
    for (size_t i = 0; i < list.count; i++) {
        size_t length = strlen(list.entries[i].name);
        printf("%.*s = ", (int)(length - 2), list.entries[i].name + 1);
        json_print_line(stdout, list.entries[i].value, false);
        putchar('\n');
    }
    attributes_free(&list);
}

static parapet_status print(const tool_request *request, tool_node *node)
{
    const char *name = request_value(request, "get");
    bool is_document = request->flags & TOOL_JSON || name != NULL;
    char *json = NULL;
    parapet_status status = get_attribute(node, name, &json);
    if (status == PARAPET_OK && is_document) {
        json_print_line(stdout, json, true);
        putchar('\n');
    } else if (status == PARAPET_OK) {
        print_all(json);
    }
    parapet_free(json);
    return status;
}

static bool is_change(const tool_request *request)
{
    return request_value(request, "set") != NULL || request_value(request, "remove") != NULL;
}

static bool check_words(const tool_request *request)
{
    const char *assignment = request_value(request, "set");
    const char *removed = request_value(request, "remove");
    if (is_change(request) && request_value(request, "get") != NULL)
        report_error("attr", "--get goes neither with --set nor with --remove");
    else if (assignment != NULL && (strchr(assignment, '=') == NULL || assignment[0] == '='))
        report_error("attr", "--set: \"%s\" is not of the form NAME=VALUE", assignment);
    else if (removed != NULL && removed[0] == '\0')
        report_error("attr", "--remove needs the name of an attribute");
    else
        return true;
    return false;
}

static int run(const tool_request *request)
{
    const char *path = request->operands[0];
    tool_place place = {.path = ""};
    tool_node node = {0};
    parapet_store *store;
    parapet_status status;
    if (!check_words(request))
        return TOOL_USAGE;
    store = is_change(request) ? store_open_around(&place, request, path) : store_open(request, path, PARAPET_READ);
    if (store == NULL)
        return TOOL_FAILED;
    if ((status = node_open(&node, store, place.path)) == PARAPET_OK)
        status = is_change(request) ? change(request, &node) : print(request, &node);
    if (status != PARAPET_OK)
        report_status(status, path);
    node_close(&node);
    (void)parapet_store_close(&store);
    return status == PARAPET_OK ? TOOL_OK : TOOL_FAILED;
}

const tool_verb verb_attr = {
    .name = "attr",
    .operands = "PATH",
    .summary = "Prints, sets or removes attributes of an array or a group.",
    .details = "Without an option it prints all of them, one on a line. Examples:\n"
               "  parapet attr --set units=K run.zarr/t2m\n"
               "  parapet attr --set 'valid_range=[180, 330]' run.zarr/t2m\n"
               "  parapet attr --get units run.zarr/t2m\n",
    .exit_codes = "0 done, 1 failed, or there is no such attribute, 2 wrong usage.",
    .flags = flags,
    .values = values,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
