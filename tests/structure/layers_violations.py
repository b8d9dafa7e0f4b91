"""Plants one violation of every rule in a small tree and demands that check_layers finds it: the checker can fail.

    layers_violations.py CHECK_LAYERS
"""
import pathlib
import subprocess
import sys
import tempfile

LONG_FUNCTION = "int long_one(void)\n{\n" + "    ;\n" * 37 + "    return 0;\n}\n"
JUST_SHORT_ENOUGH = "int short_one(void)\n{\n" + "    ;\n" * 36 + "    return 0;\n}\n"

# File, its text, and what check_layers must say about it.
VIOLATIONS = [
    ("src/base/a.c", '#include "geometry/box.h"\n', 'src/base/a.c:1: base/ may not use geometry/'),
    ("src/geometry/a.c", '\n#include "codec/codec.h"\n', 'src/geometry/a.c:2: geometry/ may not use codec/'),
    ("src/codec/a.c", '#include "zarr/json.h"\n', 'src/codec/a.c:1: codec/ may not use zarr/'),
    ("src/zarr/a.c", '#include "store/store.h"\n', 'src/zarr/a.c:1: zarr/ may not use store/'),
    ("src/store/a.c", '#include "geometry/box.h"\n', 'src/store/a.c:1: store/ may not use geometry/'),
    ("src/comm/a.c", '#include "store/store.h"\n', 'src/comm/a.c:1: comm/ may not use store/'),
    ("src/plan/a.c", '#include "codec/codec.h"\n', 'src/plan/a.c:1: plan/ may not use codec/'),
    ("src/transfer/a.c", '#include "array/array.h"\n', 'src/transfer/a.c:1: transfer/ may not use array/'),
    ("src/forecast/a.c", '#include "transfer/memory_plan.h"\n', 'src/forecast/a.c:1: forecast/ may not use transfer/'),
    ("src/rechunk/a.c", '#include "plan/claims.h"\n', 'src/rechunk/a.c:1: rechunk/ may not use plan/'),
    ("src/transfer/d.c", '#include "rechunk/rechunk.h"\n', 'src/transfer/d.c:1: transfer/ may not use rechunk/'),
    ("src/array/c.c", '#include "forecast/print.h"\n', 'src/array/c.c:1: array/ may not use forecast/'),
    ("src/array/d.c", '#include "copy/copy.h"\n', 'src/array/d.c:1: array/ may not use copy/'),
    ("src/copy/a.c", '#include "series/series.h"\n', 'src/copy/a.c:1: copy/ may not use series/'),
    ("src/copy/b.c", '#include "checkpoint/checkpoint.h"\n', 'src/copy/b.c:1: copy/ may not use checkpoint/'),
    ("src/series/a.c", '#include "copy/copy.h"\n', 'src/series/a.c:1: series/ may not use copy/'),
    ("src/series/b.c", '#include "checkpoint/checkpoint.h"\n', 'src/series/b.c:1: series/ may not use checkpoint/'),
    ("src/checkpoint/a.c", '#include "series/series.h"\n', 'src/checkpoint/a.c:1: checkpoint/ may not use series/'),
    ("src/checkpoint/b.c", '#include "copy/copy.h"\n', 'src/checkpoint/b.c:1: checkpoint/ may not use copy/'),
    ("src/checkpoint/c.c", '#include "rechunk/rechunk.h"\n', 'src/checkpoint/c.c:1: checkpoint/ may not use rechunk/'),
    ("src/array/a.c", '#include "internal.h"\n', 'src/array/a.c:1: "internal.h" is not written as'),
    ("src/copy/c.c", '#include "array/array_handle.h"\n', "src/copy/c.c:1: only array/ may look behind its handles"),
    ("src/series/c.h", '#include "array/group_handle.h"\n', "src/series/c.h:1: only array/ may look behind its handles"),
    ("src/checkpoint/d.c", '#include "array/store_handle.h"\n', "src/checkpoint/d.c:1: only array/ may look behind its"),
    ("src/extra/a.c", "int a;\n", "src/extra/a.c:1: src/extra is not a module"),
    ("src/transfer/b.c", "int f(void) { return MPI_Barrier(0); }\n", "only comm/mpi_* may use MPI (MPI_Barrier)"),
    ("src/store/b.h", "MPI_Comm comm;\n", "only comm/mpi_* may use MPI (MPI_Comm)"),
    ("src/array/b.c", "#include <mpi.h>\n", "only comm/mpi_* may include <mpi.h>"),
    ("src/comm/d.c", "#include <mpi.h>\n", "only comm/mpi_* may include <mpi.h>"),
    ("src/comm/e.c", "int f(void) { return MPI_Barrier(0); }\n", "only comm/mpi_* may use MPI (MPI_Barrier)"),
    ("src/array/c.c", "int f(MPI_Comm comm);\n", "only comm/mpi_* may use MPI (MPI_Comm)"),
    ("src/array/open.c", "int f(void) { return MPI_Barrier(0); }\n", "only comm/mpi_* may use MPI (MPI_Barrier)"),
    ("src/array/file_view.c", "int f(MPI_Comm comm);\n", "only comm/mpi_* may use MPI (MPI_Comm)"),
    ("src/zarr/document.c", "#include <json-c/json.h>\n", "only zarr/json*.c may include json-c"),
    ("src/transfer/c.c", "#include <fcntl.h>\n", "only store/ may include <fcntl.h>"),
    ("src/base/b.c", "#include <unistd.h>\n", "only store/ may include <unistd.h>"),
    ("src/base/c.c", "#include <sys/mman.h>\n", "only store/ may include <sys/mman.h>"),
    ("src/comm/b.c", "#include <sys/uio.h>\n", "only store/ may include <sys/uio.h>"),
    ("src/comm/c.c", "#include <unistd.h>\n", "only store/ may include <unistd.h>"),
    ("src/copy/clock_a.c", "long f(void) { return time(NULL); }\n", "only base/clock.c may call time"),
    ("src/comm/clock_b.c", "void f(void) { (void)nanosleep(0, 0); }\n", "only base/clock.c may call nanosleep"),
    ("tool/clock_c.c", "int f(void) { return clock_gettime (0, 0); }\n", "only base/clock.c may call clock_gettime"),
    ("src/base/d.h", "#include <parapet.h>\n", "src/base/d.h:1: src/ includes the part of parapet.h that it uses"),
    ("tool/main.c", '#include "zarr/json.h"\n', "tool/ may include only public"),
    ("tool/cmd_ls.c", "#include <base/status.h>\n", "tool/ may include only public"),
    ("examples/a.c", '#include "../src/base/status.h"\n', "examples/ may include only public"),
    ("examples/b.c", "#include <parapet_arrays.h>\n", "examples/b.c:1: an example includes parapet.h, as users do"),
    ("src/copy/codec_a.c", "bool f(int id) { return id > PP_CODEC_CRC32C; }\n", "codecs are not told apart by their ids"),
    ("src/copy/codec_b.c", "bool f(int id) { return PP_CODEC_ZSTD == id; }\n", "codecs are not told apart by their ids"),
    ("src/codec/codec_c.c", "    case PP_CODEC_GZIP:\n", "codecs are not told apart by their ids"),
    ("src/transfer/modes.c", "bool f(of *x) { return x->cache != NULL; }\n" * 6,
     "src/transfer/modes.c:6: one of 6 tests whether a feature is on"),
    ("src/array/own.c", 'char *key = "__parapet/seal";\n', "src/array/own.c:1: keys below __parapet are built by"),
    ("tests/unit/utils.c", "int a;\n", "tests/unit/utils.c:1: a file is named after"),
    ("src/base/common.h", "\n", "src/base/common.h:1: a file is named after"),
    ("src/zarr/short.c", "int a;\n", "src/zarr/short.c:1: another file has this name: src/array/short.c"),
    ("src/array/long.c", LONG_FUNCTION, "src/array/long.c:1: long_one has 41 lines, more than 40"),
]

# A house large enough to speak of shares, in which one room has 19 % of the lines.
ROOMS = ["base", "geometry", "codec", "zarr", "store", "comm", "plan", "forecast"]
CROWDED = [(f"src/{room}/{room}_rows.c", "int a;\n" * (1350 if room != "base" else 2200)) for room in ROOMS]

# Nothing of this may be reported.
INNOCENT = [
    ("src/zarr/json_scan.c", '#include <json-c/json.h>\n\n#include "base/text.h"\n#include "codec/codec.h"\n'),
    ("src/zarr/json.h", "#include <stddef.h>\n"),
    ("src/base/status.h", "#include <parapet_status.h>\n"),
    ("src/store/posix.c", "#include <fcntl.h>\n#include <unistd.h>\n"),
    ("src/base/memory.c", "#include <sys/mman.h>\n"),
    ("src/comm/direct.c", "#include <sys/uio.h>\n#include <unistd.h>\n"),
    ("src/comm/mpi_world.c", "#include <mpi.h>\nint f(void) { return MPI_Barrier(0); }\n"),
    ("src/array/open.c", '/* MPI_Barrier is not called. */\nint open_it(MPI_Comm comm);\nchar *a = "MPI_Barrier";\n'),
    ("src/array/file_view.c", "int build(MPI_Datatype filetype);\n"),
    ("src/array/forecast_calls.c", '#include "forecast/print.h"\n'),
    ("src/array/part_calls.c", '#include "array/array_handle.h"\n'),
    ("tests/unit/test_inside.c", '#include "array/array_handle.h"\n'),
    ("src/copy/open_copy.c", '#include "array/array.h"\n#include "rechunk/rechunk.h"\n#include "transfer/transfer.h"\n'),
    ("src/array/short.c", JUST_SHORT_ENOUGH),
    ("src/array/own_said.c", '/* "__parapet/seal" */\nchar *text = "__parapet/seal is missing";\n'),
    ("src/change/registry.c", 'char *key = "__parapet/seal";\n'),
    ("src/codec/loop.c", "int f(int id) { while (id < PP_CODEC_COUNT) id++; return id = PP_CODEC_ZSTD; }\n"),
    ("tool/tool.h", "#include <parapet.h>\n"),
    ("tool/progress.c", '#include "base/clock.h"\n\nlong f(void) { return my_time(0) + now.time; }\n'),
    ("src/base/clock.c", "long f(void) { return time(NULL); }\n"),
    ("tool/cmd_plan.c", "#include <parapet_plan.h>\n"),
    ("tool/cmd_info.c", '#include <stdio.h>\n\n#include "tool.h"\n'),
    ("tests/unit/test_long.c", LONG_FUNCTION),
]


def run(check_layers, files):
    """Exit code and output of check_layers on a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, check_layers, folder], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    check_layers = sys.argv[1]
    failures = []
    code, output = run(check_layers, INNOCENT)
    if code != 0 or output:
        failures.append(f"a tree without violations gave exit code {code} and:\n{output}")
    for name, text, expected in VIOLATIONS:
        code, output = run(check_layers, INNOCENT + [(name, text)])
        if code != 1 or expected not in output or len(output.splitlines()) != 1:
            failures.append(f"{name}: expected one line with \"{expected}\", got exit code {code} and:\n{output}")
    code, output = run(check_layers, CROWDED)
    if code != 1 or not output.startswith("src/base:1: 2200 lines are 18.9 % of src/") or output.count("\n") != 1:
        failures.append(f"a crowded room gave exit code {code} and:\n{output}")
    print(*failures, sep="\n")
    print(f"{len(VIOLATIONS) + 1} violations planted, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
