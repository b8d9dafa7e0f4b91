/* epochs.h - owners by speed: with sharing `weights`, servers whose storage was fast in earlier calls own more
 * shards than others (plan/speeds.h). Without, all of this does nothing.
 *
 * Reading and writing have weights of their own, since disks may differ in one and not in the other; as long as
 * nobody has read, those of writing are in force for reading too, and the other way round. */
#ifndef PARAPET_ARRAY_EPOCHS_H
#define PARAPET_ARRAY_EPOCHS_H

#include "plan/weights_file.h"
#include "transfer/transfer.h"

/* [local] When the servers of a store are known. Free it even after a failure. */
parapet_status pp_epochs_build(parapet_store *store);
void pp_epochs_free(parapet_store *store);

/* [local] Speeds that are given, and not measured: weights for them are in force from now on. */
parapet_status pp_epochs_give(parapet_store *store, const pp_given_speeds *speeds);

/* What the storage of this rank has done so far. */
typedef struct pp_epochs_mark {
    int64_t bytes;
    double seconds;
} pp_epochs_mark;

pp_epochs_mark pp_epochs_mark_now(parapet_store *store);

/* A transfer has succeeded that began then. */
void pp_epochs_note(parapet_store *store, pp_direction direction, const pp_epochs_mark *began);

/* [local] Whether the speed of this rank has left what its weight stands for: then all have to tell theirs. */
bool pp_epochs_has_left(const parapet_store *store, pp_direction direction);

/* [collective] All tell their speeds. If weights change, the homes of shards do, from now on: those of the arrays
 * of this list are chosen at once. Same status on every rank. */
parapet_status pp_epochs_renew(parapet_store *store, pp_direction direction, const parapet_array_parts *list,
                               int count);

/* [local] Where the homes of an array's shards are in this epoch. Once this has succeeded, it cannot fail until the
 * next epoch. */
parapet_status pp_epochs_place(parapet_array *array, pp_direction direction, pp_transfer_context *context);

/* [local] The turns that servers take in this epoch; NULL: all have the same weight. */
const pp_turns *pp_epochs_turns(const parapet_store *store, pp_direction direction);

#endif
