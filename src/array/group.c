#include "array/internal.h"

static void free_group(parapet_group *group)
{
    if (group == NULL)
        return;
    pp_group_document_clear(&group->document);
    pp_free(group->path);
    pp_free(group);
}

static parapet_status finish_handle(parapet_group **group, parapet_status status)
{
    if (status == PARAPET_OK) {
        (*group)->store->handle_count++;
        return PARAPET_OK;
    }
    free_group(*group);
    *group = NULL;
    return status;
}

static parapet_status build_handle(parapet_group **group, parapet_store *store, const char *path)
{
    parapet_status status;
    if (group != NULL)
        *group = NULL;
    if (group == NULL || store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a group needs a store and a place for its handle");
    if ((status = pp_allocate(group, sizeof **group)) != PARAPET_OK)
        return status;
    (*group)->store = store;
    if ((status = pp_path_normalize(path, &(*group)->path)) != PARAPET_OK) {
        free_group(*group);
        *group = NULL;
    }
    return status;
}

static parapet_status parse_node(parapet_group *group, const pp_node *node)
{
    if (node->kind != PARAPET_NODE_GROUP)
        return pp_fail(PARAPET_ERR_ARGUMENT, "\"%s\" is an array, not a group", group->path);
    if (node->is_implicit) {
        group->document.zarr_format = 3;
        return pp_json_object_build(&group->document.attributes);
    }
    if (node->zarr_format == 2)
        return pp_group_document_parse_v2(&group->document, node->json, node->zattrs);
    return pp_group_document_parse(&group->document, node->json);
}

static parapet_status load_group(parapet_group *group)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(group->store, group->path, &node);
    if (status == PARAPET_OK)
        status = parse_node(group, &node);
    pp_node_clear(&node);
    return status;
}

parapet_status parapet_group_open(parapet_group **group, parapet_store *store, const char *path)
{
    parapet_status status = build_handle(group, store, path);
    if (status != PARAPET_OK)
        return status;
    return finish_handle(group, pp_comm_agree(store->comm, load_group(*group)));
}

parapet_status pp_group_write(parapet_group *group, const pp_group_document *document, pp_publish_mode mode)
{
    pp_text text = {0};
    parapet_status status = pp_group_document_print(document, &text);
    if (status == PARAPET_OK && (status = text.status) == PARAPET_OK)
        status = pp_node_write(group->store, group->path, PARAPET_NODE_GROUP, text.data, text.bytes, mode);
    pp_text_free(&text);
    return status;
}

static parapet_status create_group(parapet_group *group, const char *attributes)
{
    parapet_status status;
    pp_node node = {0};
    if ((status = pp_store_check_writable(group->store)) != PARAPET_OK)
        return status;
    status = pp_node_load(group->store, group->path, &node);
    if (status == PARAPET_OK && !node.is_implicit)
        status = pp_fail(PARAPET_ERR_EXISTS, "there is %s at \"%s\" already",
                         node.kind == PARAPET_NODE_ARRAY ? "an array" : "a group", group->path);
    else if (status == PARAPET_ERR_NOT_FOUND)
        status = PARAPET_OK;
    pp_node_clear(&node);
    group->document.zarr_format = 3;
    if (status != PARAPET_OK ||
        (status = pp_attributes_parse(attributes, &group->document.attributes)) != PARAPET_OK ||
        (status = pp_node_prepare_ancestors(group->store, group->path)) != PARAPET_OK)
        return status;
    return pp_group_write(group, &group->document, PP_PUBLISH_EXCLUSIVE);
}

parapet_status parapet_group_create(parapet_group **group, parapet_store *store, const char *path,
                                    const char *attributes)
{
    parapet_status status = build_handle(group, store, path);
    if (status != PARAPET_OK)
        return status;
    return finish_handle(group, pp_comm_agree(store->comm, create_group(*group, attributes)));
}

parapet_status parapet_group_close(parapet_group **group)
{
    if (group == NULL || *group == NULL)
        return PARAPET_OK;
    (*group)->store->handle_count--;
    free_group(*group);
    *group = NULL;
    return PARAPET_OK;
}

/* Directories that hold nothing of Zarr are skipped. */
static parapet_status visit_child(parapet_group *group, const char *name, parapet_child child, void *context,
                                  bool *is_ended)
{
    pp_node node = {0};
    char *path = NULL;
    parapet_status status = pp_path_join(group->path, name, &path);
    if (status == PARAPET_OK && (status = pp_node_load(group->store, path, &node)) == PARAPET_OK)
        *is_ended = child(context, name, node.kind) != 0;
    pp_node_clear(&node);
    pp_free(path);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

parapet_status parapet_group_list(parapet_group *group, parapet_child child, void *context)
{
    pp_children list = {0};
    bool is_ended = false;
    parapet_status status;
    size_t i;
    if (group == NULL || child == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_group_list needs a group and a function");
    status = pp_children_list(&list, group->store, group->path);
    for (i = 0; i < list.count && status == PARAPET_OK && !is_ended; i++)
        status = visit_child(group, list.names[i], child, context, &is_ended);
    pp_children_clear(&list);
    return pp_comm_agree(group->store->comm, status);
}

parapet_status pp_group_check_changeable(const parapet_group *group)
{
    parapet_status status = pp_store_check_writable(group->store);
    if (status == PARAPET_OK && group->document.zarr_format == 2)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\" is a Zarr v2 group, which can only be read", group->path);
    return status;
}

static parapet_status set_attribute(parapet_group *group, const char *name, const char *json)
{
    pp_group_document changed = group->document;
    parapet_status status = pp_group_check_changeable(group);
    changed.consolidated_metadata = NULL;
    if (status != PARAPET_OK ||
        (status = pp_attributes_changed(group->document.attributes, name, json, &changed.attributes)) != PARAPET_OK)
        return status;
    if ((status = pp_node_drop_consolidated(group->store, group->path)) == PARAPET_OK)
        status = pp_group_write(group, &changed, PP_PUBLISH_REPLACE);
    if (status != PARAPET_OK) {
        pp_json_free(changed.attributes);
        return status;
    }
    pp_json_free(group->document.attributes);
    pp_json_free(group->document.consolidated_metadata);
    group->document = changed;
    return PARAPET_OK;
}

parapet_status parapet_group_attribute_set(parapet_group *group, const char *name, const char *json)
{
    if (group == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_group_attribute_set needs a group");
    return pp_comm_agree(group->store->comm, set_attribute(group, name, json));
}

parapet_status parapet_group_attribute_get(parapet_group *group, const char *name, char **json)
{
    if (group == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_group_attribute_get needs a group");
    return pp_attributes_get(group->document.attributes, name, json);
}
