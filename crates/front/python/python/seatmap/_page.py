"""Helpers: pages in a notebook, lists of CPUs, files, and NumPy if installed."""

import html
from pathlib import Path

from ._seatmap import SeatmapError


def frame(page):
    """A page in a frame, which separates its style from the notebook's."""
    # The page's scripts may run, but cannot access the notebook.
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(page, quote=True)}" '
        'style="width: 100%; height: 640px; border: 0"></iframe>'
    )


def cpu_list(cpus):
    """The CPUs of an argument: numbers, or a list such as ``"0-3,8"``; ``None`` for all."""
    if cpus is None:
        return None
    if not isinstance(cpus, str):
        return [int(cpu) for cpu in cpus]
    chosen = []
    for part in cpus.split(","):
        first, _, last = part.strip().partition("-")
        if not (first.isdigit() and (last or first).isdigit()):
            raise _input_error(f"'{cpus}' is not a list of CPUs, such as '0-3,8'")
        chosen.extend(range(int(first), int(last or first) + 1))
    return chosen


def _input_error(sentence):
    from ._seatmap import InputError

    return InputError(sentence)


def numpy(purpose):
    """NumPy, or an error that says what needs it."""
    try:
        import numpy
    except ImportError as error:
        raise SeatmapError(
            f"{purpose} needs NumPy; 'pip install numpy' installs it"
        ) from error
    return numpy


def read_text(path):
    """The text of a file, or an error that names it."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _input_error(f"{path}: {reason}") from error


def write_text(path, text):
    """Writes a file, or raises an error that names it."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise SeatmapError(f"{path}: {error.strerror or error}") from error
