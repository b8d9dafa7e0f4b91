/* Sentences and other text on their way to Fortran, which has no NUL at the end of a text. */
#include "shim.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char sentence[512];

void shim_begin(void)
{
    sentence[0] = '\0';
}

parapet_status shim_refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return PARAPET_ERR_ARGUMENT;
}

parapet_status shim_lack_memory(void)
{
    shim_refuse("no memory is left for the arguments of this call");
    return PARAPET_ERR_MEMORY;
}

int shim_is_taken(const void *handle, const char *noun)
{
    if (handle != NULL)
        shim_refuse("this variable has an open %s already: close that first, or use another variable", noun);
    return handle != NULL;
}

char *shim_duplicate(const char *text)
{
    return text == NULL ? NULL : strdup(text);
}

const char *parapet_fortran_error_message(void)
{
    return sentence[0] != '\0' ? sentence : parapet_error_message();
}

int64_t parapet_fortran_text_length(const char *text)
{
    return text == NULL ? 0 : (int64_t)strlen(text);
}

void parapet_fortran_text_copy(char *to, const char *text, int64_t length)
{
    if (length > 0)
        memcpy(to, text, (size_t)length);
}

/* Writes a number with so many significant digits, without an exponent unless it is very large or very small. */
static void write_number(double value, int digits, char *text)
{
    double size = fabs(value);
    if (size >= 1e-5 && size < 1e15) {
        int decimals = digits - 1 - (int)floor(log10(size));
        snprintf(text, 32, "%.*f", decimals > 0 ? decimals : 0, value);
    } else {
        snprintf(text, 32, "%.*g", digits, value);
    }
}

void parapet_fortran_number_text(double value, int digits, char *text)
{
    for (int few = 1; few <= digits; few++) {
        double back;
        write_number(value, few, text);
        back = strtod(text, NULL);
        if (digits < 17 ? (float)back == (float)value : back == value)
            return;
    }
}

void parapet_fortran_text_free(void *text)
{
    parapet_free(text);
}

parapet_status parapet_fortran_attribute_refuse(const char *name, const char *json)
{
    shim_begin();
    return shim_refuse("the attribute %s is %.200s, which the variable cannot hold: use another type, or "
                       "get_attribute_json",
                       name, json);
}

parapet_status parapet_fortran_attribute_unreachable(const char *name)
{
    shim_begin();
    return shim_refuse("the attribute %s: a checkpoint's attributes are set before its commit, and read from the "
                       "parapet_restore that opens it",
                       name);
}

const char *parapet_fortran_version(void)
{
    return parapet_version();
}

const char *parapet_fortran_status_name(int status)
{
    return parapet_status_name((parapet_status)status);
}

int parapet_fortran_version_number(void)
{
    return parapet_version_number();
}

const char *parapet_fortran_type_name(int type)
{
    return parapet_type_name((parapet_type)type);
}

int parapet_fortran_type_from_name(const char *name)
{
    return (int)parapet_type_from_name(name);
}

int64_t parapet_fortran_type_bytes(int type)
{
    return (int64_t)parapet_type_bytes((parapet_type)type);
}

char *parapet_fortran_text_visible(const char *characters)
{
    size_t length = parapet_text_visible(NULL, 0, characters);
    char *visible = malloc(length + 1);
    if (visible != NULL)
        (void)parapet_text_visible(visible, length + 1, characters);
    return visible;
}

parapet_status parapet_fortran_launch(int *figures, const char **flavour)
{
    parapet_launch launch = {0};
    parapet_status status;
    shim_begin();
    status = parapet_launch_get(&launch);
    figures[0] = launch.rank;
    figures[1] = launch.count;
    figures[2] = launch.is_inherited;
    *flavour = launch.flavour;
    return status;
}
