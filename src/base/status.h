/* status.h - how a failure is reported: a code and one sentence, set together.
 *
 * Knows nothing of arrays, storage or MPI. The sentence is kept per thread; a worker passes its own to the thread
 * that waits for it, with pp_failure_take and pp_failure_put. */
#ifndef PARAPET_BASE_STATUS_H
#define PARAPET_BASE_STATUS_H

#include <parapet_status.h>
#include <stdbool.h>
#include <stdint.h>

#define PP_MESSAGE_BYTES 1024

/* Sets the sentence of this thread and returns status, so that a failing function ends in one line. */
parapet_status pp_fail(parapet_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a failed system call: maps error_number to a status and appends its text. */
parapet_status pp_fail_errno(int error_number, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* PARAPET_ERR_MEMORY, with a sentence that names a limit with which there would be enough: of several ranks that are
 * refused memory, the one that needs the largest is told. */
parapet_status pp_refuse_memory(uint64_t enough_bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The limit that this thread's sentence names; 0: it names none. */
uint64_t pp_failure_enough_bytes(void);

/* Every public function returns through this, unless it ends in pp_fail, so that there is no sentence after a
 * success. Functions that close a handle do not: closing something after a failure must not remove the sentence. */
parapet_status pp_outcome(parapet_status status);

/* Puts "context: " before the current sentence; returns status unchanged. */
parapet_status pp_fail_within(parapet_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For whoever does not need what was looked for: that it is not there is a success. */
parapet_status pp_accept_absence(parapet_status status);

/* The sentence of this thread before it closes a handle, which may access the storage. */
typedef struct pp_sentence {
    char message[PP_MESSAGE_BYTES];
    bool has_succeeded;
} pp_sentence;

void pp_sentence_take(pp_sentence *before);

/* Restores it after a success, whatever failed in between; returns status. */
parapet_status pp_sentence_put(const pp_sentence *before, parapet_status status);

const char *pp_failure_message(void);
void pp_failure_clear(void);

/* A failure that is passed from one thread to another. Only the first one is kept. */
typedef struct pp_failure {
    parapet_status status;
    uint64_t enough_bytes;
    char message[PP_MESSAGE_BYTES];
} pp_failure;

/* Keeps status and this thread's sentence in failure, unless it already has one. */
void pp_failure_take(pp_failure *failure, parapet_status status);

/* Makes the kept sentence this thread's and returns the kept status; takes NULL, which is no failure. */
parapet_status pp_failure_put(const pp_failure *failure);

#endif
