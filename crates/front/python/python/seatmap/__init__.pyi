"""Types of the package. The documentation is in the code."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from types import TracebackType
from typing import Any, Literal, Optional, Union

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

__version__: str

# A NumPy array. `Any`, because NumPy is not a dependency.
_Array = Any
_Path = Union[str, PathLike[str]]
_Cpus = Union[str, Iterable[int]]
_Matrix = Literal["median", "p10", "mad", "ci95_low", "ci95_high"]
_Objective = Literal["distance", "congestion", "simulated", "time"]

class SeatmapError(Exception): ...
class InputError(SeatmapError): ...
class SeatmapWarning(UserWarning): ...

@dataclass(frozen=True)
class Profile:
    name: str
    kind: str
    cpus: tuple[int, ...]
    @property
    def document(self) -> dict[str, Any]: ...
    @property
    def distances_ns(self) -> _Array: ...
    def matrix_ns(self, which: _Matrix) -> _Array: ...
    def distance_ns(self, one: int, other: int) -> float: ...
    def to_json(self) -> str: ...
    def save(self, path: _Path) -> None: ...
    def to_html(self) -> str: ...
    def _repr_html_(self) -> str: ...

@dataclass(frozen=True)
class Pattern:
    name: str
    tasks: int
    task_names: tuple[str, ...]
    @property
    def edges(self) -> list[tuple[int, int, float]]: ...
    @property
    def matrix(self) -> _Array: ...
    def to_json(self) -> str: ...
    def save(self, path: _Path) -> None: ...
    def to_html(self) -> str: ...
    def _repr_html_(self) -> str: ...

@dataclass(frozen=True)
class Plan:
    machine: str
    pattern: Optional[str]
    placement: tuple[int, ...]
    seats: tuple[tuple[int, ...], ...]
    objective: Optional[str]
    cost: Optional[float]
    lower_bound: Optional[float]
    optimal: bool
    baselines: Optional[dict[str, Any]]
    remarks: tuple[str, ...] = ...
    @classmethod
    def by_hand(cls, placement: _Cpus, machine: str = "host") -> Plan: ...
    @classmethod
    def from_json(cls, text: str) -> Plan: ...
    @classmethod
    def load(cls, path: _Path) -> Plan: ...
    @property
    def document(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def save(self, path: _Path) -> None: ...
    def export(self, format: str) -> str: ...
    def to_html(self) -> str: ...
    def _repr_html_(self) -> str: ...

@dataclass(frozen=True)
class ThreadSeat:
    tid: int
    name: str
    cpus: tuple[int, ...]
    cpu: Optional[int]

@dataclass(frozen=True)
class WorkerSeats:
    seats: tuple[tuple[int, ...], ...]
    def __call__(self, worker: Optional[int] = None) -> None: ...

@dataclass(frozen=True)
class Finding:
    rule: str
    gravity: str
    what: str
    remedy: Optional[str]
    document: dict[str, Any]

@dataclass(frozen=True)
class Check:
    ok: bool
    verdict: str
    failure: Optional[str]
    findings: tuple[Finding, ...]
    document: dict[str, Any]
    def __bool__(self) -> bool: ...

@dataclass(frozen=True)
class Observation:
    pattern: Pattern
    def _repr_html_(self) -> str: ...

@dataclass(frozen=True)
class Cell:
    name: str
    cpus: tuple[int, ...]
    backend: str
    noise_percent: tuple[Optional[float], Optional[float]]
    document: dict[str, Any]

class quiet:
    def __init__(
        self,
        count: Optional[int] = None,
        *,
        cpus: Optional[_Cpus] = None,
        name: Optional[str] = None,
        require: Literal["affinity", "v1-exclusive", "v2-partition"] = "affinity",
        memory_bytes: int = 0,
        untested: bool = False,
    ) -> None: ...
    def __enter__(self) -> Cell: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        exception: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None: ...

def machine(name: Union[Profile, _Path] = "host") -> Profile: ...
def machines() -> list[str]: ...
def measure(
    cpus: Optional[_Cpus] = None,
    *,
    quick: bool = True,
    thorough: bool = False,
    passes: Optional[int] = None,
    homes: int = 0,
    loaded: bool = False,
    speed: bool = False,
    seed: int = 1,
) -> Profile: ...
def pattern(source: Any, *, name: str = "pattern", weight: str = "weight") -> Pattern: ...
def place(
    pattern: Any,
    on: Union[Profile, dict[str, Any], _Path] = "host",
    *,
    seconds: float = 1,
    kicks: Optional[int] = None,
    objective: Optional[_Objective] = None,
    cpus: Optional[_Cpus] = None,
    fix: Optional[Mapping[int, int]] = None,
    waiting: Optional[bool] = None,
    smt: Optional[bool] = None,
    memory: bool = False,
    threads: Optional[int] = None,
    seed: int = 1,
) -> Plan: ...
def where() -> list[ThreadSeat]: ...
def pin(
    plan: Union[Plan, _Cpus],
    task: Optional[int] = None,
    *,
    threads: Optional[Sequence[Union[threading.Thread, int]]] = None,
    any_machine: bool = False,
) -> list[ThreadSeat]: ...
def pin_worker(plan: Union[Plan, _Cpus], *, any_machine: bool = False) -> WorkerSeats: ...
def check(
    pid: Union[int, Iterable[int], None] = None,
    *,
    plan: Union[Plan, _Cpus, None] = None,
    seconds: float = 1,
    rules: Union[str, Iterable[str]] = (),
    children: bool = True,
    strict: bool = False,
    any_machine: bool = False,
) -> Check: ...
def observe(
    pid: Union[int, Iterable[int]],
    seconds: float = 10,
    *,
    method: Literal["auto", "wakeups", "sockets", "goroutines"] = "auto",
) -> Observation: ...
