#include "base/pool.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/thread.h"

struct pp_pool_thread {
    pp_pool_thread *next;
    pp_pool *pool;
    pthread_t id;
    pthread_cond_t changed;
    void (*run)(void *context); /* NULL: it has ended */
    void *context;
    bool is_free;
};

struct pp_pool {
    pthread_mutex_t lock;
    pp_pool_thread *first;
    bool is_ending;
    int forks; /* before: a child has none of the threads */
};

/* With the lock held. */
static void wait_for_work(pp_pool_thread *self)
{
    while (self->run == NULL && !self->pool->is_ending)
        (void)pthread_cond_wait(&self->changed, &self->pool->lock);
}

static void *work(void *argument)
{
    pp_pool_thread *self = argument;
    pp_pool *pool = self->pool;
    (void)pthread_mutex_lock(&pool->lock);
    for (wait_for_work(self); self->run != NULL; wait_for_work(self)) {
        (void)pthread_mutex_unlock(&pool->lock);
        self->run(self->context);
        (void)pthread_mutex_lock(&pool->lock);
        self->run = NULL;
        (void)pthread_cond_signal(&self->changed);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

parapet_status pp_pool_build(pp_pool **pool)
{
    parapet_status status = pp_allocate(pool, sizeof **pool);
    if (status != PARAPET_OK)
        return status;
    (*pool)->forks = pp_thread_forks();
    (void)pthread_mutex_init(&(*pool)->lock, NULL);
    return PARAPET_OK;
}

/* What a fork may have left half done is not looked at. */
static void begin_in_child(pp_pool *pool)
{
    pool->forks = pp_thread_forks();
    pool->first = NULL;
    (void)pthread_mutex_init(&pool->lock, NULL);
}

static void free_thread(pp_pool_thread *thread)
{
    (void)pthread_cond_destroy(&thread->changed);
    pp_free(thread);
}

/* With the lock held. */
static parapet_status add_thread(pp_pool *pool, pp_pool_thread **added)
{
    parapet_status status = pp_allocate(added, sizeof **added);
    if (status != PARAPET_OK)
        return status;
    **added = (pp_pool_thread){.next = pool->first, .pool = pool};
    (void)pthread_cond_init(&(*added)->changed, NULL);
    if (!pp_thread_start(&(*added)->id, work, *added)) {
        free_thread(*added);
        *added = NULL;
        return pp_thread_fail();
    }
    pool->first = *added;
    return PARAPET_OK;
}

parapet_status pp_pool_start(pp_pool *pool, pp_pool_thread **thread, void (*run)(void *context), void *context)
{
    parapet_status status = PARAPET_OK;
    pp_pool_thread *found;
    if (pool->forks != pp_thread_forks())
        begin_in_child(pool);
    (void)pthread_mutex_lock(&pool->lock);
    for (found = pool->first; found != NULL && !found->is_free; found = found->next)
        continue;
    if (found != NULL || (status = add_thread(pool, &found)) == PARAPET_OK) {
        found->run = run;
        found->context = context;
        found->is_free = false;
        (void)pthread_cond_signal(&found->changed);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    *thread = found;
    return status;
}

void pp_pool_join(pp_pool_thread *thread)
{
    (void)pthread_mutex_lock(&thread->pool->lock);
    while (thread->run != NULL)
        (void)pthread_cond_wait(&thread->changed, &thread->pool->lock);
    thread->is_free = true;
    (void)pthread_mutex_unlock(&thread->pool->lock);
}

static void dismiss_all(pp_pool *pool)
{
    pp_pool_thread *thread;
    (void)pthread_mutex_lock(&pool->lock);
    pool->is_ending = true;
    for (thread = pool->first; thread != NULL; thread = thread->next)
        (void)pthread_cond_signal(&thread->changed);
    (void)pthread_mutex_unlock(&pool->lock);
    while ((thread = pool->first) != NULL) {
        (void)pthread_join(thread->id, NULL);
        pool->first = thread->next;
        free_thread(thread);
    }
}

void pp_pool_free(pp_pool *pool)
{
    if (pool == NULL)
        return;
    if (pool->forks == pp_thread_forks()) {
        dismiss_all(pool);
        (void)pthread_mutex_destroy(&pool->lock);
    }
    pp_free(pool);
}
