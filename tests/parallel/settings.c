#include "settings.h"

#include <stdio.h>

parapet_store_options settings_draw(draw *from, int ranks)
{
    parapet_store_options options = {
        .memory_bytes = draw_chance(from, 70) ? (int64_t)1 << draw_between(from, 20, 23) : 0,
        .threads = draw_between(from, 1, 3),
        .io_thread = draw_between(from, 1, 2),
        .durability = draw_between(from, 1, 2),
        .direct_io = draw_chance(from, 10) ? 1 : 0,
        .servers = draw_chance(from, 80) ? draw_between(from, 1, ranks) : 0,
        .ownership = draw_between(from, 1, 2),
        .transport = draw_between(from, 1, 2),
        .ranks_per_node = draw_between(from, 0, 2),
    };
    if (options.io_thread == 2)
        options.threads = 1;
    return options;
}

void settings_print(const parapet_store_options *options, char *text, size_t bytes)
{
    (void)snprintf(text, bytes,
                   "servers %lld ownership %lld transport %lld ranks_per_node %lld memory %lld threads %lld "
                   "io_thread %lld elide_fill %lld",
                   (long long)options->servers, (long long)options->ownership, (long long)options->transport,
                   (long long)options->ranks_per_node, (long long)options->memory_bytes, (long long)options->threads,
                   (long long)options->io_thread, (long long)options->elide_fill);
}
