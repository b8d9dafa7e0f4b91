#include "tool.h"

#include <signal.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t received;
static volatile time_t received_at;

/* A launcher may send the same signal that the terminal sends: only one that comes later means "now, at once". */
static void receive(int number)
{
    time_t now = time(NULL);
    if (received != 0 && now - received_at > 1) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
        return;
    }
    if (received == 0)
        received_at = now;
    received = number;
}

void interrupt_watch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = receive;
    action.sa_flags = SA_RESTART;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    /* Whoever started the tool may have blocked them. */
    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, SIGINT);
    (void)sigaddset(&action.sa_mask, SIGTERM);
    (void)sigprocmask(SIG_UNBLOCK, &action.sa_mask, NULL);
}

int interrupt_signal(void)
{
    return (int)received;
}
