#include "interrupt.h"
#include "base/clock.h"
#include "place.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* What is under way has this long to come to an orderly end. A copy that is cut off later can be resumed as well. */
enum { ORDERLY_MICROSECONDS = 1500000 };

static volatile sig_atomic_t received;
static volatile int64_t received_at_ns;
static char last_words[TOOL_PLACE_BYTES];
static const char *last_document = "";

static void end_now(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    (void)sigaction(number, &action, NULL);
    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, number);
    (void)sigprocmask(SIG_UNBLOCK, &action.sa_mask, NULL);
    (void)raise(number);
}

/* Handlers may call this. */
static void say(int descriptor, const char *text)
{
    ssize_t ignored = write(descriptor, text, strlen(text));
    (void)ignored;
}

/* The orderly end did not come in time. */
static void give_up(int number)
{
    (void)number;
    if (received == 0)
        return;
    say(STDERR_FILENO, last_words);
    say(STDOUT_FILENO, last_document);
    end_now((int)received);
}

/* A launcher may send the same signal that the terminal sends: only one that comes later means "now, at once". */
static void receive(int number)
{
    const struct itimerval patience = {
        .it_value = {.tv_sec = ORDERLY_MICROSECONDS / 1000000, .tv_usec = ORDERLY_MICROSECONDS % 1000000}};
    int64_t now_ns = pp_clock_now_ns();
    if (received != 0 && now_ns - received_at_ns > PP_SECOND_NS) {
        end_now(number);
        return;
    }
    if (received != 0)
        return;
    received_at_ns = now_ns;
    received = number;
    (void)setitimer(ITIMER_REAL, &patience, NULL);
}

static void set_handler(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
    /* Whoever started the tool may have blocked it. */
    (void)sigaddset(&action.sa_mask, number);
    (void)sigprocmask(SIG_UNBLOCK, &action.sa_mask, NULL);
}

void interrupt_watch(const tool_request *request, const char *words)
{
    if (request->rank == 0) {
        (void)snprintf(last_words, sizeof last_words, "%s", words);
        last_document = request->flags & TOOL_JSON ? "{\n  \"result\": \"interrupted\"\n}\n" : "";
    }
    set_handler(SIGALRM, give_up);
    set_handler(SIGINT, receive);
    set_handler(SIGTERM, receive);
}

int interrupt_signal(void)
{
    return (int)received;
}

/* From here on the caller says how it has ended: a signal that is still under way must not say it again. */
void interrupt_end_orderly(void)
{
    set_handler(SIGALRM, SIG_IGN);
    (void)setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}
