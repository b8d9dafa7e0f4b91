#include "plan/weights_file.h"

#include <string.h>

#include "base/checked.h"
#include "base/status.h"

#define HEAD "parapet weights 1\nservers "
#define SERVERS_MOST (1 << 20)
/* A line of a server is not shorter: memory is got only for servers that there is text for. */
#define LINE_BYTES_LEAST ((int64_t)sizeof "server 0 writing 1 reading 1")

/* What is not read yet. */
typedef struct rest {
    const char *next, *end;
} rest;

static bool take(rest *text, const char *expected)
{
    size_t bytes = strlen(expected);
    if ((size_t)(text->end - text->next) < bytes || memcmp(text->next, expected, bytes) != 0)
        return false;
    text->next += bytes;
    return true;
}

static bool is_digit(const rest *text)
{
    return text->next < text->end && *text->next >= '0' && *text->next <= '9';
}

/* Digits, of which the first is not 0, up to that number. */
static bool take_number(rest *text, int64_t most, int64_t *number)
{
    *number = 0;
    if (!is_digit(text) || *text->next == '0')
        return false;
    for (; is_digit(text) && *number <= most; text->next++)
        *number = *number * 10 + (*text->next - '0');
    return *number <= most;
}

/* 0 is a number here. */
static bool take_index(rest *text, int64_t expected)
{
    int64_t found = 0;
    if (expected == 0)
        return take(text, "0");
    return take_number(text, SERVERS_MOST, &found) && found == expected;
}

parapet_status pp_given_speeds_init(pp_given_speeds *speeds, size_t server_count)
{
    parapet_status status;
    *speeds = (pp_given_speeds){.server_count = (int)server_count};
    if ((status = pp_allocate_array(&speeds->writing, server_count, sizeof speeds->writing[0])) != PARAPET_OK)
        return status;
    return pp_allocate_array(&speeds->reading, server_count, sizeof speeds->reading[0]);
}

static parapet_status take_head(rest *text, int64_t *servers)
{
    if (!take(text, HEAD) || !take_number(text, SERVERS_MOST, servers) || !take(text, "\n"))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "it does not begin with a line \"parapet weights 1\" and a line \"servers N\", of 1 to %d "
                       "servers: parapet bench disks --output writes such a file",
                       SERVERS_MOST);
    if (*servers > (text->end - text->next) / LINE_BYTES_LEAST)
        return pp_fail(PARAPET_ERR_ARGUMENT, "it is too short for the %lld servers that it announces",
                       (long long)*servers);
    return PARAPET_OK;
}

static parapet_status take_server(rest *text, int server, pp_given_speeds *speeds)
{
    if (take(text, "server ") && take_index(text, server) && take(text, " writing ") &&
        take_number(text, PP_SPEED_MOST, &speeds->writing[server]) && take(text, " reading ") &&
        take_number(text, PP_SPEED_MOST, &speeds->reading[server]) && take(text, "\n"))
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "line %d must be \"server %d writing BYTES reading BYTES\", with whole bytes per second from 1 to "
                   "%lld",
                   server + 3, server, (long long)PP_SPEED_MOST);
}

parapet_status pp_weights_file_parse(pp_given_speeds *speeds, const char *text, size_t bytes)
{
    rest left = {text, text + bytes};
    int64_t servers = 0;
    parapet_status status;
    int i;
    *speeds = (pp_given_speeds){0};
    if ((status = take_head(&left, &servers)) != PARAPET_OK ||
        (status = pp_given_speeds_init(speeds, (size_t)servers)) != PARAPET_OK)
        return status;
    for (i = 0; i < speeds->server_count && status == PARAPET_OK; i++)
        status = take_server(&left, i, speeds);
    if (status == PARAPET_OK && (!take(&left, "end\n") || left.next != left.end))
        return pp_fail(PARAPET_ERR_ARGUMENT, "line %d must be \"end\", and the last one", speeds->server_count + 3);
    return status;
}

parapet_status pp_given_speeds_check(const pp_given_speeds *speeds, int server_count)
{
    if (speeds->server_count == server_count)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "it is for %d servers, but there are %d: measure them with parapet bench disks",
                   speeds->server_count, server_count);
}

void pp_given_speeds_clear(pp_given_speeds *speeds)
{
    pp_free(speeds->writing);
    pp_free(speeds->reading);
    *speeds = (pp_given_speeds){0};
}
