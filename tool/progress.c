#include "progress.h"
#include "base/clock.h"
#include "display.h"
#include "interrupt.h"
#include "memory.h"
#include "quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A bar moves smoothly. A log, and what a launcher passes on, gets a line for every tenth of the work, but neither
 * many at once nor none for long. */
static const double terminal_seconds = 0.1, log_seconds = 30, log_seconds_least = 5;

/* Before this, nobody can tell how long the rest will take. */
static const double known_seconds = 3, known_part = 0.01;

enum { WIDTH_DEFAULT = 80, BAR_LEAST = 10, BAR_MOST = 50 };

void progress_init(tool_progress *progress, const char *verb, bool is_shown)
{
    *progress = (tool_progress){.verb = verb, .is_shown = is_shown, .is_terminal = isatty(STDERR_FILENO) != 0};
    progress->start_seconds = progress->shown_seconds = pp_clock_seconds();
}

static int terminal_width(void)
{
    struct winsize size;
    bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_known ? size.ws_col : WIDTH_DEFAULT;
}

static int percent_of(int64_t done, int64_t total)
{
    return total > 0 ? (int)(100.0 * (double)done / (double)total) : 100;
}

/* ", 512.3 MB/s, 0:01:23 left", or nothing as long as that is not known. */
static char *describe_rate(double passed, int64_t done, int64_t left_bytes)
{
    char *speed, *left, *text;
    double rate = passed > 0 ? (double)done / passed : 0;
    if (passed < known_seconds || (double)done < known_part * (double)(done + left_bytes))
        return text_format("%s", "");
    speed = text_of_rate(rate);
    left = text_of_clock((double)left_bytes / rate);
    text = text_format(", %s, %s left", speed, left);
    free(speed);
    free(left);
    return text;
}

/* "45 %, 1.2 GiB of 2.7 GiB, 512.3 MB/s, 0:01:23 left" */
static char *describe(const tool_progress *progress, double now, int64_t done, int64_t total)
{
    char *done_size = text_of_size(done), *total_size = text_of_size(total);
    char *rate = describe_rate(now - progress->start_seconds, done - progress->first_bytes, total - done);
    char *text = text_format("%d %%, %s of %s%s", percent_of(done, total), done_size, total_size, rate);
    free(done_size);
    free(total_size);
    free(rate);
    return text;
}

static void draw(const char *text, int64_t done, int64_t total)
{
    char bar[BAR_MOST + 1];
    int room = terminal_width() - (int)strlen(text) - 4;
    int length = room > BAR_MOST ? BAR_MOST : room;
    int filled = total > 0 ? (int)((double)length * (double)done / (double)total) : length;
    if (length < BAR_LEAST) {
        (void)fprintf(stderr, "\r\033[K%.*s", terminal_width() - 1, text);
        return;
    }
    for (int i = 0; i < length; i++)
        bar[i] = i < filled ? '=' : ' ';
    bar[length] = '\0';
    (void)fprintf(stderr, "\r\033[K[%s] %s", bar, text);
}

static void show(tool_progress *progress, double now, int64_t done, int64_t total)
{
    char *text = describe(progress, now, done, total);
    if (progress->is_terminal) {
        (void)fflush(stdout);
        draw(text, done, total);
        progress->is_drawn = true;
    } else {
        (void)fprintf(stderr, "parapet: %s: %s\n", progress->verb, text);
    }
    (void)fflush(stderr);
    progress->shown_seconds = now;
    progress->shown_tenth = percent_of(done, total) / 10;
    free(text);
}

static bool is_due(const tool_progress *progress, double now, int64_t done, int64_t total)
{
    double passed = now - progress->shown_seconds;
    if (progress->is_terminal)
        return passed >= terminal_seconds;
    return passed >= log_seconds ||
           (passed >= log_seconds_least && percent_of(done, total) / 10 > progress->shown_tenth);
}

int progress_report(void *context, int64_t done_bytes, int64_t total_bytes)
{
    tool_progress *progress = context;
    double now = pp_clock_seconds();
    if (!progress->is_begun) {
        progress->is_begun = true;
        progress->first_bytes = done_bytes;
        progress->start_seconds = now;
    }
    if (progress->is_shown && is_due(progress, now, done_bytes, total_bytes))
        show(progress, now, done_bytes, total_bytes);
    return interrupt_signal() != 0;
}

void progress_end(tool_progress *progress)
{
    if (progress->is_drawn)
        (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    progress->is_drawn = false;
}
