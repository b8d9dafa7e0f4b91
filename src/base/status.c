#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char current_message[PP_MESSAGE_BYTES];
static _Thread_local uint64_t current_enough_bytes; /* that it names, or 0 */
static _Thread_local bool has_succeeded;            /* the public function that returned last */

parapet_status pp_outcome(parapet_status status)
{
    has_succeeded = status == PARAPET_OK;
    return status;
}

/* Puts text behind the first used bytes of the sentence, as many of its characters as fit. */
static void append_message(size_t used, const char *text)
{
    (void)parapet_text_visible(current_message + used, sizeof current_message - used, text);
}

/* Names and attributes in it are from outside. */
__attribute__((format(printf, 1, 0))) static void put_message(const char *format, va_list arguments)
{
    char text[PP_MESSAGE_BYTES + 4]; /* a character that is cut off at its end is too long for the sentence */
    (void)vsnprintf(text, sizeof text, format, arguments);
    append_message(0, text);
}

static void put_failure(uint64_t enough_bytes)
{
    current_enough_bytes = enough_bytes;
    has_succeeded = false;
}

parapet_status pp_fail(parapet_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_message(format, arguments);
    va_end(arguments);
    put_failure(0);
    return status;
}

parapet_status pp_refuse_memory(uint64_t enough_bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_message(format, arguments);
    va_end(arguments);
    put_failure(enough_bytes);
    return PARAPET_ERR_MEMORY;
}

uint64_t pp_failure_enough_bytes(void)
{
    return current_enough_bytes;
}

static parapet_status status_of_errno(int error_number)
{
    switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return PARAPET_ERR_NO_SPACE;
    case ENOMEM:
        return PARAPET_ERR_MEMORY;
    case ENOENT:
        return PARAPET_ERR_NOT_FOUND;
    case EEXIST:
        return PARAPET_ERR_EXISTS;
    default:
        return PARAPET_ERR_IO;
    }
}

parapet_status pp_fail_errno(int error_number, const char *format, ...)
{
    char reason[128];
    size_t used;
    va_list arguments;
    va_start(arguments, format);
    put_message(format, arguments);
    va_end(arguments);
    used = strlen(current_message);
    append_message(used, ": ");
    append_message(strlen(current_message), strerror_r(error_number, reason, sizeof reason));
    put_failure(0);
    return status_of_errno(error_number);
}

parapet_status pp_accept_absence(parapet_status status)
{
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

parapet_status pp_fail_within(parapet_status status, const char *format, ...)
{
    char inner[PP_MESSAGE_BYTES];
    size_t used;
    va_list arguments;
    memcpy(inner, current_message, sizeof inner);
    va_start(arguments, format);
    put_message(format, arguments);
    va_end(arguments);
    used = strlen(current_message);
    append_message(used, ": ");
    append_message(strlen(current_message), inner);
    has_succeeded = false;
    return status;
}

void pp_sentence_take(pp_sentence *before)
{
    memcpy(before->message, current_message, sizeof before->message);
    before->has_succeeded = has_succeeded;
}

parapet_status pp_sentence_put(const pp_sentence *before, parapet_status status)
{
    if (status == PARAPET_OK) {
        memcpy(current_message, before->message, sizeof current_message);
        has_succeeded = before->has_succeeded;
    }
    return status;
}

const char *pp_failure_message(void)
{
    return current_message;
}

void pp_failure_clear(void)
{
    current_message[0] = '\0';
}

void pp_failure_take(pp_failure *failure, parapet_status status)
{
    if (status == PARAPET_OK || failure->status != PARAPET_OK)
        return;
    failure->status = status;
    failure->enough_bytes = current_enough_bytes;
    memcpy(failure->message, current_message, sizeof failure->message);
}

parapet_status pp_failure_put(const pp_failure *failure)
{
    if (failure == NULL || failure->status == PARAPET_OK)
        return PARAPET_OK;
    memcpy(current_message, failure->message, sizeof current_message);
    put_failure(failure->enough_bytes);
    return failure->status;
}

const char *parapet_error_message(void)
{
    return has_succeeded ? "" : current_message;
}

const char *parapet_status_name(parapet_status status)
{
    static const char *const names[] = {
        "PARAPET_OK",          "PARAPET_ERR_ARGUMENT", "PARAPET_ERR_NOT_FOUND",
        "PARAPET_ERR_EXISTS",  "PARAPET_ERR_IO",       "PARAPET_ERR_NO_SPACE",
        "PARAPET_ERR_MEMORY",  "PARAPET_ERR_FORMAT",   "PARAPET_ERR_UNSUPPORTED",
        "PARAPET_ERR_CORRUPT", "PARAPET_ERR_MISSING",  "PARAPET_ERR_CANCELLED",
        "PARAPET_ERR_MPI",     "PARAPET_ERR_INTERNAL", "PARAPET_ERR_TIMEOUT",
        "PARAPET_ERR_BUSY",    "PARAPET_ERR_STALE",
    };
    if ((int)status < 0 || (size_t)status >= sizeof names / sizeof names[0])
        return "unknown status";
    return names[status];
}
