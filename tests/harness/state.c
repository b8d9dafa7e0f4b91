#include "state.h"

#include <parapet_store.h>

#include "support.h"

#include "array/array_handle.h"
#include "array/node.h"
#include "array/open.h"

const char *const state_array_paths[STATE_ARRAYS] = {"a", "g/b"};
const char *const state_group_paths[STATE_GROUPS] = {"", "g", "g/h"};

static void keep_attribute(parapet_status status, char *json, char kept[STATE_TEXT])
{
    kept[0] = '\0';
    if (status != PARAPET_ERR_NOT_FOUND) {
        assert_ok(status);
        (void)snprintf(kept, STATE_TEXT, "%s", json);
    }
    parapet_free(json);
}

static int fail_on_problem(void *context, const parapet_finding *finding)
{
    (void)context;
    if (finding->kind == PARAPET_FINDING_TORN || finding->kind == PARAPET_FINDING_MISSING)
        fail_msg("check: %s: %s", finding->key, finding->problem);
    return 0;
}

static void take_values(array_state *seen, parapet_array *array)
{
    int64_t start[2] = {0, 0}, strides[2] = {sizeof seen->values[0], sizeof seen->values[0][0]};
    parapet_part part = {
        .ndim = 2, .start = start, .count = seen->shape, .data = seen->values, .strides_bytes = strides};
    int i, j;
    for (i = 0; i < STATE_EDGE; i++)
        for (j = 0; j < STATE_EDGE; j++)
            seen->values[i][j] = STATE_FILL;
    assert_ok(parapet_array_read(array, &part, 1));
}

static void take_array(array_state *seen, parapet_store *store, const char *path)
{
    parapet_check_summary summary;
    parapet_array_info info;
    parapet_array *array;
    char *json;
    parapet_status status = parapet_array_open(&array, store, path);
    *seen = (array_state){0};
    if (status == PARAPET_ERR_NOT_FOUND ||
        (status == PARAPET_ERR_ARGUMENT && strstr(parapet_error_message(), "is a group") != NULL))
        return;
    assert_ok(status);
    assert_ok(parapet_array_check(array, PARAPET_CHECK_DATA, fail_on_problem, NULL, &summary));
    assert_ok(parapet_array_get_info(array, &info));
    assert_int_equal(info.ndim, 2);
    assert_int_equal(info.type, PARAPET_INT32);
    seen->exists = true;
    seen->is_sealed = info.is_sealed;
    memcpy(seen->shape, info.shape, sizeof seen->shape);
    status = parapet_array_attribute_get(array, "units", &json);
    keep_attribute(status, json, seen->units);
    status = parapet_array_attribute_get(array, "note", &json);
    keep_attribute(status, json, seen->note);
    take_values(seen, array);
    assert_ok(parapet_array_close(&array));
}

static void take_group(group_state *seen, parapet_store *store, const char *path)
{
    pp_node node = {0};
    parapet_group *group;
    char *json;
    parapet_status status = parapet_group_open(&group, store, path);
    *seen = (group_state){0};
    if (status == PARAPET_ERR_NOT_FOUND)
        return;
    assert_ok(status);
    assert_ok(pp_node_load(store, path, &node));
    seen->exists = !node.is_implicit;
    pp_node_clear(&node);
    status = parapet_group_attribute_get(group, "title", &json);
    keep_attribute(status, json, seen->title);
    assert_ok(parapet_group_close(&group));
}

/* A document as it is stored, with everything that the library itself does not look at; NULL when there is none. */
static pp_json *load_document(pp_store *store, const char *path)
{
    char key[64], *text;
    size_t bytes;
    pp_json *json;
    parapet_status status;
    (void)snprintf(key, sizeof key, "%s%szarr.json", path, path[0] != '\0' ? "/" : "");
    status = pp_store_read_all(store, key, 1 << 20, &text, &bytes);
    if (status == PARAPET_ERR_NOT_FOUND)
        return NULL;
    assert_ok(status);
    assert_ok(pp_json_parse(&json, text, bytes));
    pp_free(text);
    return json;
}

/* A reader that trusts consolidated metadata must see the same documents as one that does not. */
static void check_consolidated(pp_store *store)
{
    pp_json *root = load_document(store, "");
    pp_json *metadata = pp_json_member(pp_json_member(root, "consolidated_metadata"), "metadata");
    int i;
    for (i = 0; metadata != NULL && i < STATE_ARRAYS; i++) {
        pp_json *listed = pp_json_member(metadata, state_array_paths[i]);
        pp_json *stored = load_document(store, state_array_paths[i]);
        if ((listed != NULL) != (stored != NULL) || (listed != NULL && !pp_json_equals(listed, stored)))
            fail_msg("consolidated metadata of %s is stale", state_array_paths[i]);
        pp_json_free(stored);
    }
    pp_json_free(root);
}

void state_take(state *seen, pp_store *backend)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store;
    int i;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, backend, PARAPET_READ, &options));
    for (i = 0; i < STATE_ARRAYS; i++)
        take_array(&seen->arrays[i], store, state_array_paths[i]);
    for (i = 0; i < STATE_GROUPS; i++)
        take_group(&seen->groups[i], store, state_group_paths[i]);
    check_consolidated(backend);
    assert_ok(parapet_store_close(&store));
}

static int64_t clip(int64_t first, int64_t extent)
{
    return first + STATE_SHARD < extent ? first + STATE_SHARD : extent;
}

/* Whether the shard that begins at (row, column) holds, as far as seen reaches, the values of other. */
static bool shard_matches(const array_state *seen, const array_state *other, int64_t row, int64_t column)
{
    int64_t i, j;
    for (i = row; i < clip(row, seen->shape[0]); i++)
        for (j = column; j < clip(column, seen->shape[1]); j++)
            if (seen->values[i][j] != other->values[i][j])
                return false;
    return true;
}

static bool values_match(const array_state *seen, const array_state *old, const array_state *new)
{
    int64_t i, j;
    for (i = 0; i < seen->shape[0]; i += STATE_SHARD)
        for (j = 0; j < seen->shape[1]; j += STATE_SHARD)
            if (!shard_matches(seen, old, i, j) && !shard_matches(seen, new, i, j))
                return false;
    return true;
}

static const char *difference(const array_state *seen, const array_state *old, const array_state *new)
{
    if (memcmp(seen->shape, old->shape, sizeof seen->shape) != 0 &&
        memcmp(seen->shape, new->shape, sizeof seen->shape) != 0)
        return "shape";
    if (seen->is_sealed != old->is_sealed && seen->is_sealed != new->is_sealed)
        return "seal";
    if (strcmp(seen->units, old->units) != 0 && strcmp(seen->units, new->units) != 0)
        return "attribute units";
    if (strcmp(seen->note, old->note) != 0 && strcmp(seen->note, new->note) != 0)
        return "attribute note";
    return values_match(seen, old, new) ? NULL : "values";
}

static const char *array_difference(const array_state *seen, const array_state *old, const array_state *new,
                                    state_rule rule)
{
    if (seen->exists != old->exists && seen->exists != new->exists)
        return rule.may_vanish ? NULL : "existence";
    if (!seen->exists)
        return old->exists && new->exists && !rule.may_vanish ? "existence" : NULL;
    if (!old->exists || (rule.whole && difference(seen, old, old) != NULL))
        return new->exists ? difference(seen, new, new) : "existence";
    if (!new->exists || rule.whole)
        return difference(seen, old, old);
    if (rule.values_old && !values_match(seen, old, old))
        return "values, although nothing was published";
    return difference(seen, old, new);
}

static bool group_matches(const group_state *seen, const group_state *old, const group_state *new)
{
    return (seen->exists == old->exists && strcmp(seen->title, old->title) == 0) ||
           (seen->exists == new->exists &&strcmp(seen->title, new->title) == 0);
}

bool state_is_between(const state *seen, const state *old, const state *new, state_rule rule, char problem[256])
{
    int i;
    for (i = 0; i < STATE_ARRAYS; i++) {
        const char *what = array_difference(&seen->arrays[i], &old->arrays[i], &new->arrays[i], rule);
        if (what != NULL) {
            (void)snprintf(problem, 256, "array \"%s\": %s neither old nor new", state_array_paths[i], what);
            return false;
        }
    }
    for (i = 0; i < STATE_GROUPS; i++)
        if (!group_matches(&seen->groups[i], &old->groups[i], &new->groups[i])) {
            (void)snprintf(problem, 256, "group \"%s\" is neither old nor new", state_group_paths[i]);
            return false;
        }
    return true;
}

bool state_equals(const state *a, const state *b, char problem[256])
{
    return state_is_between(a, b, b, (state_rule){0}, problem);
}
