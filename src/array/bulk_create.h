/* bulk_create.h - many new arrays in one call: each server makes those that it keeps (pp_store_keeper).
 *
 * Rank 0 holds SHORT of the groups above all of them and prepares these, once; the other servers publish for it
 * (node_lock.h). Each of them has LONG, and SHORT, of one array at a time. Nobody waits for LONG meanwhile: whoever
 * has it may be waiting for the groups.
 *
 * Where something is in the way - another job, an array that is to be replaced, what is left of one - a server goes
 * no further, and rank 0 makes what is left, one array after the other, as it makes a single one: it then waits,
 * removes, or says what is wrong. The groups are held for half a second at a time, or for one array: what is not
 * made by then is made in another round, and in between others get them. */
#ifndef PARAPET_ARRAY_BULK_CREATE_H
#define PARAPET_ARRAY_BULK_CREATE_H

#include <parapet_arrays.h>

#include "array/ancestor_list.h"
#include "array/array.h"

/* [local] Whether servers make the arrays: the same on every rank that has the same paths. Not where arrays of the
 * call are at one path or inside each other: then their order counts. Clear groups even after a failure. */
parapet_status pp_bulk_create_prepare(const pp_arrays *made, pp_ancestor_list *groups, bool *are_many);

/* [collective] Part of a call that has begun: stores the arrays, durably. On every rank the handles have their
 * documents before, and all that is to be known of them afterwards. */
parapet_status pp_bulk_create_create(const pp_arrays *made, const parapet_array_spec *specs,
                                     const pp_ancestor_list *groups);

#endif
