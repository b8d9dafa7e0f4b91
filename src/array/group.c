#include "array/group.h"
#include "array/ancestors.h"
#include "array/attributes.h"
#include "array/group_handle.h"
#include "array/node.h"
#include "array/node_lock.h"
#include "array/node_path.h"
#include "array/state.h"
#include "array/store_queries.h"

static void free_group(parapet_group *group)
{
    if (group == NULL)
        return;
    pp_group_document_clear(&group->document);
    pp_json_free(group->zgroup);
    pp_json_free(group->zattrs);
    pp_free(group->path);
    pp_free(group);
}

static parapet_status finish_handle(parapet_group **group, parapet_status status)
{
    if (status == PARAPET_OK) {
        (*group)->store->handle_count++;
    } else if (group != NULL) {
        free_group(*group);
        *group = NULL;
    }
    return status;
}

static parapet_status build_handle(parapet_group **group, parapet_store *store, const char *path)
{
    parapet_status status;
    if (group == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a group needs a store and a pointer for its handle");
    if ((status = pp_allocate(group, sizeof **group)) != PARAPET_OK)
        return status;
    (*group)->store = store;
    return pp_path_normalize(path, &(*group)->path);
}

/* The turn of a call that makes a handle. */
static parapet_status begin_handle(pp_turn *turn, parapet_group **group, const parapet_store *store)
{
    if (group != NULL)
        *group = NULL;
    if (store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a group needs a store and a pointer for its handle");
    return pp_turn_take(turn, store->comm, PP_TURN_COLLECTIVE);
}

static parapet_status parse_node(parapet_group *group, const pp_node *node)
{
    if (node->kind != PARAPET_NODE_GROUP)
        return pp_fail(PARAPET_ERR_ARGUMENT, "\"%s\" is an array, not a group", group->path);
    if (node->is_implicit) {
        group->document.zarr_format = 3;
        return pp_json_object_build(&group->document.attributes);
    }
    if (node->zarr_format != 2)
        return pp_group_document_parse(&group->document, node->json);
    group->zgroup = pp_json_share(node->json);
    group->zattrs = pp_json_share(node->zattrs);
    return pp_group_document_parse_v2(&group->document, node->json, node->zattrs);
}

static parapet_status load_group(void *subject, const void *argument)
{
    parapet_group *group = subject;
    pp_node node = {0};
    parapet_status status = pp_node_load_finished(group->store, group->path, &node);
    (void)argument;
    if (status == PARAPET_OK)
        status = parse_node(group, &node);
    pp_node_clear(&node);
    return status;
}

parapet_status parapet_group_open(parapet_group **group, parapet_store *store, const char *path)
{
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if ((status = begin_handle(&turn, group, store)) != PARAPET_OK)
        return status;
    status = build_handle(group, store, path);
    pp_call_init(&call, "group_open(%s)", path != NULL ? path : "");
    if ((status = pp_comm_begin(store->comm, &call, status)) == PARAPET_OK)
        status = pp_group_rank0_do(*group, "opening a group", load_group, NULL);
    return pp_outcome(finish_handle(group, status));
}

static parapet_status create_held(parapet_group *group, const char *attributes)
{
    parapet_status status;
    pp_node node = {0};
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
        (status = pp_ancestors_prepare(group->store, group->path)) != PARAPET_OK)
        return status;
    return pp_node_write_group(group->store, group->path, &group->document, PP_PUBLISH_EXCLUSIVE);
}

static parapet_status create_group(void *subject, const void *attributes)
{
    parapet_group *group = subject;
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, group->store, group->path);
    if (status != PARAPET_OK)
        return status;
    status = create_held(group, attributes);
    pp_edit_end(&edit);
    return status;
}

parapet_status parapet_group_create(parapet_group **group, parapet_store *store, const char *path,
                                    const char *attributes)
{
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if ((status = begin_handle(&turn, group, store)) != PARAPET_OK)
        return status;
    status = build_handle(group, store, path);
    pp_call_init(&call, "group_create(%s)", path != NULL ? path : "");
    pp_call_add_text(&call, "attributes", attributes);
    if (status == PARAPET_OK)
        status = pp_store_check_writable(store);
    if ((status = pp_comm_begin(store->comm, &call, status)) == PARAPET_OK)
        status = pp_group_rank0_do(*group, "creating a group", create_group, attributes);
    return pp_outcome(finish_handle(group, status));
}

parapet_status parapet_group_close(parapet_group **group)
{
    PP_TURN turn = {0};
    parapet_status status;
    pp_comm *comm;
    pp_call call;
    if (group == NULL || *group == NULL)
        return PARAPET_OK;
    comm = (*group)->store->comm;
    if ((status = pp_turn_take(&turn, comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "group_close(%s)", (*group)->path);
    if (!pp_comm_is_lost(comm))
        status = pp_comm_begin_at_once(comm, &call, PARAPET_OK);
    if (status == PARAPET_ERR_ARGUMENT)
        return status; /* the ranks called different things: nobody closes */
    (*group)->store->handle_count--;
    free_group(*group);
    *group = NULL;
    return status;
}

const pp_group_document *pp_group_document_of(const parapet_group *group)
{
    return &group->document;
}

parapet_status pp_group_check_usable(const parapet_group *group)
{
    if (group->is_broken)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "group \"%s\": an earlier change failed half-way; close the group and open it again to see "
                       "what is stored",
                       group->path);
    return PARAPET_OK;
}

parapet_status pp_group_check_changeable(const parapet_group *group)
{
    parapet_status status = pp_group_check_usable(group);
    if (status == PARAPET_OK)
        status = pp_store_check_writable(group->store);
    if (status == PARAPET_OK && group->document.zarr_format == 2)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\" is a Zarr v2 group, which can only be read", group->path);
    return status;
}

/* As it is stored now: from that it is changed, and not from what the handle remembers. */
static parapet_status refresh(parapet_group *group)
{
    pp_group_document stored = {0};
    pp_node node = {0};
    parapet_status status = pp_node_load(group->store, group->path, &node);
    if (status == PARAPET_OK && (node.kind != PARAPET_NODE_GROUP || node.zarr_format != 3))
        status = PARAPET_ERR_NOT_FOUND;
    if (status == PARAPET_ERR_NOT_FOUND)
        status = pp_fail(PARAPET_ERR_STALE, "another job has removed group \"%s\" since it was opened", group->path);
    if (status == PARAPET_OK && !node.is_implicit &&
        (status = pp_group_document_parse(&stored, node.json)) == PARAPET_OK) {
        pp_group_document_clear(&group->document);
        group->document = stored;
        stored = (pp_group_document){0};
    }
    pp_group_document_clear(&stored);
    pp_node_clear(&node);
    return status;
}

parapet_status pp_group_edit(parapet_group *group, pp_group_change change, const void *argument)
{
    pp_group_document changed;
    pp_text text = {0};
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, group->store, group->path);
    if (status != PARAPET_OK)
        return status;
    if ((status = refresh(group)) == PARAPET_OK) {
        changed = group->document;
        changed.attributes = pp_json_share(changed.attributes);
        changed.consolidated_metadata = NULL;
        if ((status = change(group, &changed, argument, &text)) == PARAPET_OK &&
            (status = pp_ancestors_drop_consolidated_with(group->store, group->path)) == PARAPET_OK &&
            (status = pp_edit_prove(&edit)) == PARAPET_OK)
            status = pp_node_write(group->store, group->path, PARAPET_NODE_GROUP, text.data, text.bytes,
                                   PP_PUBLISH_REPLACE);
        pp_text_free(&text);
        pp_json_free(status == PARAPET_OK ? group->document.attributes : changed.attributes);
        pp_json_free(status == PARAPET_OK ? group->document.consolidated_metadata : changed.consolidated_metadata);
        if (status == PARAPET_OK)
            group->document = changed;
    }
    pp_edit_end(&edit);
    return status;
}

static parapet_status change_attribute(parapet_group *group, pp_group_document *changed, const void *attribute,
                                       pp_text *text)
{
    pp_json *attributes = NULL;
    parapet_status status = pp_attributes_changed(changed->attributes, attribute, &attributes);
    (void)group;
    if (status != PARAPET_OK)
        return status;
    pp_json_free(changed->attributes);
    changed->attributes = attributes;
    return pp_group_document_print(changed, text);
}

static parapet_status set_attribute(void *group, const void *attribute)
{
    return pp_group_edit(group, change_attribute, attribute);
}

parapet_status parapet_group_attribute_set(parapet_group *group, const char *name, const char *json)
{
    pp_attribute attribute = {.name = name, .json = json};
    PP_TURN turn = {0};
    pp_call call;
    parapet_status status;
    if (group == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_group_attribute_set needs a group");
    if ((status = pp_turn_take(&turn, group->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "group_attribute_set(%s)", group->path);
    pp_attribute_add(&attribute, &call);
    if ((status = pp_comm_begin(group->store->comm, &call, pp_group_check_changeable(group))) != PARAPET_OK)
        return pp_outcome(status);
    return pp_outcome(pp_group_rank0_do(group, "setting an attribute", set_attribute, &attribute));
}

parapet_status parapet_group_attribute_get(parapet_group *group, const char *name, char **json)
{
    PP_TURN turn = {0};
    parapet_status status;
    if (group == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_group_attribute_get needs a group");
    if ((status = pp_turn_take(&turn, group->store->comm, PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    return pp_outcome(pp_attributes_get(group->document.attributes, name, json));
}
