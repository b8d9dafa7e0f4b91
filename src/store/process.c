/* process.c - which process this is, for people. */
#include <stdio.h>
#include <unistd.h>

#include "store/store.h"

void pp_process_name(char name[PP_PROCESS_BYTES])
{
    char host[PP_PROCESS_BYTES - 32];
    if (gethostname(host, sizeof host) != 0)
        (void)snprintf(host, sizeof host, "?");
    host[sizeof host - 1] = '\0';
    (void)snprintf(name, PP_PROCESS_BYTES, "process %ld on %s", (long)getpid(), host);
}
