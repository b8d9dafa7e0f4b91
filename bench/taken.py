"""How much of the machine others took while a bench ran, and how to run before them."""
import os
import resource
import statistics
import sys
import time

MOST_TAKEN = 0.05 # of the cores, by others: two-phase peers lose far more by it than Parapet and the limits do


def user_seconds():
    """CPU time outside the kernel since the start: of the whole machine, and of the programs run from here."""
    with open("/proc/stat") as stat:
        user, nice = stat.readline().split()[1:3]
    own = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime + resource.getrusage(resource.RUSAGE_SELF).ru_utime
    return (int(user) + int(nice)) / os.sysconf("SC_CLK_TCK"), own


class Watch:
    """From where it is made: the programs that it is asked about have to be waited for."""

    def __init__(self):
        self.started, self.before = time.perf_counter(), user_seconds()

    def taken(self):
        """The share of the cores that others have had since."""
        seconds, after = time.perf_counter() - self.started, user_seconds()
        others = after[0] - self.before[0] - (after[1] - self.before[1])
        return max(0.0, others) / seconds / os.cpu_count()


def go_before_others():
    """What is started from here on inherits it. The system keeps a twentieth of each second for everybody else."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        sys.exit("bench: --steady needs the right to schedule in real time, which root has")


def goes_before_others():
    return os.sched_getscheduler(0) == os.SCHED_RR


def is_quiet(taken):
    """Whether others took little in most runs, or only what programs left that went before them."""
    return goes_before_others() or statistics.median(taken) <= MOST_TAKEN


def tell_taken(taken, of_what="median over the runs"):
    """What others took of the machine in the runs."""
    return (f"others had {100 * statistics.median(taken):.0f} % of the cores ({of_what})"
            + (", what --steady left them" if goes_before_others() else "")
            + ("" if is_quiet(taken) else "; NOT A QUIET MACHINE"))
