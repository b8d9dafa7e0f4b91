/* launcher.h - what started this process, from the variables that the launchers of MPI set for the processes they
 * start. Those of queues (SLURM_NTASKS) do not count: a batch script has them, too. Variables are inherited: a
 * process that a rank has started has those of the rank, and is told apart by who its ancestors are. */
#ifndef PARAPET_COMM_LAUNCHER_H
#define PARAPET_COMM_LAUNCHER_H

#include "comm/comm.h"

typedef struct pp_launch {
    const char *flavour;  /* whose launcher, "mpich" or "openmpi"; "": one that works for either, or none */
    const char *variable; /* that says so; "": none */
    int rank;             /* -1: there is no launcher */
    int count;            /* the processes that it has started, or at least so many; 0: it does not say */
    bool is_inherited;    /* the variables are those of a rank that has started this process */
} pp_launch;

/* [local] Of launchers inside each other the innermost; but that of the flavour before any other. */
pp_launch pp_launch_find(const char *flavour);

/* [local] PARAPET_ERR_MPI if a launcher has started several processes, but MPI finds only this one: with the launcher
 * of another MPI every process takes itself for rank 0 of 1. A process alone (MPI_COMM_NULL), a child of a rank and
 * one that MPI has spawned are as they should be. */
parapet_status pp_comm_check_launcher(const pp_comm *comm);

#endif
