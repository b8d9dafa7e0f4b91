#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "comm/comm.h"

#define FNV_START UINT64_C(14695981039346656037)
#define FNV_PRIME UINT64_C(1099511628211)

#define WHOLE_BYTES 8192 /* more than any path has */

/* The words that are shown may be cut off; what is compared is not. */
void pp_call_init(pp_call *call, const char *format, ...)
{
    char whole[WHOLE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(whole, sizeof whole, format, arguments);
    va_end(arguments);
    *call = (pp_call){.digest = FNV_START};
    memcpy(call->words, whole, strnlen(whole, sizeof call->words - 1));
    pp_call_add(call, whole, strlen(whole));
}

void pp_call_add(pp_call *call, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    size_t i;
    for (i = 0; i < bytes; i++)
        call->digest = (call->digest ^ byte[i]) * FNV_PRIME;
}

void pp_call_add_text(pp_call *call, const char *text)
{
    unsigned char is_there = text != NULL;
    pp_call_add(call, &is_there, 1);
    if (text != NULL)
        pp_call_add(call, text, strlen(text) + 1);
}
