#!/usr/bin/env python3
"""check_bindings.py ROOT: Python and Fortran have every public function and every field of its structs, or
bindings_left_out.txt says why not.

check_bindings.py ROOT --table prints the functions and who has them."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
headers = "".join(path.read_text() for path in sorted((root / "include").glob("*.h")))
code = re.sub(r"/\*.*?\*/", "", headers, flags=re.DOTALL)
functions = re.findall(r"^PARAPET_API [^(]*?(parapet_\w+)\(", code, flags=re.MULTILINE)
structs = re.findall(r"typedef struct (parapet_\w+) \{(.*?)\n\} \1;", code, flags=re.DOTALL)


def read(*patterns):
    return "".join(path.read_text() for pattern in patterns for path in sorted((root / "bindings").glob(pattern)))


def fields():
    """STRUCT.FIELD of every struct that is used by a function; words in reserve are not fields."""
    for struct, body in structs:
        for member in re.findall(r"^    [^;]+;", body, flags=re.MULTILINE):
            for name in re.findall(r"\b(\w+)(?:\[\w*\])?(?=\s*[,;])", member):
                if name != "reserved":
                    yield f"{struct}.{name}"


# A call is a call; a field is anywhere, as it may be set by its name.
languages = {
    "python": (set(re.findall(r"\blib\.(parapet_\w+)", read("python/parapet/*.py"))),
               set(re.findall(r"\b[a-z]\w*", read("python/parapet/*.py", "python/make_module.py")))),
    "fortran": (set(re.findall(r"\b(parapet_\w+)\b", read("fortran/shim_*.c"))),
                set(re.findall(r"\b[a-z]\w*", read("fortran/shim_*.c", "fortran/*.[fF]90", "fortran/*.inc")))),
}
left_out = {language: {} for language in languages}
for line in (root / "tests/structure/bindings_left_out.txt").read_text().splitlines():
    if not line.startswith("#"):
        language, name, reason = line.split(None, 2)
        left_out[language][name] = reason

failed = len(functions) < 60 or len(structs) < 15
for language, (called, words) in languages.items():
    missing = {name for name in functions if name not in called}
    missing |= {name for name in fields() if name.split(".")[1] not in words and
                not any(name.startswith(one + ".") for one in left_out[language])}
    reasons = {name for name in left_out[language] if name in functions or "." in name}
    for name in sorted(missing - reasons):
        print(f"check_bindings: {language} lacks {name}: bind it, or say why not in tests/structure/bindings_left_out.txt")
    for name in sorted(reasons - missing):
        print(f"check_bindings: {language} has {name}: take it out of tests/structure/bindings_left_out.txt")
    for name in sorted(set(left_out[language]) - reasons - {struct for struct, _ in structs}):
        print(f"check_bindings: {name} of tests/structure/bindings_left_out.txt is in no header")
        failed = True
    failed = failed or missing != reasons
if sys.argv[2:] == ["--table"]:
    for name in functions:
        print(f"{name:40}", *(f"{language}: {left_out[language].get(name, 'yes')};" for language in languages))
sys.exit(1 if failed else 0)
