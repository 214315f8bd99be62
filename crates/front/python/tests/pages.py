"""Runs the Python code of pages and notebooks in order, as a reader would type it.

    pages.py FILE...

In a page (.md), blocks of ``python`` are run, and blocks of ``pycon`` are compared with their
output. A line ``<!-- needs NAME... -->`` above a block skips it if a module is missing; NAME may
also be ``root``, or ``cpus`` for two CPUs. In a notebook (.ipynb), the code cells are run. All code
of a file shares its variables.
"""

import doctest
import importlib.util
import json
import os
import re
import sys
import warnings
from pathlib import Path

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def has(need):
    if need == "root":
        return os.geteuid() == 0
    if need == "cpus":
        return len(os.sched_getaffinity(0)) > 1
    return importlib.util.find_spec(need) is not None


def blocks(page):
    """Line, language, needs and text of each block of a page."""
    pattern = r"(?:<!-- needs ([^\n]*) -->\n)?```(python|pycon)\n(.*?)```\n"
    for found in re.finditer(pattern, page, re.DOTALL):
        line = page.count("\n", 0, found.start(3)) + 1
        yield line, found[2], (found[1] or "").split(), found[3]


def run_page(path):
    names = {"__name__": "__main__"}
    page = path.read_text(encoding="utf-8")
    count = 0
    for line, language, needs, text in blocks(page):
        where = f"{path.name}:{line}"
        missing = [need for need in needs if not has(need)]
        if missing:
            print(f"skipped: {where}: needs {', '.join(missing)}", file=sys.stderr)
            continue
        count += 1
        if language == "python":
            exec(compile("\n" * (line - 1) + text, str(path), "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(text, names, where, str(path), line - 1)
        runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
        if runner.run(test, clear_globs=False).failed:
            sys.exit(f"{where}: the block prints something else")
        names = test.globs
    return count


def run_notebook(path):
    names = {"__name__": "__main__"}
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        needs = cell["metadata"].get("needs", [])
        missing = [need for need in needs if not has(need)]
        if missing:
            why = f"{path.name}: cell {number}: needs {', '.join(missing)}"
            print(f"skipped: {why}", file=sys.stderr)
            continue
        code = compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec")
        exec(code, names)
    return len(cells)


def main():
    warnings.simplefilter("ignore")
    for name in sys.argv[1:]:
        path = Path(name)
        count = run_page(path) if path.suffix == ".md" else run_notebook(path)
        if not count:
            sys.exit(f"{path.name}: nothing to run")
        print(f"{path.name}: {count} ran")


if __name__ == "__main__":
    main()
