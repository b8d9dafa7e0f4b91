/* utf8.h - the characters of a text. */
#ifndef PARAPET_BASE_UTF8_H
#define PARAPET_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character that starts at text; 0 if it is not valid. */
size_t pp_utf8_character_bytes(const unsigned char *text, size_t available);

/* The Unicode number of a character of this many bytes. */
uint32_t pp_utf8_code(const unsigned char *text, size_t bytes);

#endif
