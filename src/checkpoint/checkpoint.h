/* checkpoint.h - generations of a checkpoint: where they are, and what the files of checkpoints share.
 *
 *     <path>/g00000007/                    a generation: a Zarr group. "g00000007-1" if the name was reserved before
 *     <path>/g00000007/__parapet/claim     published exclusively: whose directory this is
 *     <path>/g00000007/<array>/            sealed
 *     <path>/g00000007/zarr.json           written when all arrays are
 *     <path>/__parapet/commits/00000007    the commit record, published exclusively and last
 *
 * A generation exists if and only if its commit record does. To remove one, the record is removed first, then its
 * zarr.json, then the rest, so that whatever a crash leaves is either a whole generation or none. */
#ifndef PARAPET_CHECKPOINT_CHECKPOINT_H
#define PARAPET_CHECKPOINT_CHECKPOINT_H

#include "array/node_lock.h"
#include "comm/comm.h"
#include "plan/homes.h"
#include "zarr/commit_record.h"
#include "zarr/json.h"

/* A generation that is being written. */
struct parapet_checkpoint {
    parapet_store *store;
    char *path;       /* of the group that holds the generations */
    char *group_path; /* of this one; there is room for any before it is chosen, and so for the name in the record */
    pp_commit commit;
    pp_json *attributes; /* of its group */
    int64_t keep;        /* how many generations to keep; -1: all */
    bool is_failed;      /* a put failed */
    pp_homes homes;      /* of the arrays that were put so far; the same on all ranks */
    pp_node_lock hold;   /* of the group, so that no other job makes a generation in it */
    bool is_lent;        /* this rank is a delegate, if it has to be */
};

/* ---- commits.c: on rank 0 alone ---- */

/* Numbers of the committed generations, newest first; free with pp_free. */
parapet_status pp_commits_list(parapet_store *store, const char *path, int64_t **numbers, size_t *count);

/* PARAPET_ERR_NOT_FOUND if there is no such generation. Clear it even after a failure. */
parapet_status pp_commit_load(parapet_store *store, const char *path, int64_t number, pp_commit *commit);

/* PARAPET_ERR_EXISTS if this number or a later one is committed. */
parapet_status pp_commits_check_newest(parapet_store *store, const char *path, int64_t number);

/* Makes the generation exist, durably. PARAPET_ERR_EXISTS: another job has committed this number or a later one.
 * After any other failure *is_certain tells whether it is certain that it does not exist. */
parapet_status pp_commit_publish(parapet_store *store, const char *path, pp_commit *commit, bool *is_certain);

/* Removes the record, durably, then what it named. The generation may already be gone. */
parapet_status pp_generation_drop(parapet_store *store, const char *path, int64_t number);

/* Removes a directory that no record names: its zarr.json first, then its arrays, then the reservation. Anything else
 * in it stays. */
parapet_status pp_generation_erase(parapet_store *store, const char *path, const char *group);

/* PARAPET_ERR_EXISTS: the directory has something besides __parapet: a generation, or files of others. */
parapet_status pp_generation_check_free(parapet_store *store, const char *group_path);

/* Whether a name is that of a generation's directory, and its number. */
bool pp_generation_parse(const char *group, int64_t *number);

/* The name of the directory for an attempt, counted from 0, at a generation: 18 digits and 10 at most. */
#define PP_GENERATION_NAME_BYTES 32
void pp_generation_print(int64_t number, int attempt, char group[PP_GENERATION_NAME_BYTES]);

/* Called with every directory that a job has reserved and that no record names. */
typedef parapet_status (*pp_stray_visitor)(void *context, const char *group, int64_t number);
parapet_status pp_generations_stray(parapet_store *store, const char *path, pp_stray_visitor visit, void *context);

/* ---- items.c ---- */

/* Checks what lists of items to put and to get have in common. */
parapet_status pp_checkpoint_check_list(const parapet_checkpoint_item *items, int count);

/* ---- health.c ---- */

typedef enum pp_generation_health {
    PP_GENERATION_UNKNOWN,
    PP_GENERATION_VERIFIES, /* as far as opening it shows, or because this process committed it */
    PP_GENERATION_DAMAGED
} pp_generation_health;

/* What this process knows about a generation. */
pp_generation_health pp_generation_get_health(const parapet_store *store, const char *path, int64_t number);
void pp_generation_set_health(const parapet_store *store, const char *path, int64_t number,
                              pp_generation_health health);

/* ---- restore.c ---- */

/* [collective] Verifies a generation as if to restore from it, and remembers the result on rank 0. */
void pp_generation_verify(parapet_store *store, const char *path, int64_t number);

/* ---- checkpoint.c ---- */

/* Frees one that is open, and sets it to NULL. */
void pp_checkpoint_drop(parapet_checkpoint **checkpoint);

/* Which call this is, and on which generation. */
void pp_checkpoint_call(pp_call *call, const char *verb, const parapet_checkpoint *checkpoint);

/* The arrays of one put. */
typedef struct pp_filling {
    parapet_checkpoint *checkpoint;
    int count;
    parapet_array **arrays;
    parapet_array_parts *list;
    pp_homes homes; /* with these arrays: those of the checkpoint once all ranks have begun */
} pp_filling;

/* [local] Defines the arrays of items, and lists their parts; call gets what must be equal on all ranks. Clear it
 * even after a failure. */
parapet_status pp_filling_init(pp_filling *filling, parapet_checkpoint *checkpoint,
                               const parapet_checkpoint_item *items, int count, pp_call *call);
void pp_filling_clear(pp_filling *filling);

/* [collective] Begins the call, with the status of this rank so far; then stores, writes and seals the arrays and
 * adds them to the commit record. After a failure the checkpoint can only be given up, unless some ranks made another
 * call. */
parapet_status pp_checkpoint_fill(pp_filling *filling, const pp_call *call, parapet_status mine);

/* [collective] The commit itself, within a call that has begun; the handle stays. */
parapet_status pp_checkpoint_conclude(parapet_checkpoint *checkpoint);

#endif
