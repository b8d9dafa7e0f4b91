/* commits.h - records and directories of the generations of a checkpoint; on rank 0 alone.
 *
 *     <path>/g00000007/                    a generation: a Zarr group. "g00000007-1" if the name was reserved before
 *     <path>/g00000007/__parapet/claim     published exclusively: whose directory this is
 *     <path>/g00000007/<array>/            sealed
 *     <path>/g00000007/zarr.json           written when all arrays are
 *     <path>/__parapet/commits/00000007    the commit record, published exclusively and last
 *
 * A generation exists if and only if its commit record does. To remove one, the record is removed first, then its
 * zarr.json, then the rest, so that whatever a crash leaves is either a whole generation or none. */
#ifndef PARAPET_CHECKPOINT_COMMITS_H
#define PARAPET_CHECKPOINT_COMMITS_H

#include <parapet_types.h>

#include "zarr/commit_record.h"

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

#endif
