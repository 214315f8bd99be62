"""A seating plan for threads: how far apart this machine's cores are, and who should sit where.

>>> import seatmap
>>> machine = seatmap.machine("xeon-e5-2680-2s")
>>> plan = seatmap.place("stencil2d:8x4", on=machine)
>>> round(plan.cost), round(plan.lower_bound), round(plan.baselines["os"])
(11556, 11556, 19556)

The verbs are those of the command line, and call the same libraries:

==================================  ===============================================================
``measure()``, ``machine(name)``    a `Profile`: the core distances of this host, or of a machine
                                    on file
``pattern(who_talks_to_whom)``      a `Pattern` from a matrix, a graph, a generator or a file
``place(pattern, on)``              a `Plan`: a CPU for each task, its cost, and a lower bound
``pin(plan)``, ``where()``          seats for the threads of this process, and where they sit
``pin_worker(plan)``                the same for worker processes: a ``worker_init_fn``
``check(pid)``, ``observe(pid)``    does a program sit as planned; which of its threads talk
``quiet(n)``                        a cell: CPUs that all other work has left, for one block
==================================  ===============================================================

A call that takes time lets other threads run. Ctrl-C ends it, but for `place`, which ends when its
seconds are over. Every error is a `SeatmapError`
with one sentence. Remarks that the command line prints on stderr are warnings of the category
`SeatmapWarning`. NumPy is needed for matrices alone.
"""

from ._cell import Cell, quiet
from ._pattern import Pattern, pattern
from ._plan import Plan, place
from ._process import Check, Finding, Observation, check, observe
from ._profile import Profile, machine, machines, measure
from ._seatmap import InputError, SeatmapError, __version__
from ._threads import ThreadSeat, WorkerSeats, pin, pin_worker, where
from ._warnings import SeatmapWarning

__all__ = [
    "Cell",
    "Check",
    "Finding",
    "InputError",
    "Observation",
    "Pattern",
    "Plan",
    "Profile",
    "SeatmapError",
    "SeatmapWarning",
    "ThreadSeat",
    "WorkerSeats",
    "__version__",
    "check",
    "machine",
    "machines",
    "measure",
    "observe",
    "pattern",
    "pin",
    "pin_worker",
    "place",
    "quiet",
    "where",
]
