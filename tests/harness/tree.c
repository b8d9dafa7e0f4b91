#include "tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tree *being_taken; /* nftw has no context */

static void *checked(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static uint64_t digest_bytes(uint64_t digest, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    size_t i;
    for (i = 0; i < bytes; i++)
        digest = (digest ^ byte[i]) * UINT64_C(0x100000001b3);
    return digest ^ (digest >> 29);
}

static uint64_t digest_file(const char *path)
{
    unsigned char buffer[16384];
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    size_t bytes;
    FILE *file = checked(fopen(path, "rb"));
    while ((bytes = fread(buffer, 1, sizeof buffer, file)) > 0)
        digest = digest_bytes(digest, buffer, bytes);
    (void)fclose(file);
    return digest;
}

/* A lock says which job came last. */
static bool is_lock(const char *path)
{
    static const char name[] = "/__parapet/lock";
    size_t bytes = strlen(path);
    return bytes >= sizeof name - 1 && strcmp(path + bytes - (sizeof name - 1), name) == 0;
}

static int visit(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    tree *taken = being_taken;
    (void)place;
    if (kind != FTW_F || is_lock(path))
        return 0;
    if (taken->count == taken->capacity) {
        taken->capacity = 2 * taken->capacity + 64;
        taken->files = checked(realloc(taken->files, taken->capacity * sizeof taken->files[0]));
    }
    taken->files[taken->count++] = (tree_file){
        .name = checked(strdup(path + strlen(taken->root) + 1)),
        .bytes = (size_t)info->st_size,
        .digest = digest_file(path),
    };
    return 0;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const tree_file *)left)->name, ((const tree_file *)right)->name);
}

void tree_take(tree *taken, const char *root)
{
    *taken = (tree){.root = checked(strdup(root))};
    being_taken = taken;
    (void)nftw(root, visit, 16, FTW_PHYS);
    if (taken->count > 0)
        qsort(taken->files, taken->count, sizeof taken->files[0], compare_names);
}

void tree_clear(tree *taken)
{
    size_t i;
    for (i = 0; i < taken->count; i++)
        free(taken->files[i].name);
    free(taken->files);
    free(taken->root);
    *taken = (tree){0};
}

uint64_t tree_digest(const tree *of)
{
    uint64_t digest = of->count;
    size_t i;
    for (i = 0; i < of->count; i++) {
        digest = digest_bytes(digest, of->files[i].name, strlen(of->files[i].name) + 1);
        digest = digest_bytes(digest, &of->files[i].digest, sizeof of->files[i].digest);
    }
    return digest;
}

static void say_difference(const tree *left, const tree *right)
{
    size_t i;
    fprintf(stderr, "%zu files in %s, %zu in %s\n", left->count, left->root, right->count, right->root);
    for (i = 0; i < left->count && i < right->count; i++) {
        const tree_file *one = &left->files[i], *other = &right->files[i];
        if (strcmp(one->name, other->name) == 0 && one->bytes == other->bytes && one->digest == other->digest)
            continue;
        fprintf(stderr, "first difference: %s of %zu bytes against %s of %zu bytes\n", one->name, one->bytes,
                other->name, other->bytes);
        return;
    }
}

bool tree_equals(const tree *left, const tree *right)
{
    bool is_equal = left->count == right->count && tree_digest(left) == tree_digest(right);
    if (!is_equal)
        say_difference(left, right);
    return is_equal;
}

bool tree_has_leftovers(const tree *of)
{
    size_t i;
    for (i = 0; i < of->count; i++)
        if (strstr(of->files[i].name, "__parapet/tmp/") != NULL) {
            fprintf(stderr, "left over: %s/%s\n", of->root, of->files[i].name);
            return true;
        }
    return false;
}

static int remove_visited(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

void tree_remove(const char *root)
{
    (void)nftw(root, remove_visited, 16, FTW_DEPTH | FTW_PHYS);
}
