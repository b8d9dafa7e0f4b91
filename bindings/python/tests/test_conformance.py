"""Arrays made by other hands, read through Python: the values that are expected, or an exception of Parapet.

Which refusal is the right one is judged by the test in C (tests/conformance); here, all of them are exceptions, and
numbers are the same numbers.
"""
import json
import pathlib

import numpy
import pytest

import parapet

ROOT = pathlib.Path(__file__).resolve().parents[3] / "tests/conformance"
CASES = sorted(ROOT.rglob("*.expected.json"))


def number(value):
    """JSON has no words for some numbers, and others are too large for it: those are texts."""
    if not isinstance(value, str):
        return value
    return int(value) if value.lstrip("-").isdigit() else float(value)


def read(path):
    with parapet.open(path) as store:
        return numpy.asarray(store.open_array("")[...])


def compare(found, expected):
    if found.dtype.kind not in "biuf":
        return
    values = [number(value) for value in numpy.ravel(numpy.array(expected["data"], dtype=object))]
    wanted = numpy.array(values, dtype=object).astype(found.dtype).reshape(expected["shape"])
    assert found.shape == wanted.shape and numpy.array_equal(found, wanted, equal_nan=found.dtype.kind == "f")


def is_refused(name):
    return name.startswith("refuse_") or "MUSTFAIL" in name


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name.removesuffix(".expected.json"))
def test_a_case_is_read_as_expected(case):
    expected = json.loads(case.read_text())
    name = case.name.removesuffix(".expected.json")
    try:
        found = read(case.with_name(name))
    except (parapet.ParapetError, TypeError) as error:
        assert "accept_" not in name and isinstance(error, parapet.ParapetError), error
    else:
        assert not is_refused(name)
        compare(found, expected)


@pytest.mark.parametrize("folder", sorted(ROOT.glob("extra/refuse_*")), ids=lambda path: path.name)
def test_what_must_be_refused_is_an_exception(folder):
    if folder.is_dir():
        with pytest.raises(parapet.ParapetError):
            read(folder)


def test_looking_up_tells_why_an_array_cannot_be_opened():
    with parapet.open(ROOT / "extra/refuse_codec_unknown") as store, pytest.raises(parapet.UnsupportedError):
        store[""]


def test_there_are_cases():
    assert len(CASES) > 100
