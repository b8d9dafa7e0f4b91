/* utf8.h - the characters of a text. */
#ifndef PARAPET_BASE_UTF8_H
#define PARAPET_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character that starts at text, 0 when there is no valid one. */
size_t pp_utf8_character_bytes(const unsigned char *text, size_t available);

/* The number in Unicode of a character of that many bytes. */
uint32_t pp_utf8_code(const unsigned char *text, size_t bytes);

#endif
