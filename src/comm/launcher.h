/* launcher.h - what started this process, from the variables that the launchers of MPI set for the processes they
 * start. Those of queues (SLURM_NTASKS) do not count, because a batch script has them, too. Variables are inherited:
 * a process that a rank started has those of the rank, and is recognised by its ancestors. */
#ifndef PARAPET_COMM_LAUNCHER_H
#define PARAPET_COMM_LAUNCHER_H

#include "comm/comm.h"

typedef struct pp_launch {
    const char *flavour;  /* whose launcher: "mpich" or "openmpi"; "": one that serves either, or none */
    const char *variable; /* that says so; "": none */
    int rank;             /* -1: there is no launcher */
    int count;            /* at least this many processes were started; 0: it does not say */
    bool is_inherited;    /* a rank started this process, which inherited its variables */
} pp_launch;

/* [local] If launchers are nested, finds the innermost, but prefers that of the flavour. */
pp_launch pp_launch_find(const char *flavour);

/* [local] PARAPET_ERR_MPI if a launcher has started several processes, but MPI finds only this one: with the launcher
 * of another MPI, every process believes that it is rank 0 of 1. A process alone (MPI_COMM_NULL), a child of a rank
 * and a process that MPI spawned are accepted. */
parapet_status pp_comm_check_launcher(const pp_comm *comm);

#endif
