/* The case that every program of the collective benchmark times: an N^3 array of doubles, each rank of a mesh
 * holding one block of it as plain C-order memory.
 *
 *   mpiexec -n RANKS PROGRAM METHOD DIRECTORY N MESH [name=value ...]      (MESH as 2x2x4)
 *
 * A program brings a table of methods; bench_main does the rest: fills the block, lets all ranks start together,
 * takes the time from the first start to the last end, empties the page cache between writing and reading, checks
 * every value read, and prints "WRITE-SECONDS READ-SECONDS CROSSED-BYTES". Nothing here knows how a method stores the
 * array. */
#ifndef BENCH_CASE_H
#define BENCH_CASE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_PATH_BYTES 4096

typedef struct bench_case {
    int rank, rank_count;
    const char *directory;
    int64_t shape[3], start[3], count[3]; /* the array, and the block of this rank */
    size_t bytes;                         /* of the block */
    double *data;                         /* the block: written, then read into */
    int word_count;                       /* the words name=value */
    char **words;
} bench_case;

typedef struct bench_method {
    const char *name;
    void (*write)(const bench_case *c); /* up to durable data */
    void (*read)(const bench_case *c);
    void (*prepare)(bench_case *c);      /* before all clocks; sets data. NULL: memory aligned to pages */
    void (*finish)(const bench_case *c); /* after all clocks; may be NULL */
    int64_t (*crossed)(void); /* bytes this rank got from or gave to others in the write; NULL: not known */
} bench_method;

/* The table ends with a method without a name. Initializes MPI, unless the program has: with threads, for one. */
int bench_main(int argc, char **argv, const bench_method *methods);

/* The method of that name; ends the program if there is none. */
const bench_method *bench_find_method(const bench_method *methods, const char *name);

/* [all ranks] What its writing moved from rank to rank, all ranks together; -1 where the method does not know. */
long long bench_crossed_bytes(const bench_method *method);

/* Rank 0 makes the system forget what it has cached, which needs root; the others return. */
void bench_empty_page_cache(const bench_case *c);

/* The value of the word name=value, or otherwise. */
const char *bench_option(const bench_case *c, const char *name, const char *otherwise);

/* Three numbers as in 64x64x64. */
void bench_parse_triple(const char *text, int64_t numbers[3]);

/* directory/name */
void bench_path(const bench_case *c, const char *name, char path[BENCH_PATH_BYTES]);

/* Flushes a file to the device; for libraries that leave that to the system. The second form is for a file of all
 * ranks: one of them does it, once all have finished writing. */
void bench_flush(const char *path);
void bench_flush_shared(const bench_case *c, const char *path);

/* A barrier in which ranks that wait do not take the cores from those that work. */
void bench_wait_for_all(void);

/* The same for ranks that wait while another program is timed: they look less often. */
void bench_wait_long_for_all(void);

/* Seconds on the clock of the node. */
double bench_now(void);

/* [all ranks] Seconds from the first rank's start to the last one's end; the same on every rank. */
double bench_time_of(void (*work)(const bench_case *c), const bench_case *c);

/* Ends the program on all ranks. */
_Noreturn void bench_die(const char *what, const char *why);

#endif
