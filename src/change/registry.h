/* registry.h - every name that the library gives below __parapet of a node: who gives it, what announces that a
 * change is under way, and what may be done about it when its job has died.
 *
 * All keys below __parapet are built here: no other file of the library spells one (scripts/check_layers). So a name
 * that this table does not have is not ours: checking reports it, and gc leaves it.
 *
 * Pure: data and text. Who completes or removes things looks here, and has the locks. */
#ifndef PARAPET_CHANGE_REGISTRY_H
#define PARAPET_CHANGE_REGISTRY_H

#include <parapet_status.h>
#include <stdbool.h>
#include <stdint.h>

#define PP_OWN_FOLDER "__parapet"

typedef enum pp_own {
    PP_OWN_LOCK,
    PP_OWN_OWNER_RECORD,
    PP_OWN_TEMPORARIES,
    PP_OWN_OPEN_STEPS,
    PP_OWN_COPY,
    PP_OWN_COPY_JOB,
    PP_OWN_COPY_MAKES,
    PP_OWN_COPY_REPLACES,
    PP_OWN_COPY_COMPLETE,
    PP_OWN_COPY_NEW,
    PP_OWN_COPY_PROBE,
    PP_OWN_COPY_PASS,
    PP_OWN_COPY_PASS_FINISHED,
    PP_OWN_COPY_BETWEEN,
    PP_OWN_COPY_TREE_LOG,
    PP_OWN_CHANGE,
    PP_OWN_CONSOLIDATE,
    PP_OWN_SEAL,
    PP_OWN_PAGES,
    PP_OWN_OLD_DOCUMENT,
    PP_OWN_CHANGES,
    PP_OWN_CLAIM,
    PP_OWN_COMMITS,
    PP_OWN_COUNT
} pp_own;

/* What gc does about a name, while it holds the node alone. */
typedef enum pp_own_gc {
    PP_OWN_GC_NEVER,            /* it stays */
    PP_OWN_GC_ALL,              /* all objects below it go */
    PP_OWN_GC_UNLESS_RESUMABLE, /* all of it goes, unless something in it says how to resume it */
    PP_OWN_GC_RECOVER           /* the change that it announces is completed or undone, by all ranks */
} pp_own_gc;

/* When it goes, if its node is removed. What announces something must not be there when that is gone, or only just
 * (invariant 12 of docs/design/change.md). */
typedef enum pp_own_end {
    PP_OWN_END_FIRST,     /* before anything of the node: it says that something can be believed or resumed */
    PP_OWN_END_ANY,       /* with the rest of __parapet */
    PP_OWN_END_WITH_NODE, /* after the node's document: until then others are to be kept away */
    PP_OWN_END_LAST       /* by whoever holds it */
} pp_own_end;

typedef struct pp_own_row {
    const char *const *patterns; /* below __parapet; % is a number, # are 16 hexadecimal digits, * is any rest */
    const char *owner;           /* the part of the library that gives the name */
    pp_own_gc gc;
    pp_own_end end;
    const char *left; /* what gc says of it, if it does something about it */
} pp_own_row;

const pp_own_row *pp_own_row_of(pp_own own);

/* Which name this is, relative to __parapet: of an object, or of a folder that leads to one; PP_OWN_COUNT: none. */
pp_own pp_own_find(const char *name);

/* The same of a name in this folder: PP_OWN_COPY and "job". */
pp_own pp_own_find_in(pp_own folder, const char *name);

/* "a/b/__parapet/seal": of a node, which may be the root, "". Free with pp_free. The key of what has a number is that
 * of the folder of all of them, or what stands before the number. */
parapet_status pp_own_key(const char *node, pp_own own, char **key);

/* "a/b/__parapet/manifest/7" */
parapet_status pp_own_key_numbered(const char *node, pp_own own, int64_t number, char **key);

/* "a/b/__parapet/commits/00000007": what is called so in a folder. */
parapet_status pp_own_key_named(const char *node, pp_own own, const char *name, char **key);

/* "a/b/__parapet" */
parapet_status pp_own_folder(const char *node, char **key);

/* Whether this child of a node is __parapet. */
bool pp_own_is_folder(const char *name);

#endif
