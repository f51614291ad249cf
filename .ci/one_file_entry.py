"""Where the program of `one_file` begins: the command line, or a child process of it.

Children are started as `sys.executable -I FILE ...`, `-m MODULE ...` or `-c TEXT ...`, and the program is its own
Python: what begins with an option of Python's is done as Python does it.
"""

import runpy
import sys

#: options of Python that take no value
_FLAGS = ("-I", "-S", "-P", "-u", "-E", "-s", "-B")


def main() -> int:
    """Run what the words of the command line ask for."""
    words = sys.argv[1:]
    while words and words[0] in _FLAGS:
        words.pop(0)
    if len(words) == len(sys.argv) - 1:  # no option of Python's: nobody who types commands writes one
        from hlotool.programs import hlotool

        return hlotool()
    kind, *rest = words
    if kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif kind == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        runpy.run_path(kind, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
