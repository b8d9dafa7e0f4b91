/* posix_forks.c - descriptors that children of this process do not keep. A lock belongs to the open file, which fork
 * gives to the child as well: the lock would outlive the job. exec closes descriptors by itself. */
#include <pthread.h>
#include <unistd.h>

#include "store/internal.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pp_posix_own_descriptor *first;

static void before_fork(void)
{
    (void)pthread_mutex_lock(&mutex);
}

static void after_fork_in_parent(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

static void after_fork_in_child(void)
{
    pp_posix_own_descriptor *own;
    for (own = first; own != NULL; own = own->next) {
        (void)close(own->number);
        own->number = -1;
    }
    (void)pthread_mutex_unlock(&mutex);
}

static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void pp_posix_own(pp_posix_own_descriptor *own, int descriptor)
{
    (void)pthread_once(&once, watch_forks);
    (void)pthread_mutex_lock(&mutex);
    *own = (pp_posix_own_descriptor){.number = descriptor, .next = first};
    if (first != NULL)
        first->before = own;
    first = own;
    (void)pthread_mutex_unlock(&mutex);
}

void pp_posix_disown(pp_posix_own_descriptor *own)
{
    (void)pthread_mutex_lock(&mutex);
    if (own->before != NULL)
        own->before->next = own->next;
    else if (first == own)
        first = own->next;
    if (own->next != NULL)
        own->next->before = own->before;
    if (own->number >= 0)
        (void)close(own->number);
    *own = (pp_posix_own_descriptor){.number = -1};
    (void)pthread_mutex_unlock(&mutex);
}
