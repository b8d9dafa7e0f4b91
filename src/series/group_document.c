/* group_document.c - the document of the group: what says that it is a series, and how many steps are committed.
 *
 *     "_parapet": {"series": {"dimension": "time", "arrays": ["u", "v"], "steps": 12}}
 *
 * No "steps": its creation did not come to its end. "uncertain": true: shards of the last row may hold steps that
 * were not committed. */
#include "series/group_document.h"

#include <stdlib.h>
#include <string.h>

#include "array/ancestors.h"
#include "array/attributes.h"
#include "array/consolidate.h"
#include "array/node.h"
#include "base/status.h"
#include "series/consolidated_copy.h"
#include "series/series_handle.h"

static parapet_status print_mark(const parapet_series *series, int64_t steps, pp_json **mark)
{
    pp_text text = {0};
    parapet_status status;
    int i;
    pp_text_add(&text, "{\"series\": {\"dimension\": ");
    pp_json_print_string(series->dimension, &text);
    pp_text_add(&text, ", \"arrays\": [");
    for (i = 0; i < series->count; i++) {
        pp_text_add(&text, "%s", i > 0 ? ", " : "");
        pp_json_print_string(series->names[i], &text);
    }
    pp_text_add(&text, "]");
    if (steps >= 0)
        pp_text_add(&text, ", \"steps\": %lld", (long long)steps);
    if (series->is_uncertain)
        pp_text_add(&text, ", \"uncertain\": true");
    pp_text_add(&text, "}}");
    if ((status = text.status) == PARAPET_OK)
        status = pp_json_parse(mark, text.data, text.bytes);
    pp_text_free(&text);
    return status;
}

static parapet_status set_given(void *attributes, const char *name, pp_json *value)
{
    return pp_json_set(attributes, name, pp_json_share(value));
}

/* The attributes that the group has, with what is given and what says that it is a series. */
static parapet_status renew_attributes(const parapet_series *series, int64_t steps, pp_json *given,
                                       pp_group_document *document)
{
    pp_json *attributes = NULL, *mark = NULL;
    parapet_status status;
    if ((status = pp_json_duplicate(document->attributes, &attributes)) == PARAPET_OK && given != NULL)
        status = pp_json_each(given, set_given, attributes);
    if (status == PARAPET_OK && (status = print_mark(series, steps, &mark)) == PARAPET_OK)
        status = pp_json_set(attributes, PP_RESERVED_ATTRIBUTE, mark);
    if (status != PARAPET_OK) {
        pp_json_free(attributes);
        return status;
    }
    pp_json_free(document->attributes);
    document->attributes = attributes;
    return PARAPET_OK;
}

static parapet_status load_document(parapet_series *series, pp_group_document *document)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(series->store, series->path, &node);
    if (status == PARAPET_OK && node.kind != PARAPET_NODE_GROUP)
        status = pp_fail(PARAPET_ERR_ARGUMENT, "\"%s\" is an array, not a series", series->path);
    if (status == PARAPET_OK && (node.is_implicit || node.zarr_format != 3))
        status = pp_fail(PARAPET_ERR_NOT_FOUND, "\"%s\" is a group without a zarr.json, not a series", series->path);
    if (status == PARAPET_OK)
        status = pp_group_document_parse(document, node.json);
    pp_node_clear(&node);
    return status;
}

/* As others are told, too: from the documents as they are stored. */
static parapet_status write_held(parapet_series *series, int64_t steps, pp_json *attributes)
{
    pp_group_document document = {0};
    pp_text text = {0};
    parapet_status status = load_document(series, &document);
    if (status == PARAPET_OK && (status = renew_attributes(series, steps, attributes, &document)) == PARAPET_OK) {
        pp_json_free(document.consolidated_metadata);
        document.consolidated_metadata = NULL;
        status = steps >= 0 ? pp_metadata_print(series->store, series->path, true, &document, NULL, &text)
                            : pp_group_document_print(&document, &text);
    }
    if (status == PARAPET_OK)
        status =
            pp_node_write(series->store, series->path, PARAPET_NODE_GROUP, text.data, text.bytes, PP_PUBLISH_REPLACE);
    pp_text_free(&text);
    pp_group_document_clear(&document);
    return status;
}

/* While the documents that are gathered cannot change, nor the groups above be consolidated without the new steps. */
parapet_status pp_series_write_group(parapet_series *series, int64_t steps, pp_json *attributes)
{
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, series->store, series->path);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_ancestors_prepare(series->store, series->path)) == PARAPET_OK &&
        (steps >= 0 || (status = pp_ancestors_ensure_group(series->store, series->path)) == PARAPET_OK) &&
        (status = pp_edit_prove(&edit)) == PARAPET_OK &&
        (status = pp_node_lock_prove(&series->group_hold)) == PARAPET_OK)
        status = write_held(series, steps, attributes);
    pp_edit_end(&edit);
    return status;
}

static parapet_status take_text(pp_json *json, char **text)
{
    const char *found;
    size_t bytes;
    if (!pp_json_get_text(json, &found, &bytes) || bytes == 0 || strlen(found) != bytes ||
        strchr(found, '/') != NULL || pp_path_check(found) != PARAPET_OK)
        return pp_fail(PARAPET_ERR_FORMAT, "attributes._parapet.series has an invalid name");
    return pp_text_duplicate(text, found);
}

static parapet_status take_names(parapet_series *series, pp_json *names)
{
    size_t count = pp_json_length(names);
    parapet_status status;
    if (count < 1)
        return pp_fail(PARAPET_ERR_FORMAT, "attributes._parapet.series has no arrays");
    if ((status = pp_allocate_array(&series->names, count, sizeof series->names[0])) != PARAPET_OK)
        return status;
    for (series->count = 0; (size_t)series->count < count && status == PARAPET_OK;)
        if ((status = take_text(pp_json_element(names, (size_t)series->count), &series->names[series->count])) ==
            PARAPET_OK)
            series->count++;
    return status;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* No array is there twice, and none is the coordinate. */
static parapet_status check_names(const parapet_series *series)
{
    size_t count = (size_t)series->count + 1, i;
    const char **sorted = NULL;
    parapet_status status = pp_allocate_array(&sorted, count, sizeof sorted[0]);
    if (status != PARAPET_OK)
        return status;
    for (i = 0; i < count; i++)
        sorted[i] = i + 1 < count ? series->names[i] : series->dimension;
    qsort(sorted, count, sizeof sorted[0], compare_texts);
    for (i = 1; i < count && status == PARAPET_OK; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = pp_fail(PARAPET_ERR_FORMAT, "attributes._parapet.series names \"%s\" twice", sorted[i]);
    pp_free(sorted);
    return status;
}

/* A word with a flipped bit must not look like one that is left out. */
static parapet_status check_member(void *known, const char *name, pp_json *value)
{
    const char *const *word;
    (void)value;
    for (word = known; *word != NULL; word++)
        if (strcmp(*word, name) == 0)
            return PARAPET_OK;
    return pp_fail(PARAPET_ERR_FORMAT,
                   "attributes._parapet has a member \"%s\", which no series has: it is damaged, or was written by a "
                   "later version",
                   name);
}

static parapet_status check_words(pp_json *own, pp_json *mark)
{
    static const char *const outside[] = {"series", NULL};
    static const char *const inside[] = {"dimension", "arrays", "steps", "uncertain", NULL};
    parapet_status status = pp_json_each(own, check_member, (void *)(uintptr_t)outside);
    return status == PARAPET_OK ? pp_json_each(mark, check_member, (void *)(uintptr_t)inside) : status;
}

parapet_status pp_series_take_mark(parapet_series *series, const pp_group_document *document)
{
    pp_json *own = pp_json_member(document->attributes, PP_RESERVED_ATTRIBUTE);
    pp_json *mark = pp_json_member(own, "series");
    parapet_status status = check_words(own, mark);
    series->steps_committed = -1;
    if (status != PARAPET_OK)
        return status;
    if (pp_json_kind_of(mark) != PP_JSON_OBJECT)
        return pp_fail(PARAPET_ERR_NOT_FOUND, "the group \"%s\" is not a series", series->path);
    if ((status = take_text(pp_json_member(mark, "dimension"), &series->dimension)) != PARAPET_OK ||
        (status = take_names(series, pp_json_member(mark, "arrays"))) != PARAPET_OK ||
        (status = check_names(series)) != PARAPET_OK)
        return status;
    if (pp_json_has(mark, "steps") &&
        (!pp_json_get_i64(pp_json_member(mark, "steps"), &series->steps_committed) || series->steps_committed < 0))
        return pp_fail(PARAPET_ERR_FORMAT, "attributes._parapet.series.steps is not a number of steps");
    if (pp_json_has(mark, "uncertain") && !pp_json_get_bool(pp_json_member(mark, "uncertain"), &series->is_uncertain))
        return pp_fail(PARAPET_ERR_FORMAT, "attributes._parapet.series.uncertain is neither true nor false");
    return PARAPET_OK;
}

parapet_status pp_series_read_group(parapet_series *series)
{
    pp_group_document document = {0};
    parapet_status status = load_document(series, &document);
    if (status == PARAPET_OK)
        status = pp_series_take_mark(series, &document);
    pp_group_document_clear(&document);
    return status == PARAPET_OK ? pp_series_read_consolidated_copy(series) : status;
}
