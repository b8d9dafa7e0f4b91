#include "strategy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const strategy table[] = {
    {.name = "in_turn", .owners = PARAPET_OWNERS_IN_TURN},
    {.name = "nearest", .owners = PARAPET_OWNERS_NEAREST},
    {.name = "stealing", .sharing = PARAPET_SHARING_STEALING},
    {.name = "taking", .sharing = PARAPET_SHARING_STEALING, .is_uneven = true},
    {.name = "weights", .sharing = PARAPET_SHARING_WEIGHTS},
    {.name = "given", .sharing = PARAPET_SHARING_WEIGHTS, .has_weights = true},
    {.name = "descriptions", .keeps_descriptions = true},
    {.name = "cache", .has_cache = true},
};
enum { COUNT = sizeof table / sizeof table[0] };

#define CACHE_BYTES_LEAST (INT64_C(1) << 20)
/* How long a slow rank rests whenever it has done something. */
#define REST_NS 1000000
#define REST_NS_PER_BYTE 20

/* ---- The list ---- */

int strategy_number(const strategy *of)
{
    return (int)(of - table);
}

int strategy_count(void)
{
    return COUNT;
}

const strategy *strategy_of(int number)
{
    return &table[number % COUNT];
}

static const char *wished(void)
{
    const char *wish = getenv("PARAPET_TEST_STRATEGY");
    return wish != NULL && wish[0] != '\0' ? wish : "0/1";
}

bool strategy_is_alone(void)
{
    return strchr(wished(), '/') == NULL;
}

static bool is_wished(int number)
{
    const char *wish = wished(), *step = strchr(wish, '/');
    if (step == NULL)
        return strcmp(wish, table[number].name) == 0;
    return number % atoi(step + 1) == atoi(wish);
}

/* A name that nobody has must not let a suite pass with nothing tried. */
static void refuse_wish(void)
{
    fprintf(stderr, "PARAPET_TEST_STRATEGY=%s: no strategy\n", wished());
    abort();
}

const strategy *strategy_next(const strategy *before)
{
    int number = before != NULL ? strategy_number(before) + 1 : 0;
    while (number < COUNT && !is_wished(number))
        number++;
    if (number == COUNT && before == NULL)
        refuse_wish();
    return number < COUNT ? &table[number] : NULL;
}

/* ---- The options of a store ---- */

/* Far from the truth, whatever that is: they change as soon as something is measured. */
static void write_weights(const char *path, int ranks)
{
    FILE *file = fopen(path, "w");
    int i;
    if (file == NULL)
        abort();
    (void)fprintf(file, "parapet weights 1\nservers %d\n", ranks);
    for (i = 0; i < ranks; i++)
        (void)fprintf(file, "server %d writing %d reading %d\n", i, 1000 << (i % 4), 8000 >> (i % 4));
    if (fputs("end\n", file) < 0 || fclose(file) != 0)
        abort();
}

static int64_t choose_cache(const parapet_store_options *options)
{
    int64_t half = options->memory_bytes / 2;
    return half > CACHE_BYTES_LEAST ? half : CACHE_BYTES_LEAST;
}

void strategy_set(const strategy *with, parapet_store_options *options, strategy_pace *pace, const char *weights_path,
                  int rank, int ranks)
{
    *pace = (strategy_pace){.is_slow = with->is_uneven && rank == 0};
    options->owners = with->owners;
    options->sharing = with->sharing;
    options->keep_descriptions = with->keeps_descriptions;
    options->weights = with->has_weights ? weights_path : NULL;
    options->cache_bytes = with->has_cache ? choose_cache(options) : 0;
    if (with->is_uneven) { /* while its only thread rests, nothing of the rank goes on */
        options->io_thread = PARAPET_IO_THREAD_NONE;
        options->threads = 1;
    }
    options->progress = strategy_progress;
    options->progress_context = pace;
    if (with->has_weights && rank == 0 && access(weights_path, F_OK) != 0)
        write_weights(weights_path, ranks);
}

int strategy_progress(void *context, int64_t done_bytes, int64_t total_bytes)
{
    strategy_pace *pace = context;
    int64_t bytes = done_bytes - (done_bytes < pace->done_bytes ? 0 : pace->done_bytes), rest_ns;
    struct timespec rest;
    (void)total_bytes;
    pace->done_bytes = done_bytes;
    if (!pace->is_slow)
        return 0;
    rest_ns = REST_NS + REST_NS_PER_BYTE * bytes;
    rest = (struct timespec){.tv_sec = (time_t)(rest_ns / 1000000000), .tv_nsec = (long)(rest_ns % 1000000000)};
    (void)nanosleep(&rest, NULL);
    return 0;
}

int64_t strategy_taken(parapet_store *store)
{
    parapet_statistics statistics;
    if (parapet_store_get_statistics(store, &statistics) != PARAPET_OK)
        abort();
    return statistics.shards_taken;
}
