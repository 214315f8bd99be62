"""The guardian of a cell: a separate process that undoes the cell if its creator dies.

``seatmap.quiet`` starts it as ``python -I .../_guardian.py NAME``. It uses only the extension
module.
"""

import sys


def command():
    """The command line of a guardian, without the cell's name at its end."""
    # Isolated: neither the current folder nor PYTHON* variables decide which code runs as root.
    return [sys.executable, "-I", __file__]


def main():
    """Serves until the cell no longer needs a guardian."""
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from seatmap import _seatmap

    _seatmap.serve_guardian(sys.argv[1], command())


if __name__ == "__main__":
    main()
