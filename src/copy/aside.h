/* aside.h - work on a thread of its own, while the calling thread looks after something else. */
#ifndef PARAPET_COPY_ASIDE_H
#define PARAPET_COPY_ASIDE_H

#include <parapet.h>

typedef struct pp_aside {
    void *context;
    parapet_status (*work)(void *context); /* once, on its own thread */
    void (*look)(void *context);           /* on the calling thread, every millisecond until the work is done */
} pp_aside;

/* Returns what the work returns, with its sentence. */
parapet_status pp_aside_run(const pp_aside *aside);

#endif
