/* node_path.h - paths of nodes in a store: "" is the root, "a/b" is two levels below it. */
#ifndef PARAPET_ARRAY_NODE_PATH_H
#define PARAPET_ARRAY_NODE_PATH_H

#include <parapet_status.h>
#include <stdbool.h>
#include <stddef.h>

/* "a/b" from "/a/b/"; checked. Free with pp_free. */
parapet_status pp_path_normalize(const char *path, char **normal);

/* "path/name", or "name" at the root. Free with pp_free. */
parapet_status pp_path_join(const char *path, const char *name, char **joined);

/* The path as people write it: the root is "/". */
const char *pp_path_shown(const char *path);

/* Frees a list of paths and each of them; takes NULL. */
void pp_paths_free(char **paths, size_t count);

/* Whether a path equals another or is below it; both are normalised. */
bool pp_path_is_within(const char *inner, const char *outer);

#endif
