"""Other processes: checks their seats, and observes which threads communicate."""

import json
import os
from dataclasses import dataclass, field
from typing import Optional

from . import _seatmap
from ._pattern import Pattern
from ._plan import Plan


@dataclass(frozen=True)
class Finding:
    """A fault of a program's seats, or a remark."""

    #: The broken rule, such as ``one-per-cpu``.
    rule: str
    #: The gravity, in the words of 'seatmap check'.
    gravity: str
    #: A sentence with the fault, its location and its size.
    what: str
    #: The command that repairs it, or ``None``.
    remedy: Optional[str]
    #: The whole finding as a dictionary of the format ``seatmap-seating/1``.
    document: dict = field(repr=False, compare=False)


@dataclass(frozen=True)
class Check:
    """The result of a check. It is true if nothing is wrong."""

    #: Whether nothing is wrong.
    ok: bool
    #: The result in one word.
    verdict: str
    #: The error of 'seatmap check', or ``None``.
    failure: Optional[str]
    #: All findings, the gravest first.
    findings: tuple
    #: The whole check as a dictionary of the format ``seatmap-seating/1``.
    document: dict = field(repr=False, compare=False)
    _text: str = field(repr=False, compare=False)

    def __bool__(self):
        return self.ok

    def __str__(self):
        return self._text


def check(
    pid=None,
    *,
    plan=None,
    seconds=1,
    rules=(),
    children=True,
    strict=False,
    any_machine=False,
):
    """Checks the CPUs of running programs' threads, as 'seatmap check' does.

    ``pid`` is one or more processes, by default this one, with their ``children``. ``plan``
    contains the expected seats. ``rules`` are those of the command line, such as
    ``"one-per-cpu"``; without them the default rules apply. With ``strict`` the check fails if
    something could not be seen.
    """
    text = None
    if plan is not None:
        text = (plan if isinstance(plan, Plan) else Plan.by_hand(plan)).to_json()
    rules = [rules] if isinstance(rules, str) else list(rules)
    options = {
        "pids": _pids(pid),
        "children": children,
        "seconds": float(seconds),
        "rules": rules,
        "plan": text,
        "any_machine": any_machine,
        "strict": strict,
    }
    judged = _seatmap.check(options)
    document = json.loads(judged.json)
    findings = tuple(
        Finding(one["rule"], one["gravity"], one["what"], one["remedy"], one)
        for one in document["findings"]
    )
    return Check(
        not judged.fails, document["verdict"], judged.failure, findings, document, judged.text
    )


@dataclass(frozen=True)
class Observation:
    """The result of `observe`: which threads of a program communicate."""

    #: The pattern, for `place`.
    pattern: Pattern
    _text: str = field(repr=False, compare=False)

    def __str__(self):
        return self._text

    def _repr_html_(self):
        return self.pattern._repr_html_()


def observe(pid, seconds=10, *, method="auto"):
    """Observes for some seconds which threads of a program communicate.

    ``method`` is ``wakeups``, ``sockets``, ``goroutines``, or ``auto`` for the best one allowed
    here. Most require root. To observe this process, call this function in a separate thread,
    because the call sleeps.
    """
    pattern, text = _seatmap.observe(_pids(pid), float(seconds), method)
    return Observation(Pattern._of(pattern), text)


def _pids(pid):
    if pid is None:
        return [os.getpid()]
    return [pid] if isinstance(pid, int) else [int(one) for one in pid]
