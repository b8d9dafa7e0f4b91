/* Loaded into parapet-places: tries what it may not do, when the program begins and again when it opens the file, and
 * prints each name with the number of the error, 0 for none. Then the program ends. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TARGET "forbidden.made"

static long try_open(void)
{
    return open("/etc/passwd", O_RDONLY | O_CLOEXEC);
}

static long try_create(void)
{
    return open(TARGET, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

static long try_remove(void)
{
    return unlink(TARGET);
}

static long try_socket(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static long try_fork(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child < 0 ? -1 : waitpid(child, NULL, 0);
}

static long try_execute(void)
{
    static char name[] = "true";
    char *const words[] = {name, NULL};
    pid_t child = vfork();
    if (child == 0) {
        (void)execve("/bin/true", words, NULL);
        _exit(1);
    }
    return child < 0 ? -1 : waitpid(child, NULL, 0);
}

static long try_signal(void)
{
    return kill(getppid(), 0);
}

static void try_all(const char *when)
{
    static const struct {
        const char *name;
        long (*call)(void);
    } calls[] = {{"open", try_open}, {"create", try_create},   {"remove", try_remove}, {"socket", try_socket},
                 {"fork", try_fork}, {"execute", try_execute}, {"signal", try_signal}};
    size_t i;
    for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        errno = 0;
        (void)dprintf(STDOUT_FILENO, "%s %s %d\n", when, calls[i].name, calls[i].call() < 0 ? errno : 0);
    }
}

__attribute__((constructor)) static void try_before(void)
{
    try_all("before");
}

/* In front of that of HDF5, which the program calls when all is forbidden. */
int64_t H5Fopen(const char *name, unsigned flags, int64_t access) __attribute__((visibility("default")));
int64_t H5Fopen(const char *name, unsigned flags, int64_t access)
{
    (void)name;
    (void)flags;
    (void)access;
    try_all("after");
    _exit(0);
}
