/* What the process may use: HDF5 has no bounds of its own. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "places.h"

#define MOST_MEMORY_BYTES ((rlim_t)2 << 30)
#define MOST_SECONDS 300
#define MOST_IDLE_SECONDS 3 /* of the processor, in which nothing is read, found or printed */

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1 /* which takes terabytes of addresses, and calls that are not listed below */
#else
#define IS_SANITIZED 0
#endif

static void limit(int what, rlim_t most)
{
    const struct rlimit both = {most, most};
    (void)setrlimit(what, &both);
}

static void close_inherited(void)
{
    int descriptor, most = (int)sysconf(_SC_OPEN_MAX);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
        return;
#endif
    for (descriptor = 3; descriptor < most; descriptor++)
        (void)close(descriptor);
}

static volatile sig_atomic_t has_gone_on;

void limits_note_step(void)
{
    has_gone_on = 1;
}

/* Of a file that was damaged, or made to do so, HDF5 may follow a circle for ever. */
static void look_whether_it_goes_on(int number)
{
    static const char sentence[] = "\nerror HDF5 does not get any further in it: the file is damaged\n";
    static int idle_seconds;
    (void)number;
    idle_seconds = has_gone_on ? 0 : idle_seconds + 1;
    has_gone_on = 0;
    if (idle_seconds >= MOST_IDLE_SECONDS)
        _exit(write(STDOUT_FILENO, sentence, strlen(sentence)) > 0 ? 1 : 2);
}

static void watch_progress(void)
{
    struct sigaction action = {.sa_handler = look_whether_it_goes_on, .sa_flags = SA_RESTART};
    const struct itimerval each_second = {{.tv_sec = 1}, {.tv_sec = 1}};
    if (sigemptyset(&action.sa_mask) == 0 && sigaction(SIGPROF, &action, NULL) == 0)
        (void)setitimer(ITIMER_PROF, &each_second, NULL);
}

void limits_set(void)
{
    close_inherited();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, MOST_SECONDS);
    watch_progress();
    if (!IS_SANITIZED)
        limit(RLIMIT_AS, MOST_MEMORY_BYTES);
}

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCHITECTURE
#define ALLOW(call)                                                                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* A call that is not listed fails, and HDF5 then says that something failed. */
static struct sock_filter rules[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(read),
    ALLOW(pread64),
    ALLOW(write),
    ALLOW(lseek),
    ALLOW(fstat),
    ALLOW(newfstatat),
    ALLOW(close),
    ALLOW(brk),
    ALLOW(mmap),
    ALLOW(munmap),
    ALLOW(mremap),
    ALLOW(madvise),
    ALLOW(mprotect),
    ALLOW(futex),
    ALLOW(getpid),
    ALLOW(gettid),
    ALLOW(clock_gettime),
    ALLOW(gettimeofday),
    ALLOW(getrandom),
    ALLOW(rt_sigaction),
    ALLOW(rt_sigprocmask),
    ALLOW(rt_sigreturn),
    ALLOW(tgkill),
    ALLOW(exit),
    ALLOW(exit_group),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA)),
};
#endif

void limits_close(void)
{
#ifdef OWN_ARCHITECTURE
    struct sock_fprog program = {.len = sizeof rules / sizeof rules[0], .filter = rules};
    if (!IS_SANITIZED && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}
