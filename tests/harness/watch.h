/* watch.h - ends the job with a message when a collective call does not return. */
#ifndef PARAPET_TESTS_WATCH_H
#define PARAPET_TESTS_WATCH_H

/* Takes over SIGALRM: after launch_start. */
void watch_start(int rank);

/* From now on this rank is doing that; too long at it is a hang, and the exit code is 99. The text is copied. */
void watch_begin(const char *site, const char *doing);
void watch_end(void);

double watch_clock(void);

/* Ranks that share cores must not spin; all of them leave together. */
void watch_meet(void);

#endif
