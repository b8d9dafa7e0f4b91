#!/usr/bin/env python3
"""Makes the C source of an extension module from the public headers, which are the only list of what there is.

    make_module.py FLAVOUR OUTPUT HEADER...

The module is `parapet._FLAVOUR`. cffi compiles its declarations against the headers themselves, so a mistake of this
script is an error of the compiler, and a struct that has grown is seen without a change here.
"""
import pathlib
import re
import sys

# What handles of MPI are to the compiler of Python's declarations; the headers of MPI say what they really are.
HANDLES = {
    "serial": "typedef struct parapet_no_mpi *MPI_Comm; typedef struct parapet_no_datatype *MPI_Datatype;",
    "mpich": "typedef int MPI_Comm; typedef int MPI_Datatype;",
    "openmpi": "typedef struct ompi_communicator_t *MPI_Comm; typedef struct ompi_datatype_t *MPI_Datatype;",
    "mpiabi": "typedef struct MPI_ABI_Comm *MPI_Comm; typedef struct MPI_ABI_Datatype *MPI_Datatype;",
}

# Functions of Python that the library calls; see parapet/_callbacks.py.
CALLBACKS = """
extern "Python" {
    int parapet_python_progress(void *context, int64_t done_bytes, int64_t total_bytes);
    int parapet_python_child(void *context, const char *name, parapet_node_kind kind);
    int parapet_python_box(void *context, const int64_t *start, const int64_t *count);
    int parapet_python_generation(void *context, int64_t generation, const char *path);
    int parapet_python_removal(void *context, const char *key, const char *reason);
    int parapet_python_finding(void *context, const parapet_finding *finding);
}
"""

# What is better done in C. A communicator or datatype of mpi4py is an address where MPI's own handle is, whatever its type.
# parapet_python_read, _read_local and _write transfer one box, whose start and count follow each other in `numbers`; Python makes no
# struct for it (parapet/_basic.py). parapet_python_watch is the progress of a store: if the program asked for none, it
# calls Python as often as Ctrl-C needs it, not each time.
HELPERS_DECLARED = """
MPI_Comm parapet_python_comm_null(void);
MPI_Comm parapet_python_comm_at(uintptr_t address);
MPI_Datatype parapet_python_datatype_at(uintptr_t address);
int parapet_python_read(parapet_array *array, int ndim, const int64_t *numbers, void *data);
int parapet_python_read_local(parapet_array *array, int ndim, const int64_t *numbers, void *data);
int parapet_python_write(parapet_array *array, int ndim, const int64_t *numbers, void *data);
typedef struct parapet_python_watcher {
    void *receiver;
    int is_asked_for;
} parapet_python_watcher;
int parapet_python_watch(void *context, int64_t done_bytes, int64_t total_bytes);
"""
HELPERS = """
#include <time.h>

static MPI_Comm parapet_python_comm_null(void) { return MPI_COMM_NULL; }
static MPI_Comm parapet_python_comm_at(uintptr_t address) { return *(MPI_Comm *)address; }
static MPI_Datatype parapet_python_datatype_at(uintptr_t address) { return *(MPI_Datatype *)address; }

static int parapet_python_read(parapet_array *array, int ndim, const int64_t *numbers, void *data)
{
    parapet_part part = {.ndim = ndim, .start = numbers, .count = numbers + ndim, .data = data};
    return (int)parapet_array_read(array, &part, 1);
}

static int parapet_python_read_local(parapet_array *array, int ndim, const int64_t *numbers, void *data)
{
    parapet_part part = {.ndim = ndim, .start = numbers, .count = numbers + ndim, .data = data};
    return (int)parapet_array_read_local(array, &part, 1);
}

static int parapet_python_write(parapet_array *array, int ndim, const int64_t *numbers, void *data)
{
    parapet_part part = {.ndim = ndim, .start = numbers, .count = numbers + ndim, .data = data};
    return (int)parapet_array_write(array, &part, 1);
}

static int parapet_python_progress(void *context, int64_t done_bytes, int64_t total_bytes);

typedef struct parapet_python_watcher {
    void *receiver;
    int is_asked_for;
} parapet_python_watcher;

static int parapet_python_watch(void *context, int64_t done_bytes, int64_t total_bytes)
{
    enum { BETWEEN_MS = 50 };
    static _Thread_local int64_t last_ms; /* each thread counts for itself: only the first of them handles signals */
    const parapet_python_watcher *watcher = context;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (!watcher->is_asked_for && now_ms - last_ms < BETWEEN_MS)
        return 0;
    last_ms = now_ms;
    return parapet_python_progress(watcher->receiver, done_bytes, total_bytes);
}
"""

COMMENT = re.compile(r"/\*.*?\*/", re.S)
# Numbers that the headers define.
NUMBER = re.compile(r"^#define (PARAPET_\w+) (?:\d+|\(.*\))$", re.M)
DIRECTIVE = re.compile(r"^#.*(?:\\\n.*)*$", re.M)
# The declarations are between these two; what is outside is for compilers, not for readers.
BEGIN = re.compile(r'#ifdef __cplusplus\nextern "C" \{\n#endif\n')
END = re.compile(r"#ifdef __cplusplus\n\}\n#endif\n")


def declarations(header):
    """What a header declares, as cffi reads it."""
    begin, end = BEGIN.search(header), END.search(header)
    if begin is None or end is None:
        raise SystemExit("make_module.py: a header does not enclose its declarations in extern \"C\"")
    text = COMMENT.sub("", header[begin.end():end.start()])
    numbers = "".join(f"#define {name} ...\n" for name in NUMBER.findall(text))
    return numbers + DIRECTIVE.sub("", text).replace("PARAPET_API ", "")


def read_declarations(paths):
    return "\n".join(declarations(pathlib.Path(path).read_text()) for path in paths)


def make(flavour, output, paths):
    import cffi

    builder = cffi.FFI()
    builder.cdef("\n".join((HANDLES[flavour], read_declarations(paths), CALLBACKS, HELPERS_DECLARED)))
    includes = "".join(f"#include <{pathlib.Path(path).name}>\n" for path in paths)
    builder.set_source(f"parapet._{flavour}", f"#define PARAPET_{flavour.upper()}\n{includes}{HELPERS}",
                       py_limited_api=True)
    builder.emit_c_code(str(output))


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in HANDLES:
        raise SystemExit(__doc__)
    make(sys.argv[1], sys.argv[2], sys.argv[3:])
