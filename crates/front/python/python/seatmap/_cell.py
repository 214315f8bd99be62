"""A quiet partition for one block of a program."""

import json
import os
from dataclasses import dataclass, field

from . import _guardian, _seatmap
from ._page import cpu_list


@dataclass(frozen=True)
class Cell:
    """A cell with this process in it."""

    name: str
    #: The OS indices of its CPUs.
    cpus: tuple
    #: How strictly other work is kept off: ``v2-partition``, ``v1-exclusive`` or ``affinity``.
    backend: str
    #: Time stolen from a busy loop on its CPUs, in percent, before and after the cell was created;
    #: ``None`` if not measured.
    noise_percent: tuple
    #: The whole cell as a dictionary of the format ``seatmap-cell/1``.
    document: dict = field(repr=False, compare=False)


class quiet:
    """A quiet partition of this computer for one block, with this process in it.

    ``with seatmap.quiet(2) as cell:`` moves all other work off two CPUs, and this process onto
    them. The end of the block restores everything, even after an exception. If the process is
    killed within the block, a guardian restores everything within a minute. The guardian is a
    separate process, and the only one that Seatmap starts.

    ``count`` lets Seatmap choose that many CPUs; ``cpus`` names them. ``require`` refuses a less
    strict backend. ``untested=True`` skips the noise measurement and saves most of a second. Cells
    require root.
    """

    def __init__(
        self,
        count=None,
        *,
        cpus=None,
        name=None,
        require="affinity",
        memory_bytes=0,
        untested=False,
    ):
        self._options = {
            "name": name or f"python-{os.getpid()}",
            "cpus": cpu_list(cpus),
            "count": count,
            "require": require,
            "memory_bytes": memory_bytes,
            "untested": untested,
            "guardian": _guardian.command(),
        }
        self._inside = None

    def __enter__(self):
        if self._inside is not None:
            name = self._options["name"]
            raise _seatmap.InputError(f"the cell '{name}' already exists")
        self._inside = _seatmap.Cell(self._options)
        document = json.loads(self._inside.json())
        return Cell(
            document["name"],
            tuple(document["cpus"]),
            document["backend"],
            (document["noise_before"], document["noise_after"]),
            document,
        )

    def __exit__(self, kind, exception, traceback):
        inside, self._inside = self._inside, None
        inside.end()
