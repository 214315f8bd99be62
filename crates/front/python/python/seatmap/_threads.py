"""Seats for the threads of this process, and of worker processes."""

import multiprocessing
import threading
from dataclasses import dataclass
from typing import Optional

from . import _seatmap
from ._plan import Plan


@dataclass(frozen=True)
class ThreadSeat:
    """The CPUs of a thread of this process."""

    #: The thread id (``threading.get_native_id()``).
    tid: int
    #: The kernel's name of the thread.
    name: str
    #: The CPUs that it may use, according to the kernel.
    cpus: tuple
    #: The CPU on which it last ran; ``None`` if unknown.
    cpu: Optional[int]


def where():
    """The allowed and last CPUs of this process's threads, in the order of their ids.

    >>> import seatmap, threading
    >>> threading.get_native_id() in [seat.tid for seat in seatmap.where()]
    True
    """
    return [
        ThreadSeat(tid, name, tuple(cpus), cpu)
        for tid, name, cpus, cpu in _seatmap.thread_seats()
    ]


def pin(plan, task=None, *, threads=None, any_machine=False):
    """Pins threads of this process to the seats of a plan, and checks the result.

    With ``task``, the calling thread gets that task's seat. Otherwise Python's threads get the
    seats of tasks 0, 1, 2, ... in the order of their start, the main thread first. ``threads``
    names other threads: `threading.Thread` objects, or thread ids. Threads that a seated thread
    starts later inherit its seat.

    A plan is a `Plan`, or a list with the CPU of each task. Returns the threads' current seats, in
    the order of the tasks.
    """
    plan = _plan_for_here(plan, any_machine)
    if task is not None:
        chosen = [(_seatmap.own_tid(), task)]
    else:
        tids = [_tid(thread) for thread in (threading.enumerate() if threads is None else threads)]
        chosen = [(tid, task) for task, tid in enumerate(tids)]
        if len(tids) > len(plan.seats):
            raise _seatmap.InputError(
                f"the plan has seats for {len(plan.seats)} tasks, but there are {len(tids)} "
                "threads; choose the threads to seat with threads="
            )
    for tid, task in chosen:
        _seatmap.bind_thread(tid, list(_seat(plan, task)))
    seats = {seat.tid: seat for seat in where()}
    # A thread named by its id may have ended since.
    return [seats[tid] for tid, _ in chosen if tid in seats]


def _tid(thread):
    tid = getattr(thread, "native_id", thread)
    if not isinstance(tid, int):
        raise _seatmap.InputError(f"{thread!r} is not a thread, or has not been started")
    return tid


def _seat(plan, task):
    if not 0 <= task < len(plan.seats):
        raise _seatmap.InputError(
            f"the plan has tasks 0 to {len(plan.seats) - 1}, not task {task}"
        )
    return plan.seats[task]


def _plan_for_here(plan, any_machine=False):
    if not isinstance(plan, Plan):
        return Plan.by_hand(plan)
    if not any_machine:
        _seatmap.check_plan(plan.to_json())
    return plan


@dataclass(frozen=True)
class WorkerSeats:
    """Pins worker processes when called in each; the result of `pin_worker`."""

    #: The CPUs of each worker.
    seats: tuple

    def __call__(self, worker=None):
        """Gives the calling thread the seat of a worker.

        The default, for the ``initializer`` of a pool, is the position of this process among its
        parent's child processes.
        """
        if worker is None:
            identity = multiprocessing.current_process()._identity
            worker = identity[-1] - 1 if identity else 0
        seat = self.seats[worker % len(self.seats)]
        _seatmap.bind_thread(_seatmap.own_tid(), list(seat))


def pin_worker(plan, *, any_machine=False):
    """A function that seats worker processes, for ``DataLoader(worker_init_fn=...)`` of PyTorch
    and ``multiprocessing.Pool(initializer=...)``.

    Worker ``i`` gets the seat of task ``i``; if there are more workers than tasks, the seats repeat
    from the first. Threads that a worker starts afterwards inherit its seat.

    >>> import seatmap
    >>> seatmap.pin_worker([2, 3]).seats
    ((2,), (3,))
    """
    return WorkerSeats(_plan_for_here(plan, any_machine).seats)
