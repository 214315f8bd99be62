"""Plans: a CPU for each task, with its provenance."""

import json
from dataclasses import dataclass, field
from typing import Optional

from . import _seatmap
from ._page import cpu_list, frame, read_text, write_text
from ._pattern import pattern as pattern_of
from ._profile import _machine_of


@dataclass(frozen=True)
class Plan:
    """A placement of tasks on CPUs, from `place` or a file."""

    #: The name of the machine.
    machine: str
    #: The pattern's name; ``None`` for a plan by hand.
    pattern: Optional[str]
    #: The OS index of each task's CPU.
    placement: tuple
    #: The CPUs on which each task may run: only its own, or a group around it.
    seats: tuple
    #: The objective of the cost: ``distance``, ``congestion``, ``simulated`` or ``time``.
    objective: Optional[str]
    #: The cost: bytes x nanoseconds for ``distance``, nanoseconds for ``simulated`` and ``time``.
    cost: Optional[float]
    #: A bound: no placement costs less.
    lower_bound: Optional[float]
    #: Whether this placement is proven optimal.
    optimal: bool
    #: The costs of the usual placements: ``os``, ``compact``, ``scatter``, and ``random`` with its
    #: ``mean`` and ``best``; ``None`` if not computed.
    baselines: Optional[dict]
    #: The remarks that 'seatmap place' prints below its table.
    remarks: tuple = ()
    _json: str = field(default="", repr=False, compare=False)
    _text: str = field(default="", repr=False, compare=False)
    _placement: Optional[_seatmap.Placement] = field(default=None, repr=False, compare=False)

    @classmethod
    def _of(cls, text, table, placement=None):
        document = json.loads(text)
        tasks = document["placement"]
        seats = document.get("seats") or [[cpu] for cpu in tasks]
        return cls(
            machine=document["machine"],
            pattern=document.get("pattern"),
            placement=tuple(tasks),
            seats=tuple(tuple(seat) for seat in seats),
            objective=document.get("objective"),
            cost=document.get("cost"),
            lower_bound=document.get("lower_bound"),
            optimal=document.get("optimal", False),
            baselines=document.get("baselines"),
            remarks=tuple(placement.remarks().splitlines()) if placement else (),
            _json=text,
            _text=table,
            _placement=placement,
        )

    @classmethod
    def by_hand(cls, placement, machine="host"):
        """Puts task 0 on the first of these CPUs, task 1 on the second, and so on.

        >>> import seatmap
        >>> seatmap.Plan.by_hand([3, 1]).placement
        (3, 1)
        """
        tasks = cpu_list(placement)
        document = {"format": "seatmap-plan/1", "machine": machine, "placement": tasks}
        return cls.from_json(json.dumps(document))

    @classmethod
    def from_json(cls, text):
        """Reads a plan in the format ``seatmap-plan/1``."""
        return cls._of(*_seatmap.read_plan(text))

    @classmethod
    def load(cls, path):
        """Reads a file of 'seatmap place -o' or `save`."""
        return cls.from_json(read_text(path))

    @property
    def document(self):
        """The whole plan as a dictionary of the format ``seatmap-plan/1``."""
        return json.loads(self._json)

    def to_json(self):
        """The plan as JSON, in the file format of `seatmap`."""
        return self._json

    def save(self, path):
        """Writes the plan to a file, for ``seatmap run --plan path``."""
        write_text(path, self._json)

    def export(self, format):
        """The plan in a format of 'seatmap export', such as ``omp-places``."""
        return _seatmap.export_plan(self._json, format)

    def to_html(self):
        """The page of 'seatmap place --html', as a self-contained document.

        For a plan from a file, only its table: such a plan lacks the machine and the pattern.
        """
        if self._placement is not None:
            return self._placement.page()
        import html

        return f"<!DOCTYPE html><title>Plan</title><pre>{html.escape(self._text)}</pre>"

    def __str__(self):
        return self._text

    def _repr_html_(self):
        return frame(self.to_html())


def place(
    pattern,
    on="host",
    *,
    seconds=1,
    kicks=None,
    objective=None,
    cpus=None,
    fix=None,
    waiting=None,
    smt=None,
    memory=False,
    threads=None,
    seed=1,
):
    """Places the tasks of a pattern on the CPUs of a machine.

    ``pattern`` and ``on`` accept the arguments of `pattern` and `machine`. The search ends after
    ``seconds``, or once its plan is proven optimal. ``kicks`` ends it after this number of steps
    instead, which gives the same plan on every computer. ``fix`` puts tasks on CPUs: ``{0: 3}``.
    ``waiting`` says whether tasks sleep until a message arrives, ``smt`` whether they may share
    cores; by default Seatmap decides both as the command line does.

    >>> import seatmap
    >>> plan = seatmap.place("ring:4", on="xeon-e5-2680-2s", seconds=0.2, fix={0: 3})
    >>> plan.placement[0], plan.cost == plan.lower_bound
    (3, True)
    """
    options = {
        "objective": objective,
        "waiting": waiting,
        "smt": smt,
        "cpus": cpu_list(cpus),
        "fix": list((fix or {}).items()),
        "memory": memory,
        "seconds": float(seconds),
        "kicks": kicks,
        "threads": threads,
        "seed": seed,
    }
    placement = _seatmap.place(pattern_of(pattern)._pattern, _machine_of(on), options)
    return Plan._of(placement.json(), placement.text(), placement)
