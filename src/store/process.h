/* process.h - a process as another one can recognize it, perhaps on another node and much later. */
#ifndef PARAPET_STORE_PROCESS_H
#define PARAPET_STORE_PROCESS_H

#include "store/store.h"

#define PP_HOST_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

typedef struct pp_process {
    char host[65];      /* for people; "?" where it is not known */
    char boot[37];      /* of the machine: different after each start; "?": not known, equal to nothing */
    uint64_t spaces[2]; /* namespaces in which its number and times have a meaning; 0: not known */
    int64_t number;
    uint64_t start; /* since the machine was started; a process number is reused, but not with the same start */
} pp_process;

typedef enum pp_process_life {
    PP_PROCESS_LIVES,
    PP_PROCESS_GONE,   /* proved */
    PP_PROCESS_UNKNOWN /* it is on another machine, or out of sight */
} pp_process_life;

void pp_process_self(pp_process *self);
pp_process_life pp_process_judge(const pp_process *other);

#endif
