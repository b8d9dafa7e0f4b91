#include "array/membership.h"

#include <string.h>

#include "array/attributes.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/store_handle.h"
#include "change/registry.h"
#include "zarr/commit_record.h"

/* A node, seen from a group above it. */
typedef struct view {
    parapet_store *store;
    const char *group;
    const char *below; /* the rest of the path */
    const char *path;
} view;

static parapet_status refuse_part(const view *self, const char *whole)
{
    return pp_fail(PARAPET_ERR_ARGUMENT, "\"%s\" is a part of the %s \"%s\", which can only be removed as a whole",
                   self->path, whole, pp_path_shown(self->group));
}

/* ---- Checkpoints ---- */

static bool is_below(const view *self, const char *name)
{
    return pp_path_is_within(self->below, name);
}

/* What cannot be read may name it. */
static parapet_status check_record(void *context, const pp_listed *listed)
{
    const view *self = context;
    pp_commit commit = {0};
    char *key = NULL, *text = NULL;
    size_t bytes;
    parapet_status status;
    if (listed->is_prefix || pp_store_is_temporary_name(listed->name))
        return PARAPET_OK;
    if ((status = pp_own_key_named(self->group, PP_OWN_COMMITS, listed->name, &key)) == PARAPET_OK &&
        (status = pp_store_read_all(self->store->backend, key, PP_COMMIT_MOST_BYTES, &text, &bytes)) == PARAPET_OK)
        status = pp_commit_parse(&commit, text, bytes);
    if (status == PARAPET_ERR_CORRUPT || (status == PARAPET_OK && is_below(self, commit.group)))
        status = refuse_part(self, "checkpoint");
    pp_commit_clear(&commit);
    pp_free(text);
    pp_free(key);
    return pp_accept_absence(status);
}

static parapet_status check_checkpoint(view *self)
{
    char *folder = NULL;
    parapet_status status = pp_own_key(self->group, PP_OWN_COMMITS, &folder);
    if (status == PARAPET_OK)
        status = pp_store_list(self->store->backend, folder, check_record, self);
    pp_free(folder);
    return pp_accept_absence(status);
}

/* ---- Series ---- */

static bool is_named(const view *self, pp_json *name)
{
    const char *text;
    size_t bytes;
    return pp_json_get_text(name, &text, &bytes) && strlen(text) == bytes && is_below(self, text);
}

static parapet_status check_series(const view *self, const pp_group_document *document)
{
    pp_json *mark = pp_json_member(pp_json_member(document->attributes, PP_RESERVED_ATTRIBUTE), "series");
    pp_json *names = pp_json_member(mark, "arrays");
    bool is_part = is_named(self, pp_json_member(mark, "dimension"));
    size_t i;
    for (i = 0; i < pp_json_length(names) && !is_part; i++)
        is_part = is_named(self, pp_json_element(names, i));
    return is_part ? refuse_part(self, "series") : PARAPET_OK;
}

/* ---- The groups above ---- */

static parapet_status check_document(const view *self, const pp_node *node)
{
    pp_group_document document = {0};
    parapet_status status;
    if (node->kind == PARAPET_NODE_ARRAY)
        return pp_fail(PARAPET_ERR_NOT_FOUND, "there is no array or group at \"%s\": \"%s\" is an array", self->path,
                       pp_path_shown(self->group));
    if (node->is_implicit || node->zarr_format == 2)
        return PARAPET_OK;
    if ((status = pp_group_document_parse(&document, node->json)) == PARAPET_OK)
        status = check_series(self, &document);
    else
        status =
            pp_fail_within(status, "\"%s\" is not removed, because the document of the group \"%s\" cannot be read",
                           self->path, pp_path_shown(self->group));
    pp_group_document_clear(&document);
    return status;
}

static parapet_status check_group(view *self)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(self->store, self->group, &node);
    bool is_there = status == PARAPET_OK;
    if (is_there)
        status = check_document(self, &node);
    pp_node_clear(&node);
    if (!is_there)
        return pp_accept_absence(status);
    return status == PARAPET_OK ? check_checkpoint(self) : status;
}

parapet_status pp_membership_check(parapet_store *store, const char *path)
{
    view self = {.store = store, .group = "", .below = path, .path = path};
    char *group = NULL;
    size_t i;
    parapet_status status = path[0] != '\0' ? check_group(&self) : PARAPET_OK;
    if (status == PARAPET_OK)
        status = pp_text_duplicate(&group, path);
    self.group = group;
    for (i = 0; status == PARAPET_OK && path[i] != '\0'; i++) {
        if (path[i] != '/')
            continue;
        group[i] = '\0';
        self.below = path + i + 1;
        status = check_group(&self);
        group[i] = '/';
    }
    pp_free(group);
    return status;
}
