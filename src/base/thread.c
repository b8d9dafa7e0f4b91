#include "base/thread.h"

#include "base/status.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/sysinfo.h>
#include <time.h>

/* A handler of the program may expect a thread of the program; and what ends a thread may lose a signal with it.
 * Those that a thread raises by a fault of its own, and those by which profilers count, are not meant. */
static void fill_foreign_signals(sigset_t *signals)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF};
    size_t i;
    (void)sigfillset(signals);
    for (i = 0; i < sizeof own / sizeof own[0]; i++)
        (void)sigdelset(signals, own[i]);
}

bool pp_thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    sigset_t foreign, before;
    bool is_started;
    fill_foreign_signals(&foreign);
    (void)pthread_sigmask(SIG_BLOCK, &foreign, &before);
    is_started = pthread_create(thread, NULL, run, context) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

void pp_file_limit_hold(pp_file_limit *limit)
{
    sigset_t held;
    (void)sigemptyset(&held);
    (void)sigaddset(&held, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &held, &limit->before);
}

/* What was held back is taken, so that it does not come now. */
void pp_file_limit_release(const pp_file_limit *limit)
{
    const struct timespec at_once = {0};
    sigset_t held;
    if (sigismember(&limit->before, SIGXFSZ) == 1)
        return;
    (void)sigemptyset(&held);
    (void)sigaddset(&held, SIGXFSZ);
    (void)sigtimedwait(&held, NULL, &at_once);
    (void)pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
}

static _Atomic(int) forks;

static void count_fork(void)
{
    forks++;
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, count_fork);
}

int pp_thread_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, watch_forks);
    return forks;
}

/* A set has room for 1,024; on a larger machine all may be used. */
int pp_thread_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : get_nprocs();
}

int pp_thread_machine_processors(void)
{
    return get_nprocs();
}

parapet_status pp_thread_fail(void)
{
    return pp_fail(PARAPET_ERR_MEMORY,
                   "the system refuses to start another thread; use fewer threads, or raise ulimit -u");
}
