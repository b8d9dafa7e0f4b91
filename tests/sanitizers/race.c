/* Two threads count in one place, and neither waits for the other. */
#include <pthread.h>
#include <stddef.h>

enum { TURNS = 100000 };

static volatile long count;

static void *count_up(void *unused)
{
    int i;
    (void)unused;
    for (i = 0; i < TURNS; i++)
        count++;
    return NULL;
}

int main(void)
{
    pthread_t other;
    if (pthread_create(&other, NULL, count_up, NULL) != 0)
        return 1;
    (void)count_up(NULL);
    return pthread_join(other, NULL);
}
