/* self_service.h - whether every rank can read its parts itself, and nobody is slower for it.
 *
 * Pure. Depends on base and geometry. What one rank wants need not be read by another one and sent, if all ranks that
 * want anything are servers, no two claims share an element, and each shard is wanted by one rank, or its claims lie
 * in stretches of chunks as long as an owner would read them. These are whole chunks; where reading is copying, also
 * parts, as long as all ranks together read at most twice what they want. Homes find out, each for its own shards. */
#ifndef PARAPET_PLAN_SELF_SERVICE_H
#define PARAPET_PLAN_SELF_SERVICE_H

#include "plan/owner.h"

/* Whether the claims on the shard of a group of the list are as above, but for two things: whether they share an
 * element, and whether all ranks together read too much: it is if the sum of what is added to *excess is positive. */
bool pp_self_service_fits(const pp_owner_case *owner_case, size_t first, size_t end, int64_t *excess);

#endif
