"""What cannot be copied is refused in a sentence, and nothing is left of it."""

import warnings

import numpy
import zarr

import copy_tool
import foreign_zarr


def numbers(folder):
    store = folder / "numbers.zarr"
    array = zarr.create_array(str(store), name="data", shape=(40, 30), chunks=(7, 30), dtype="float32",
                              dimension_names=["y", "x"])
    array[...] = numpy.arange(1200).reshape(40, 30)
    return store / "data"


def wide(folder):
    """Chunks of 2 MiB: they need more than the least limit there is."""
    store = folder / "wide.zarr"
    array = zarr.create_array(str(store), shape=(1024, 512), chunks=(512, 512), dtype="float64", compressors=None)
    array[...] = 1.0
    return store


def damaged(folder):
    """The second of two chunks cannot be decoded."""
    store = folder / "damaged.zarr"
    array = zarr.create_array(str(store), shape=(20,), chunks=(10,), dtype="int64")
    array[...] = numpy.arange(20)
    (store / "c" / "1").write_bytes(b"no chunk at all")
    return store


def group_of_two(folder, **second):
    """A group with a sound array and one more."""
    store = folder / "group.zarr"
    group = zarr.open_group(str(store), mode="w")
    group.create_array("a", shape=(20,), chunks=(10,), dtype="int64")[...] = 5
    group.create_array("b", **{"shape": (20,), "chunks": (10,), "dtype": "int64", **second})
    return store


# Options of a copy of `numbers`, and words of the sentence.
WRONG_CHANGES = [
    (["-c", "10"], "chunks"),
    (["-c", "z/10"], 'no dimension "z"'),
    (["-c", "10,-7"], "chunks"),
    (["-c", "10,10", "-s", "25,10"], "not a multiple of its chunks"),
    (["--order=y"], "order"),
    (["--order=y,y"], "order"),
    (["--order=0,2"], "order"),
    (["--region=0:41,:"], "region"),
    (["--region=5:5,:"], "has no elements"),
    (["--region=y=3"], "region"),
    (["--codec", "squeeze:3"], "codec"),
    (["--codec", "zstd:99"], "codec"),
    (["--reading", "runs"], "compressed"),
]


def require_refusal(arguments, source, target, options, words, ranks=1):
    before = copy_tool.files_below(source)
    done = copy_tool.call(arguments, ["copy", *options, source, target], ranks)
    if done.returncode not in (1, 2):
        raise copy_tool.Difference(f"copy ended with {done.returncode}: {done.stdout} {done.stderr}")
    sentences = [line for line in done.stderr.splitlines() if line.startswith("parapet: ")]
    copy_tool.require_equal(f"number of sentences in {done.stderr!r}", len(sentences), 1)
    if words not in sentences[0]:
        raise copy_tool.Difference(f"{sentences[0]!r} does not say {words!r}")
    copy_tool.require_equal("what is left behind", copy_tool.files_below(target) if target.exists() else [], [])
    copy_tool.require_equal("that a directory is left behind", target.exists(), False)
    copy_tool.require_equal("files of the source", copy_tool.files_below(source), before)


def all_refusals(folder):
    data = numbers(folder)
    yield from ((data, options, words) for options, words in WRONG_CHANGES)
    yield wide(folder), ["--max-mem", "1MiB"], "needs at least"
    yield damaged(folder), [], "c/1"
    yield damaged(folder / "again"), ["--passes", "2"], "c/1"
    text = group_of_two(folder, shape=(3,), chunks=(3,), dtype=str)
    yield text, ["--region", "0:2"], "elements of variable length"
    yield numbers(folder / "groups").parent, ["-c", "y/10", "-s", "y/25"], "not a multiple of its chunks"
    for case, words in foreign_zarr.make_refused(folder):
        yield case.store, ["--region", "0:2"], words


def check_part(arguments, folder):
    """Damage elsewhere does not keep anybody from copying what is sound."""
    source, target = damaged(folder / "part"), folder / "part.zarr"
    done = copy_tool.call(arguments, ["copy", "-q", "--region=2:10", source, target])
    copy_tool.require_equal(f"copy of a sound part, which says {done.stderr}", done.returncode, 0)
    copy_tool.require_sound(arguments, target)
    copy_tool.require_equal("values", zarr.open_array(str(target))[...].tolist(), list(range(2, 10)))


def check_whole_arrays(arguments, folder):
    """A hierarchy in which one array is damaged: what is there of the copy is whole."""
    source, target = group_of_two(folder / "whole"), folder / "whole.zarr"
    zarr.open_array(str(source / "b"))[...] = 6
    (source / "b" / "c" / "1").write_bytes(b"no chunk at all")
    done = copy_tool.call(arguments, ["copy", "-q", source, target])
    copy_tool.require_equal(f"copy of a damaged array, which says {done.stderr}", done.returncode, 1)
    copy_tool.require_equal("whether the sentence names the chunk", "b/c/1" in done.stderr, True)
    if target.exists():
        copy_tool.require_equal("the damaged array", (target / "b").exists(), False)
        copy_tool.require_sound(arguments, target)
        copy_tool.require_same(arguments, source / "a", target / "a")


def run(arguments, folder):
    failures = []
    folder = folder / "refused"
    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # types without a specification are meant
        refusals = list(all_refusals(folder))
    for number, (source, options, words) in enumerate(refusals):
        name = f"refused{number}"
        if copy_tool.is_wanted(arguments, name):
            ranks = 3 if number % 6 == 1 and source.name == "data" else 1
            copy_tool.attempt(failures, name, f"{source} {' '.join(options)}", lambda: require_refusal(
                arguments, source, folder / f"{name}.zarr", options, words, ranks))
    for name, check in (("part", check_part), ("whole", check_whole_arrays)):
        if copy_tool.is_wanted(arguments, name):
            copy_tool.attempt(failures, name, name, lambda: check(arguments, folder))
    print(f"copies that are refused: {len(refusals)}; {len(failures)} failed", flush=True)
    return failures
