/* health.h - what this process knows about generations. */
#ifndef PARAPET_CHECKPOINT_HEALTH_H
#define PARAPET_CHECKPOINT_HEALTH_H

#include <parapet_types.h>

typedef enum pp_generation_health {
    PP_GENERATION_UNKNOWN,
    PP_GENERATION_VERIFIES, /* as far as opening it shows, or because this process committed it */
    PP_GENERATION_DAMAGED
} pp_generation_health;

/* What this process knows about a generation. */
pp_generation_health pp_generation_get_health(const parapet_store *store, const char *path, int64_t number);
void pp_generation_set_health(const parapet_store *store, const char *path, int64_t number,
                              pp_generation_health health);

#endif
