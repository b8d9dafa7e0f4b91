#include "memory_limit.h"
#include "arguments.h"
#include "memory.h"
#include "ranks.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 32 << 20 };

static const int64_t limit_least = (int64_t)64 << 20, limit_most = (int64_t)4 << 30;

/* The first number in a file; -1: there is no such file, or "max". */
static int64_t read_number(const char *directory, const char *name)
{
    char *path = text_format("%s/%s", directory, name);
    FILE *file = fopen(path, "r");
    int64_t number = -1;
    if (file != NULL && fscanf(file, "%" SCNd64, &number) != 1)
        number = -1;
    if (file != NULL)
        (void)fclose(file);
    free(path);
    return number;
}

static int64_t available_bytes(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[256];
    int64_t kibibytes = -1;
    while (file != NULL && kibibytes < 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %" SCNd64, &kibibytes) != 1)
            kibibytes = -1;
    if (file != NULL)
        (void)fclose(file);
    return kibibytes < 0 ? -1 : kibibytes * 1024;
}

/* Where a hierarchy of control groups is mounted, and which of its groups is at the mount point. */
typedef struct control_mount {
    char root[2048], point[2048];
    bool is_found;
} control_mount;

/* is_unified: version 2, one hierarchy for everything; else the one of version 1 that limits memory. */
static void find_mount(control_mount *mount, bool is_unified)
{
    FILE *file = fopen("/proc/self/mountinfo", "r");
    char line[8192];
    mount->is_found = false;
    while (file != NULL && !mount->is_found && fgets(line, sizeof line, file) != NULL) {
        const char *kind = strstr(line, " - ");
        bool is_kind =
            kind != NULL && strncmp(kind, is_unified ? " - cgroup2 " : " - cgroup ", is_unified ? 11 : 10) == 0;
        if (is_kind && (is_unified || strstr(kind, "memory") != NULL))
            mount->is_found = sscanf(line, "%*s %*s %*s %2047s %2047s", mount->root, mount->point) == 2;
    }
    if (file != NULL)
        (void)fclose(file);
}

/* The least limit of a group and of those around it, as far as they are visible; -1: none. */
static int64_t least_limit(const control_mount *mount, const char *group, const char *name)
{
    size_t root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    const char *below = strncmp(group, mount->root, root) == 0 ? group + root : "";
    char *path = text_format("%s%s", mount->point, strcmp(below, "/") == 0 ? "" : below);
    int64_t least = -1;
    for (;;) {
        int64_t limit = read_number(path, name);
        char *slash = strrchr(path, '/');
        if (limit >= 0 && (least < 0 || limit < least))
            least = limit;
        if (strlen(path) <= strlen(mount->point) || slash == NULL)
            break;
        *slash = '\0';
    }
    free(path);
    return least;
}

static int64_t control_group_limit(void)
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[4096];
    int64_t least = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        bool is_unified = strncmp(line, "0::", 3) == 0;
        char *group = is_unified ? line + 2 : strstr(line, ":memory:");
        control_mount mount;
        int64_t limit;
        if (group == NULL)
            continue;
        group += is_unified ? 1 : strlen(":memory:");
        group[strcspn(group, "\n")] = '\0';
        find_mount(&mount, is_unified);
        limit = mount.is_found ? least_limit(&mount, group, is_unified ? "memory.max" : "memory.limit_in_bytes") : -1;
        if (limit >= 0 && (least < 0 || limit < least))
            least = limit;
    }
    if (file != NULL)
        (void)fclose(file);
    return least;
}

/* Down to a power of two: what a machine has free changes all the time, and a copy that is resumed should find the
 * limit that it had. */
static int64_t round_down(int64_t bytes)
{
    int64_t power = limit_least;
    while (power < limit_most && power * 2 <= bytes)
        power *= 2;
    return power;
}

static void choose(const tool_request *request, parapet_store_options *options, char **origin)
{
    int64_t free_bytes = available_bytes(), group_bytes = control_group_limit();
    bool is_group = group_bytes >= 0 && (free_bytes < 0 || group_bytes < free_bytes);
    int64_t bytes = is_group ? group_bytes : free_bytes;
    int count = ranks_on_node(request);
    options->memory_bytes = ranks_least(request, round_down(bytes / 4 / count));
    *origin = text_format("a quarter of what %s", is_group ? "this job may use" : "is free");
}

bool memory_limit_choose(const tool_request *request, parapet_store_options *options, char **origin)
{
    const char *alias = request_value(request, "memory-target"), *variable = getenv("PARAPET_MEMORY_BYTES");
    const char *text = alias != NULL ? alias : options->memory_bytes == 0 ? variable : NULL;
    if (text != NULL && parapet_store_options_set(options, "memory_bytes", text) != PARAPET_OK) {
        report_failure(alias != NULL ? "--memory-target" : "PARAPET_MEMORY_BYTES");
        return false;
    }
    if (options->memory_bytes == 0)
        choose(request, options, origin);
    else
        *origin = text_format("%s", alias != NULL  ? "--memory-target"
                                    : text != NULL ? "PARAPET_MEMORY_BYTES"
                                                   : "--max-mem");
    return true;
}

bool memory_share(tool_request *request, int stores, size_t *buffer_bytes)
{
    int64_t limit = request->options.memory_bytes;
    char *part;
    bool is_enough;
    *buffer_bytes = limit > 0 ? (size_t)limit / 8 : BUFFER_BYTES;
    if (limit == 0)
        return true;
    part = text_format("%" PRId64, limit / stores - (int64_t)*buffer_bytes);
    is_enough = parapet_store_options_set(&request->options, "memory_bytes", part) == PARAPET_OK;
    if (!is_enough)
        report_error("--max-mem", "%s gets %s of it: %s", stores > 1 ? "each of the two stores" : "the store",
                     stores > 1 ? "3/8" : "7/8", parapet_error_message());
    free(part);
    return is_enough;
}
