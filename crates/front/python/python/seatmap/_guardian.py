"""The guardian of a cell: a process of its own that undoes the cell if its maker dies.

``seatmap.quiet`` starts it as ``python -I .../_guardian.py NAME``. It needs nothing but the
extension module beside it.
"""

import sys


def command():
    """The words that start a guardian; the cell's name comes after them."""
    # Isolated: neither the current folder nor PYTHON* variables decide which code runs as root.
    return [sys.executable, "-I", __file__]


def main():
    """Serves until the cell needs no guardian any more."""
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from seatmap import _seatmap

    _seatmap.serve_guardian(sys.argv[1], command())


if __name__ == "__main__":
    main()
