"""A seating plan for threads: how far apart a machine's cores are, and which CPU each thread gets.

>>> import seatmap
>>> machine = seatmap.machine("xeon-e5-2680-2s")
>>> plan = seatmap.place("stencil2d:8x4", on=machine)
>>> round(plan.cost), round(plan.lower_bound), round(plan.baselines["os"])
(11556, 11556, 19556)

The functions are named after the verbs of the command line and call the same libraries:

==================================  ===============================================================
``measure()``, ``machine(name)``    a `Profile`: the core distances of this host or another machine
``pattern(source)``                 a `Pattern` from a matrix, a graph, a generator or a file
``place(pattern, on)``              a `Plan`: a CPU for each task, its cost, and a lower bound
``pin(plan)``, ``where()``          pins the threads of this process; lists their CPUs
``pin_worker(plan)``                pins worker processes: a ``worker_init_fn``
``check(pid)``, ``observe(pid)``    checks a program's seats; observes which threads communicate
``quiet(n)``                        a cell: CPUs reserved for one block of your program
==================================  ===============================================================

Long calls let other threads run, and Ctrl-C ends them. Every error is a `SeatmapError` with one
sentence. Remarks, which the command line prints on stderr, are warnings of the category
`SeatmapWarning`. Only matrices need NumPy.
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
