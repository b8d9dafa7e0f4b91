#include "settings.h"

#include <stdio.h>
#include <stdlib.h>

/* How many ranks a node has is no option of the library, but a variable for tests. */
static void draw_nodes(draw *from)
{
    static const char *const counts[] = {"0", "1", "2"};
    (void)setenv("PARAPET_RANKS_PER_NODE", counts[draw_between(from, 0, 2)], 1);
}

/* Every way to choose owners and to share. */
static void draw_owners(draw *from, parapet_store_options *options)
{
    switch (draw_between(from, 1, 5)) {
    case 1:
        options->owners = PARAPET_OWNERS_IN_TURN;
        break;
    case 2:
        options->owners = PARAPET_OWNERS_NEAREST;
        break;
    case 3:
        options->sharing = PARAPET_SHARING_STEALING;
        break;
    case 4:
        options->sharing = PARAPET_SHARING_WEIGHTS;
        break;
    default:
        options->keep_descriptions = 1;
    }
}

parapet_store_options settings_draw(draw *from, int ranks)
{
    parapet_store_options options = {
        .memory_bytes = draw_chance(from, 70) ? (int64_t)1 << draw_between(from, 20, 23) : 0,
        .threads = draw_between(from, 1, 3),
        .io_thread = (parapet_io_thread)draw_between(from, 1, 2),
        .durability = (parapet_durability)draw_between(from, 1, 2),
        .direct_io = draw_chance(from, 10) ? PARAPET_DIRECT_IO_ALWAYS : PARAPET_DIRECT_IO_CHOOSE,
        .servers = draw_chance(from, 80) ? draw_between(from, 1, ranks) : 0,
        .transport = (parapet_transport)draw_between(from, 1, 2),
    };
    draw_owners(from, &options);
    draw_nodes(from);
    if (options.keep_descriptions)
        options.cache_bytes = (int64_t)1 << draw_between(from, 12, 20);
    if (options.cache_bytes > 0 && options.memory_bytes - options.cache_bytes >= 1 << 20)
        options.write_back = draw_chance(from, 50);
    if (options.io_thread == PARAPET_IO_THREAD_NONE)
        options.threads = 1;
    return options;
}

void settings_print(const parapet_store_options *options, char *text, size_t bytes)
{
    (void)snprintf(text, bytes,
                   "servers %lld owners %d sharing %d keep_descriptions %d transport %d PARAPET_RANKS_PER_NODE %s "
                   "memory %lld threads %lld io_thread %d "
                   "elide_fill %d cache %lld write_back %d",
                   (long long)options->servers, (int)options->owners, (int)options->sharing,
                   options->keep_descriptions, (int)options->transport, getenv("PARAPET_RANKS_PER_NODE"),
                   (long long)options->memory_bytes, (long long)options->threads, (int)options->io_thread,
                   options->elide_fill, (long long)options->cache_bytes, options->write_back);
}
