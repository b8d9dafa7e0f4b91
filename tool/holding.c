#include "holding.h"
#include "attributes.h"
#include "display.h"
#include "memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More generations than this are only counted where they are listed for people. */
enum { GENERATIONS_SHOWN = 8 };

static int add_generation(void *context, int64_t number, const char *path)
{
    tool_holding *holding = context;
    holding->generations = memory_grow(holding->generations, holding->generation_count, sizeof *holding->generations);
    holding->generations[holding->generation_count++] =
        (tool_generation){.number = number, .path = text_format("%s", path)};
    return 0;
}

static const char *find_member(const tool_attribute_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].name, name) == 0)
            return list->entries[i].value;
    return NULL;
}

static void take_series(tool_holding *holding, const char *json)
{
    tool_attribute_list list;
    const char *steps, *dimension, *arrays;
    attributes_init(&list, json);
    dimension = find_member(&list, "\"dimension\"");
    arrays = find_member(&list, "\"arrays\"");
    steps = find_member(&list, "\"steps\"");
    if (dimension != NULL && arrays != NULL) {
        holding->dimension = text_format("%s", dimension);
        holding->arrays = text_format("%s", arrays);
        holding->steps = steps != NULL ? strtoll(steps, NULL, 10) : -1;
    }
    attributes_free(&list);
}

static parapet_status look_for_series(tool_holding *holding, parapet_store *store, const char *path)
{
    parapet_group *group = NULL;
    tool_attribute_list list;
    char *json = NULL;
    const char *series;
    parapet_status status = parapet_group_open(&group, store, path);
    if (status == PARAPET_OK && (status = parapet_group_attribute_get(group, "_parapet", &json)) == PARAPET_OK) {
        attributes_init(&list, json);
        if ((series = find_member(&list, "\"series\"")) != NULL)
            take_series(holding, series);
        attributes_free(&list);
    }
    parapet_free(json);
    (void)parapet_group_close(&group);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

parapet_status holding_init(tool_holding *holding, parapet_store *store, const char *path)
{
    parapet_status status;
    *holding = (tool_holding){.steps = -1};
    status = parapet_checkpoint_list(store, path, add_generation, holding);
    return status == PARAPET_OK ? look_for_series(holding, store, path) : status;
}

void holding_free(tool_holding *holding)
{
    for (size_t i = 0; i < holding->generation_count; i++)
        free(holding->generations[i].path);
    free(holding->generations);
    free(holding->dimension);
    free(holding->arrays);
    *holding = (tool_holding){0};
}

/* JSON strings, one or a list, as words for people. */
static char *text_of_strings(const char *json)
{
    char *text = text_format("%s", json), *end = text, *visible;
    bool is_inside = false;
    for (; *json != '\0'; json++) {
        bool is_escape = is_inside && *json == '\\' && json[1] != '\0';
        if (*json == '"')
            is_inside = !is_inside;
        else if (is_inside)
            *end++ = is_escape ? *++json : *json;
        else if (*json == ',')
            *end++ = ' ';
    }
    *end = '\0';
    visible = text_visible(text);
    free(text);
    return visible;
}

static char *text_of_generations(const tool_holding *holding)
{
    size_t count = holding->generation_count;
    char *text = text_format("checkpoint, %s", count > 1 ? "generations" : "generation"), *longer;
    for (size_t i = 0; i < count && i < GENERATIONS_SHOWN; i++) {
        longer = text_format("%s %" PRId64, text, holding->generations[i].number);
        free(text);
        text = longer;
    }
    if (count > GENERATIONS_SHOWN)
        longer = text_format("%s and %zu more, newest %" PRId64, text, count - GENERATIONS_SHOWN,
                             holding->generations[0].number);
    else
        longer = text_format("%s, newest %" PRId64, text, holding->generations[0].number);
    free(text);
    return longer;
}

static char *text_of_series(const tool_holding *holding)
{
    char *dimension = text_of_strings(holding->dimension), *arrays = text_of_strings(holding->arrays), *text;
    if (holding->steps < 0)
        text = text_format("series along %s: never completed, arrays %s", dimension, arrays);
    else
        text = text_format("series along %s: %" PRId64 " %s, arrays %s", dimension, holding->steps,
                           holding->steps == 1 ? "step" : "steps", arrays);
    free(arrays);
    free(dimension);
    return text;
}

char *text_of_holding(const tool_holding *holding)
{
    if (holding->generation_count > 0)
        return text_of_generations(holding);
    return holding->dimension != NULL ? text_of_series(holding) : NULL;
}

static void write_generations(tool_document *document, const tool_holding *holding)
{
    document_open_object(document, "checkpoint");
    document_open_list(document, "generations");
    for (size_t i = 0; i < holding->generation_count; i++) {
        const tool_generation *generation = &holding->generations[i];
        document_open_object(document, NULL);
        document_integer(document, "generation", generation->number);
        document_text(document, "path", generation->path[0] != '\0' ? generation->path : NULL);
        document_close(document);
    }
    document_close(document);
    document_integer(document, "newest", holding->generations[0].number);
    document_close(document);
}

static void write_series(tool_document *document, const tool_holding *holding)
{
    document_open_object(document, "series");
    document_json(document, "dimension", holding->dimension);
    document_json(document, "arrays", holding->arrays);
    if (holding->steps >= 0)
        document_integer(document, "steps", holding->steps);
    else
        document_null(document, "steps");
    document_close(document);
}

void holding_write(tool_document *document, const tool_holding *holding)
{
    if (holding->generation_count > 0)
        write_generations(document, holding);
    if (holding->dimension != NULL)
        write_series(document, holding);
}
