#include "array/ancestor_list.h"

#include <stdlib.h>
#include <string.h>

#include "array/node_path.h"
#include "base/checked.h"
#include "base/memory.h"

/* The beginning of a path: a node, or a group above it. */
typedef struct place {
    const char *path;
    size_t bytes;
    int node;
    bool is_node;
} place;

typedef struct places {
    place *list;
    size_t count;
} places;

static size_t depth_of(const char *path)
{
    size_t depth = path[0] != '\0';
    for (; *path != '\0'; path++)
        depth += *path == '/';
    return depth;
}

static void add(places *all, const char *path, size_t bytes, int node)
{
    all->list[all->count++] = (place){.path = path, .bytes = bytes, .node = node, .is_node = path[bytes] == '\0'};
}

static void add_way(places *all, const char *path, int node)
{
    size_t i;
    if (path[0] != '\0')
        add(all, path, 0, node);
    for (i = 0; path[i] != '\0'; i++)
        if (path[i] == '/')
            add(all, path, i, node);
    add(all, path, i, node);
}

static parapet_status list_places(places *all, const char *const *paths, int count)
{
    size_t room = 0;
    parapet_status status;
    int i;
    for (i = 0; i < count; i++)
        room += depth_of(paths[i]) + 1;
    if ((status = pp_allocate_array(&all->list, room, sizeof all->list[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < count; i++)
        add_way(all, paths[i], i);
    return PARAPET_OK;
}

static bool is_same(const place *one, const place *other)
{
    return one->bytes == other->bytes && memcmp(one->path, other->path, one->bytes) == 0;
}

static int compare_paths(const void *left, const void *right)
{
    const place *one = left, *other = right;
    int order = memcmp(one->path, other->path, pp_min_size(one->bytes, other->bytes));
    if (order == 0)
        order = (one->bytes > other->bytes) - (one->bytes < other->bytes);
    return order != 0 ? order : one->node - other->node;
}

static int compare_needs(const void *left, const void *right)
{
    const place *one = left, *other = right;
    return one->node != other->node ? one->node - other->node
                                    : (one->bytes > other->bytes) - (one->bytes < other->bytes);
}

/* Of equal neighbours only the first, which the first node needs; and no nodes. */
static void keep_groups(places *all, bool *has_conflict)
{
    size_t i, next, kept = 0;
    for (i = 0; i < all->count; i = next) {
        bool has_node = all->list[i].is_node;
        for (next = i + 1; next < all->count && is_same(&all->list[i], &all->list[next]); next++)
            has_node |= all->list[next].is_node;
        *has_conflict |= has_node && next > i + 1;
        if (!has_node)
            all->list[kept++] = all->list[i];
    }
    all->count = kept;
}

static parapet_status take(pp_ancestor_list *groups, const places *all)
{
    parapet_status status;
    size_t i;
    if ((status = pp_allocate_array(&groups->paths, all->count, sizeof groups->paths[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&groups->nodes, all->count, sizeof groups->nodes[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < all->count; i++) {
        const place *from = &all->list[i];
        if ((status = pp_allocate(&groups->paths[i], from->bytes + 1)) != PARAPET_OK)
            return status;
        memcpy(groups->paths[i], from->path, from->bytes);
        groups->nodes[i] = from->node;
        groups->count++;
    }
    return PARAPET_OK;
}

parapet_status pp_ancestor_list_init(pp_ancestor_list *groups, const char *const *paths, int count)
{
    places all = {0};
    parapet_status status = list_places(&all, paths, count);
    *groups = (pp_ancestor_list){0};
    if (status == PARAPET_OK) {
        qsort(all.list, all.count, sizeof all.list[0], compare_paths);
        keep_groups(&all, &groups->has_conflict);
        qsort(all.list, all.count, sizeof all.list[0], compare_needs);
        status = take(groups, &all);
    }
    pp_free(all.list);
    return status;
}

void pp_ancestor_list_clear(pp_ancestor_list *groups)
{
    pp_paths_free(groups->paths, (size_t)groups->count);
    pp_free(groups->nodes);
    *groups = (pp_ancestor_list){0};
}
