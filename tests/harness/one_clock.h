/* one_clock.h - one clock for all ranks of a job, moved by hand, for what they do about a rank that does not come:
 * who gives up first follows from fractions of a deadline. It stands still until a rank lets time pass, and then goes
 * on only while all others wait. So nobody is late who is not meant to be. */
#ifndef PARAPET_TESTS_ONE_CLOCK_H
#define PARAPET_TESTS_ONE_CLOCK_H

#include "launch.h"

/* [collective] From now on base/clock.h goes by it. */
void one_clock_take(const launch *run);

/* [collective] Before a situation: nobody has an answer. */
void one_clock_begin(void);

/* This rank has its answer, and is not waited for. */
void one_clock_note_answer(void);

/* This rank does not come until all others have their answers. A handler of signals may call it. After it, time
 * passes as this rank itself waits, until one_clock_begin. */
void one_clock_stay_away(double deadline_seconds);

/* [collective] Where all ranks wait for what does not come: lets time pass while all of them look in vain that have
 * no answer. */
void one_clock_start(double deadline_seconds);
void one_clock_stop(void);

/* Lets some time pass, during which all others wait; or whatever they do. */
void one_clock_pass(double seconds);
void one_clock_move(double seconds);

#endif
