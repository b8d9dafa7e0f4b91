"""Plants mistakes in small sources and demands that check_tidy finds them: the checker can fail.

    tidy_violations.py CHECK_TIDY
"""
import pathlib
import subprocess
import sys
import tempfile

# A source, and what must be said about it. None: nothing.
CASES = [
    ("#include <string.h>\nvoid clear(char *text, unsigned long bytes);\n"
     "void clear(char *text, unsigned long bytes)\n{\n    memset(text, 0, bytes);\n}\n", None),
    ("#include <string.h>\nvoid clear(char *text);\n"
     "void clear(char *text)\n{\n    memset(text, 0x1234, 8);\n}\n", "bugprone-suspicious-memset-usage"),
    ("#include <stdlib.h>\nint forget(void);\n"
     "int forget(void)\n{\n    char *memory = malloc(16);\n    return memory != NULL;\n}\n", "clang-analyzer-unix.Malloc"),
    ("long area(int a, int b);\nlong area(int a, int b)\n{\n    return a * b;\n}\n",
     "bugprone-implicit-widening-of-multiplication-result"),
]


def main():
    failures = []
    for number, (text, expected) in enumerate(CASES):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "planted.c")
            path.write_text(text)
            done = subprocess.run([sys.executable, sys.argv[1], str(path)], capture_output=True, text=True)
        if done.returncode == 77:
            print(done.stderr, end="")
            return 77
        is_right = done.returncode == 0 if expected is None else done.returncode == 1 and expected in done.stdout
        if not is_right:
            failures.append(f"case {number}: expected {expected}, got exit code {done.returncode} and:\n{done.stdout}{done.stderr}")
    print("\n".join(failures) or f"{len(CASES)} cases")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
