#include "array/ancestors.h"

#include "array/announcement.h"
#include "array/node.h"
#include "base/status.h"

static parapet_status write_empty_group(parapet_store *store, const char *path)
{
    pp_group_document document = {.zarr_format = 3};
    parapet_status status = pp_node_write_group(store, path, &document, PP_PUBLISH_EXCLUSIVE);
    return status == PARAPET_ERR_EXISTS ? PARAPET_OK : status;
}

static parapet_status rewrite_without_consolidated(parapet_store *store, const char *path, const pp_node *node)
{
    pp_group_document document = {0};
    parapet_status status = pp_group_document_parse(&document, node->json);
    if (status == PARAPET_OK && document.consolidated_metadata != NULL) {
        pp_json_free(document.consolidated_metadata);
        document.consolidated_metadata = NULL;
        status = pp_node_write_group(store, path, &document, PP_PUBLISH_REPLACE);
    }
    pp_group_document_clear(&document);
    return status;
}

/* What has to be true of one group above a node that is about to change. */
static parapet_status prepare_group(parapet_store *store, const char *path, bool creates)
{
    pp_node node = {0};
    parapet_status status = creates ? pp_announcement_refuse(store, path) : PARAPET_OK;
    if (status != PARAPET_OK)
        return status;
    status = pp_node_load(store, path, &node);
    if (status == PARAPET_ERR_NOT_FOUND || (status == PARAPET_OK && node.is_implicit))
        status = creates ? write_empty_group(store, path) : PARAPET_OK;
    else if (status == PARAPET_OK && node.kind == PARAPET_NODE_ARRAY)
        status =
            creates ? pp_fail(PARAPET_ERR_EXISTS, "\"%s\" is an array; nothing can be below it", path) : PARAPET_OK;
    else if (status == PARAPET_OK && node.zarr_format == 2)
        status = creates ? pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\" is a Zarr v2 group, which can only be read", path)
                         : PARAPET_OK;
    else if (status == PARAPET_OK)
        status = rewrite_without_consolidated(store, path, &node);
    pp_node_clear(&node);
    return status;
}

/* Applies prepare_group to the root and every group on the way to path, path itself left out. */
static parapet_status prepare_ancestors(parapet_store *store, const char *path, bool creates)
{
    char *ancestor = NULL;
    size_t i;
    parapet_status status;
    if (path[0] == '\0')
        return PARAPET_OK;
    if ((status = prepare_group(store, "", creates)) != PARAPET_OK ||
        (status = pp_text_duplicate(&ancestor, path)) != PARAPET_OK)
        return status;
    for (i = 0; path[i] != '\0' && status == PARAPET_OK; i++) {
        if (path[i] != '/')
            continue;
        ancestor[i] = '\0';
        status = prepare_group(store, ancestor, creates);
        ancestor[i] = '/';
    }
    pp_free(ancestor);
    return status;
}

parapet_status pp_ancestors_prepare(parapet_store *store, const char *path)
{
    return prepare_ancestors(store, path, true);
}

parapet_status pp_ancestors_ensure_group(parapet_store *store, const char *path)
{
    return prepare_group(store, path, true);
}

parapet_status pp_ancestors_drop_consolidated(parapet_store *store, const char *path)
{
    return prepare_ancestors(store, path, false);
}

parapet_status pp_ancestors_drop_consolidated_with(parapet_store *store, const char *path)
{
    parapet_status status = prepare_ancestors(store, path, false);
    return status == PARAPET_OK ? prepare_group(store, path, false) : status;
}
