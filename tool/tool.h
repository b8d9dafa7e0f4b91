/* tool.h - what the verbs of the command-line tool share: the request, and their exit codes.
 *
 * Does not know: how a store keeps its data; everything it learns, it learns through parapet.h.
 * Depends on: parapet.h and the C library. Only ranks_mpi.c calls MPI. */
#ifndef PARAPET_TOOL_H
#define PARAPET_TOOL_H

#include <parapet_store.h>
#include <stdbool.h>

/* Exit codes. Where several apply, check says the worst: failed, torn, missing, stray. */
enum tool_exit {
    TOOL_OK = 0,
    TOOL_FAILED = 1,
    TOOL_USAGE = 2,
    TOOL_DIFFERS = 3, /* diff, copy --verify */
    TOOL_MISSING = 3, /* check */
    TOOL_TORN = 4,
    TOOL_STRAY = 5,
    TOOL_SIGNALLED = 128 /* copy: and the number of the signal that ended it */
};

enum tool_flag_bit {
    TOOL_JSON = 1 << 0,
    TOOL_VERBOSE = 1 << 1,
    TOOL_HELP = 1 << 2,
    TOOL_LONG = 1 << 3,
    TOOL_RECURSIVE = 1 << 4,
    TOOL_INDEX = 1 << 5,
    TOOL_SURVEY = 1 << 6,
    TOOL_STRICT = 1 << 7,
    TOOL_LAYOUT = 1 << 8,
    TOOL_QUIET = 1 << 9,
    TOOL_DRY_RUN = 1 << 10,
    TOOL_RESUME = 1 << 11,
    TOOL_VERIFY = 1 << 12,
    TOOL_OVERWRITE = 1 << 13,
    TOOL_NO_CHECKSUM = 1 << 14,
    TOOL_NO_PROBE = 1 << 15,
    TOOL_RESTORE_TEST = 1 << 16,
    TOOL_TAKEOVER = 1 << 17
};

typedef struct tool_flag {
    unsigned bit;
    char letter; /* 0: only the long form */
    const char *name;
    const char *help;
} tool_flag;

/* A flag with a value that means something to one verb only. If it has the name of a choice of the library, the help
 * lists its words. */
typedef struct tool_value {
    char letter; /* 0: only the long form */
    const char *name;
    const char *usage; /* "--shape N,N"; NULL: another name for something, which the help leaves out */
    const char *help;
} tool_value;

enum { TOOL_VALUES_MOST = 32 };

typedef struct tool_request tool_request;

typedef struct tool_verb tool_verb;

struct tool_verb {
    const char *name;     /* "plan", or of two words "plan copy" */
    const char *operands; /* as the usage line shows them */
    const char *summary;  /* one line */
    const char *details;  /* whole lines, or "" */
    const char *exit_codes;
    const tool_flag *flags;   /* of this verb only, ended by a name of NULL */
    const tool_value *values; /* the same; NULL: none */
    int operands_min;
    int operands_max;
    bool is_parallel;        /* every rank runs it; else rank 0 alone, */
    unsigned parallel_flags; /* unless one of these is given */
    int (*run)(const tool_request *request);
};

typedef enum tool_ranks {
    RANKS_NONE = 0,  /* no launcher, and no MPI: this process alone */
    RANKS_FIRST = 1, /* rank 0, while the others wait */
    RANKS_ALL = 2
} tool_ranks;

struct tool_request {
    const tool_verb *verb;
    char **words; /* after the verb, as given */
    int word_count;
    tool_ranks working;
    int rank, rank_count;
    parapet_store_options options;
    unsigned flags;
    const char **operands; /* the verb's, as many as it takes */
    int operand_count;
    const char *values[TOOL_VALUES_MOST]; /* as given, in the order of the verb's list; NULL: not given */
};

#endif
