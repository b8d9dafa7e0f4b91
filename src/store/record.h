/* record.h - an owner record as text: who holds something, on file systems whose locks cannot be trusted.
 *
 *     parapet owner 1
 *     id 0123456789abcdef
 *     process 4711 1234567 on node12
 *     boot 6a2c3d9e-... 4026531836 4026531834
 *     since 1763257166
 *
 * It is as untrusted as anything that is read from storage: a text that differs from this form is not a record. */
#ifndef PARAPET_STORE_RECORD_H
#define PARAPET_STORE_RECORD_H

#include "store/process.h"

#define PP_RECORD_BYTES 512
#define PP_RECORD_ID_BYTES 17

typedef struct pp_record {
    char id[PP_RECORD_ID_BYTES]; /* random: no two records have the same */
    pp_process process;
    int64_t since; /* seconds of the epoch, by the holder's clock */
} pp_record;

/* A new one, of this process. */
parapet_status pp_record_init(pp_record *record);

void pp_record_print(const pp_record *record, char text[PP_RECORD_BYTES]);

/* Whether the text is that of a record. */
bool pp_record_parse(pp_record *record, const char *text);

/* "process 4711 on node12 since 2026-11-16T01:39:26Z" */
void pp_record_name(const pp_record *record, char name[PP_LOCK_HOLDER_BYTES]);

#endif
