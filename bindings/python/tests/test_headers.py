"""Python has what the headers declare: every function is bound or is here with a reason, and so is every status."""
import pathlib
import re

import parapet
from parapet import _library

ROOT = pathlib.Path(__file__).resolve().parents[3]
DECLARED = re.compile(r"PARAPET_API\s+[^;(]*?\b(parapet_\w+)\(")
STATUS = re.compile(r"\b(PARAPET_ERR_\w+) = \d+")

LEFT_OUT = {
    "parapet_checkpoint_start": "requests will replace it",
    "parapet_checkpoint_test": "requests will replace it",
    "parapet_checkpoint_wait": "requests will replace it",
    "parapet_text_visible": "repr() of a text does it",
    "parapet_type_bytes": "numpy.dtype.itemsize tells",
    "parapet_type_from_name": "numpy.dtype does it",
    "parapet_option_words": "the sentence of a refused option has the words",
    "parapet_arrays_close": "a store closes what is open in it",
    "parapet_copy_plan_print": "parapet_copy_request_plan_print plans the copy that will be made",
}


def read_headers():
    return "".join(path.read_text() for path in sorted((ROOT / "include").glob("*.h")))


def read_package():
    return "".join(path.read_text() for path in sorted((ROOT / "bindings/python/parapet").glob("*.py")))


def test_every_public_function_is_called_or_left_out_for_a_reason():
    declared = set(DECLARED.findall(read_headers()))
    called = set(re.findall(r"\blib\.(parapet_\w+)", read_package()))
    assert len(declared) > 60
    assert declared - called == set(LEFT_OUT)


def test_every_public_function_is_in_the_module():
    assert set(DECLARED.findall(read_headers())) <= set(dir(_library.lib))


def test_every_status_has_an_exception():
    classes = {one.status: one for one in parapet.ParapetError.__subclasses__()}
    assert set(classes) == set(STATUS.findall(read_headers()))
    assert all(one.__name__ in parapet.__all__ for one in classes.values())


def test_every_statistic_is_there():
    fields = [name for name, _ in _library.ffi.typeof("parapet_statistics").fields]
    assert [*parapet.Statistics.__dataclass_fields__] == [name for name in fields if name != "reserved"]
