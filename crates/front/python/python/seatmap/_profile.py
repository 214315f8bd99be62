"""Machines and their core distances."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from . import _seatmap
from ._page import cpu_list, frame, numpy, write_text


@dataclass(frozen=True)
class Profile:
    """All data about one machine, from `measure` or `machine`.

    >>> import seatmap
    >>> profile = seatmap.machine("xeon-e5-2680-2s")
    >>> profile.name, len(profile.cpus), round(profile.distance_ns(0, 1))
    ('xeon-e5-2680-2s', 32, 111)
    """

    #: The machine's name: a host name, a bundled name, or a file's stem.
    name: str
    #: Its kind, in the words of 'seatmap show'.
    kind: str
    #: The OS indices of the CPUs with known distances, in the order of the matrices.
    cpus: tuple
    _machine: _seatmap.Machine = field(repr=False, compare=False)

    @classmethod
    def _of(cls, machine):
        document = json.loads(machine.json())
        return cls(document["name"], machine.kind, tuple(machine.cpus), machine)

    @property
    def document(self):
        """The whole profile as a dictionary of the format ``seatmap-profile/1``."""
        return json.loads(self._machine.json())

    @property
    def distances_ns(self):
        """The median round trip of a cache line for each pair of CPUs, in nanoseconds.

        A symmetric NumPy array in the order of `cpus`. The diagonal is 0, and unknown distances
        are NaN.
        """
        return self.matrix_ns("median")

    def matrix_ns(self, which):
        """A matrix of distances in nanoseconds: ``median``, ``p10``, ``mad``, ``ci95_low`` or
        ``ci95_high``. All NaN if the machine's file lacks it."""
        np = numpy("a matrix")
        rows = self._machine.distances_ns(which)
        if rows is None:
            return np.full((len(self.cpus), len(self.cpus)), np.nan)
        return np.array(rows, dtype=float).reshape(len(rows), len(rows))

    def distance_ns(self, one, other):
        """The core distance of two CPUs by OS index, in nanoseconds; NaN where unknown."""
        try:
            row, column = self.cpus.index(one), self.cpus.index(other)
        except ValueError:
            raise _seatmap.InputError(
                f"{self.name} has no distance between CPUs {one} and {other}"
            ) from None
        return self._machine.distances_ns("median")[row][column]

    def to_json(self):
        """The profile as JSON, in the file format of `seatmap`."""
        return self._machine.json()

    def save(self, path):
        """Writes the profile to a file, for ``machine(path)`` and ``seatmap ... --on path``."""
        write_text(path, self.to_json())

    def to_html(self):
        """The page of 'seatmap show --html', as a self-contained document."""
        return self._machine.page()

    def __str__(self):
        return self._machine.text(os.get_terminal_size().columns if os.isatty(1) else 100)

    def _repr_html_(self):
        return frame(self.to_html())


def machine(name="host"):
    """The profile of a machine: ``"host"`` as last measured, a bundled name, or a file.

    >>> import seatmap
    >>> seatmap.machine("xeon-e5-2680-2s").kind
    'a description'
    >>> seatmap.machine("xeon-e5-2680")
    Traceback (most recent call last):
    ...
    seatmap.InputError: ...
    """
    if isinstance(name, Profile):
        return name
    return Profile._of(_seatmap.open_machine(os.fspath(name)))


def machines():
    """The names of the machines that come with Seatmap."""
    return _seatmap.machine_names()


def measure(
    cpus=None,
    *,
    quick=True,
    thorough=False,
    passes=None,
    homes=0,
    loaded=False,
    speed=False,
    seed=1,
):
    """Measures the core distances of this host: 1 s for up to 64 CPUs, about 20 s for 192.

    ``cpus`` are numbers or a list such as ``"0-3,8"``; the default is all CPUs available to this
    process. Only a default measurement is remembered for ``machine("host")``. ``quick=False``
    measures as the command line does by default; ``thorough=True`` measures unsteady pairs longer.
    """
    effort = "thorough" if thorough else "quick" if quick else "usual"
    options = {
        "cpus": cpu_list(cpus),
        "effort": effort,
        "passes": passes,
        "homes": homes,
        "loaded": loaded,
        "speed": speed,
        "seed": seed,
    }
    return Profile._of(_seatmap.measure(options))


def _machine_of(on):
    """The machine of an argument ``on``."""
    if isinstance(on, (Profile, str)) or isinstance(on, Path) or hasattr(on, "__fspath__"):
        return machine(on)._machine
    if isinstance(on, dict):
        return _seatmap.read_machine("profile", json.dumps(on))
    raise _seatmap.InputError(
        f"on={on!r}: expected a Profile, a machine's name, or a file of one"
    )
