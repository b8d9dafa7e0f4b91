"""The extension module has what the headers declare; tests/structure/check_bindings.py looks at what is called."""
import pathlib
import re

import parapet
from parapet import _library

ROOT = pathlib.Path(__file__).resolve().parents[3]
DECLARED = re.compile(r"PARAPET_API\s+[^;(]*?\b(parapet_\w+)\(")
STATUS = re.compile(r"\b(PARAPET_ERR_\w+) = \d+")


def read_headers():
    return "".join(path.read_text() for path in sorted((ROOT / "include").glob("*.h")))


def test_every_public_function_is_in_the_module():
    declared = set(DECLARED.findall(read_headers()))
    assert len(declared) > 60
    assert declared <= set(dir(_library.lib))


def test_every_status_has_an_exception():
    classes = {one.status: one for one in parapet.ParapetError.__subclasses__()}
    assert set(classes) == set(STATUS.findall(read_headers()))
    assert all(one.__name__ in parapet.__all__ for one in classes.values())


def test_every_statistic_is_there():
    fields = [name for name, _ in _library.ffi.typeof("parapet_statistics").fields]
    assert [*parapet.Statistics.__dataclass_fields__] == [name for name in fields if name != "reserved"]
