#include <string.h>

#include "zarr/internal.h"

void pp_group_document_clear(pp_group_document *document)
{
    pp_json_free(document->attributes);
    pp_json_free(document->consolidated_metadata);
    pp_json_free(document->extra);
    *document = (pp_group_document){0};
}

static parapet_status take_consolidated(pp_group_document *document, pp_json *value)
{
    char words[PP_JSON_WORDS_BYTES];
    if (value != NULL && pp_json_kind_of(value) != PP_JSON_OBJECT)
        return pp_fail(PARAPET_ERR_FORMAT, "consolidated_metadata must be an object, not %s",
                       pp_json_words(value, words));
    document->consolidated_metadata = pp_json_share(value);
    return PARAPET_OK;
}

static parapet_status take_member(void *context, const char *name, pp_json *value)
{
    pp_group_document *document = context;
    if (strcmp(name, "zarr_format") == 0 || strcmp(name, "node_type") == 0 || strcmp(name, "attributes") == 0)
        return PARAPET_OK;
    if (strcmp(name, "consolidated_metadata") == 0)
        return take_consolidated(document, value);
    return pp_extra_take(&document->extra, name, value);
}

parapet_status pp_group_document_parse(pp_group_document *document, pp_json *json)
{
    parapet_node_kind kind = PARAPET_NODE_GROUP;
    parapet_status status;
    *document = (pp_group_document){.zarr_format = 3};
    if ((status = pp_document_node_type(json, &kind)) != PARAPET_OK)
        goto done;
    if (kind != PARAPET_NODE_GROUP) {
        status = pp_fail(PARAPET_ERR_FORMAT, "node_type is \"array\" where a group was expected");
        goto done;
    }
    if ((status = pp_json_each(json, take_member, document)) != PARAPET_OK)
        goto done;
    status = pp_attributes_take(&document->attributes, pp_json_member(json, "attributes"), "attributes");
done:
    if (status != PARAPET_OK)
        pp_group_document_clear(document);
    return status;
}

parapet_status pp_group_document_print(const pp_group_document *document, pp_text *text)
{
    pp_text compact = {0};
    if (document->zarr_format != 3)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "metadata of Zarr v2 can be read, but not written");
    pp_text_add(&compact, "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":");
    if (document->attributes != NULL)
        pp_json_print(document->attributes, false, &compact);
    else
        pp_text_add(&compact, "{}");
    if (document->consolidated_metadata != NULL) {
        pp_text_add(&compact, ",\"consolidated_metadata\":");
        pp_json_print(document->consolidated_metadata, false, &compact);
    }
    pp_extra_print(document->extra, &compact);
    pp_text_add(&compact, "}");
    return pp_document_finish(&compact, text);
}
