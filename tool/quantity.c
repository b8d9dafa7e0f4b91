#include "quantity.h"
#include "arguments.h"
#include "memory.h"
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool value_refuse(const char *name, const char *text, const char *expected)
{
    char *what = text_format("--%s", name);
    report_error(what, "\"%s\" is not %s", text, expected);
    free(what);
    return false;
}

bool number_parse(const char *text, const char **end, int64_t *number)
{
    char *stop;
    errno = 0;
    *number = strtoll(text, &stop, 10);
    *end = stop;
    return stop != text && errno == 0 && *number >= 0;
}

bool integer_parse(const tool_request *request, const char *name, int64_t low, int64_t *number)
{
    const char *text = request_value(request, name), *end;
    if (text == NULL)
        return true;
    if (number_parse(text, &end, number) && *end == '\0' && *number >= low)
        return true;
    return value_refuse(name, text, low == 0 ? "a number of 0 or more" : "a number of 1 or more");
}

int list_parse(const tool_request *request, const char *name, int64_t *numbers)
{
    const char *text = request_value(request, name), *at = text;
    int count = 0;
    if (text[0] == '\0')
        return 0;
    for (;; at++) {
        if (count == PARAPET_MAX_NDIM || !number_parse(at, &at, &numbers[count]) || (*at != ',' && *at != '\0')) {
            (void)value_refuse(name, text, "a list of up to 32 numbers separated by commas");
            return -1;
        }
        count++;
        if (*at == '\0')
            return count;
    }
}

bool extents_parse(const tool_request *request, const char *name, int ndim, int64_t *numbers)
{
    int count = list_parse(request, name, numbers);
    char *what;
    if (count < 0 || count == ndim)
        return count >= 0;
    what = text_format("--%s", name);
    report_error(what, "it has %d numbers, but the shape has %d", count, ndim);
    free(what);
    return false;
}

/* What a unit stands for; 0: it is none. */
static double unit_factor(const char *unit)
{
    static const char letters[] = "KMGT";
    size_t length = strlen(unit);
    const char *letter;
    double thousand = 1000;
    if (length >= 2 && strcmp(unit + length - 2, "/s") == 0)
        length -= 2;
    if (length > 0 && unit[length - 1] == 'B')
        length--;
    if (length == 0)
        return 1;
    if (length == 2 && unit[1] == 'i') {
        thousand = 1024;
        length--;
    }
    letter = strchr(letters, unit[0]);
    return length == 1 && letter != NULL ? pow(thousand, (double)(letter - letters + 1)) : 0;
}

bool size_parse(const tool_request *request, const char *name, double *bytes)
{
    const char *text = request_value(request, name);
    char *unit;
    double number, factor;
    if (text == NULL)
        return true;
    number = strtod(text, &unit);
    factor = unit == text ? 0 : unit_factor(unit + strspn(unit, " "));
    *bytes = number * factor;
    if (factor > 0 && isfinite(*bytes) && *bytes >= 1 && *bytes < 1e18)
        return true;
    return value_refuse(name, text, "a number of bytes, optionally followed by K, M, G, T or KiB, MiB, GiB, TiB");
}

char *text_of_rate(double bytes_per_second)
{
    double rate = bytes_per_second / 1e6;
    return rate < 1000 ? text_format("%.1f MB/s", rate) : text_format("%.2f GB/s", rate / 1000);
}

char *text_of_clock(double seconds)
{
    int64_t whole = seconds < 1e9 ? (int64_t)seconds : 1000000000;
    return text_format("%d:%02d:%02d", (int)(whole / 3600), (int)(whole / 60 % 60), (int)(whole % 60));
}

char *text_of_seconds(double seconds)
{
    return text_format(seconds < 100 ? "%.2f s" : "%.0f s", seconds);
}
