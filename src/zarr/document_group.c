#include <string.h>

#include "base/status.h"
#include "zarr/document.h"
#include "zarr/fields.h"
#include "zarr/json_print.h"
#include "zarr/json_scan.h"

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

/* ---- Consolidated metadata, printed as it is gathered ---- */

#define METADATA_DEPTH 3 /* of the documents inside consolidated_metadata.metadata */

/* A document with empty consolidated metadata, and the place in it where they go. Only members of the document itself
 * begin a line like this one. */
static parapet_status print_frame(const pp_group_document *document, pp_text *frame, size_t *place)
{
    static const char json[] = "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{}}";
    static const char before[] = "\n  \"consolidated_metadata\": {\n    \"kind\": \"inline\",\n"
                                 "    \"must_understand\": false,\n    \"metadata\": {";
    pp_group_document framed = *document;
    const char *found;
    parapet_status status = pp_json_parse(&framed.consolidated_metadata, json, sizeof json - 1);
    if (status == PARAPET_OK)
        status = pp_group_document_print(&framed, frame);
    pp_json_free(framed.consolidated_metadata);
    if (status != PARAPET_OK)
        return status;
    found = strstr(frame->data, before);
    if (found == NULL)
        return pp_fail(PARAPET_ERR_INTERNAL, "the document of a group has no place for consolidated metadata");
    *place = (size_t)(found - frame->data) + sizeof before - 1;
    return PARAPET_OK;
}

/* A reader would refuse what is larger, so that there is no need to know how much larger it would be. */
static parapet_status check_bytes(const pp_text *text)
{
    if (text->bytes > PP_JSON_MAX_BYTES)
        return pp_fail(PARAPET_ERR_FORMAT, "the document would have more than the limit of %u bytes",
                       PP_JSON_MAX_BYTES);
    return text->status;
}

parapet_status pp_documents_add(pp_documents *documents, const char *name, pp_json *json)
{
    pp_text *text = documents->text;
    pp_text_add(text, "%s\n%*s", documents->count++ > 0 ? "," : "", 2 * METADATA_DEPTH, "");
    pp_json_print_string(name, text);
    pp_text_add(text, ": ");
    pp_json_print_inside(json, METADATA_DEPTH, text);
    return check_bytes(text);
}

/* Makes sure that it can be read back. */
static parapet_status check_whole(pp_text *text)
{
    pp_json_span span;
    parapet_status status = check_bytes(text);
    if (status != PARAPET_OK || (status = pp_text_check(text)) != PARAPET_OK)
        return status;
    return pp_json_scan_except(text->data, text->bytes, "consolidated_metadata", &span);
}

parapet_status pp_group_document_print_with(const pp_group_document *document, pp_documents_printer print,
                                            void *context, pp_text *text)
{
    pp_documents documents = {.text = text};
    pp_text frame = {0};
    size_t place = 0;
    parapet_status status = print_frame(document, &frame, &place);
    if (status == PARAPET_OK) {
        pp_text_add_bytes(text, frame.data, place);
        status = text->status == PARAPET_OK ? print(context, &documents) : text->status;
    }
    if (status == PARAPET_OK) {
        if (documents.count > 0)
            pp_text_add(text, "\n%*s", 2 * (METADATA_DEPTH - 1), "");
        pp_text_add_bytes(text, frame.data + place, frame.bytes - place);
        status = check_whole(text);
    }
    pp_text_free(&frame);
    return status;
}
