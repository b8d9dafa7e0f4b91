/* tree.h - all files below a directory: what they are called and what is in them. */
#ifndef PARAPET_TESTS_TREE_H
#define PARAPET_TESTS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tree_file {
    char *name; /* below the root */
    size_t bytes;
    uint64_t digest;
} tree_file;

typedef struct tree {
    char *root;
    size_t count, capacity;
    tree_file *files; /* by name */
} tree;

void tree_take(tree *taken, const char *root);
void tree_clear(tree *taken);

/* Of all names and contents. */
uint64_t tree_digest(const tree *of);

/* Whether both have the same names and contents; says on stderr what differs. */
bool tree_equals(const tree *left, const tree *right);

/* Whether something was left under a temporary name; says on stderr what. */
bool tree_has_leftovers(const tree *of);

void tree_remove(const char *root);

#endif
