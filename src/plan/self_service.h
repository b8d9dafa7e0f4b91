/* self_service.h - whether every rank can read its parts itself, and nobody is slower for it.
 *
 * Pure. Depends on base and geometry. What one rank wants need not be read by another one and sent, if all ranks that
 * want anything are servers, no two claims share an element, and each shard is wanted by one rank, or its claims are
 * whole chunks, which lie in it in stretches as long as an owner would read them. Homes find out, each for its own
 * shards. */
#ifndef PARAPET_PLAN_SELF_SERVICE_H
#define PARAPET_PLAN_SELF_SERVICE_H

#include "plan/owner.h"

/* Whether the claims on the shard of a group of the list are as above; not whether they share an element. */
bool pp_self_service_fits(const pp_owner_case *owner_case, size_t first, size_t end);

#endif
