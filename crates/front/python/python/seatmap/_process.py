"""Other processes: does a program sit as planned, and which of its threads talk?"""

import json
import os
from dataclasses import dataclass, field
from typing import Optional

from . import _seatmap
from ._pattern import Pattern
from ._plan import Plan


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a program's seats, or worth knowing."""

    #: The rule that it breaks, such as ``one-per-cpu``.
    rule: str
    #: How grave it is, as 'seatmap check' says it.
    gravity: str
    #: The fault, its place and its size, as a sentence.
    what: str
    #: The command that mends it, or ``None``.
    remedy: Optional[str]
    #: The whole finding as a dictionary of the format ``seatmap-seating/1``.
    document: dict = field(repr=False, compare=False)


@dataclass(frozen=True)
class Check:
    """The judgement of a check. It is true where nothing is wrong."""

    #: Whether all that was looked at is as it should be.
    ok: bool
    #: The result in one word.
    verdict: str
    #: The sentence with which 'seatmap check' fails, or ``None``.
    failure: Optional[str]
    #: Everything that is wrong or worth knowing, the gravest first.
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
    children=False,
    strict=False,
    any_machine=False,
):
    """Checks where the threads of living programs sit, as 'seatmap check' does.

    ``pid`` is a process or several, by default this one. ``plan`` has the seats that the threads
    should have. ``rules`` are those of the command line, such as ``"one-per-cpu"``; without any,
    the default ones hold. ``strict`` fails where something could not be seen.
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
    """Which threads of a program talk to each other: the answer of `observe`."""

    #: The pattern, for `place`.
    pattern: Pattern
    _text: str = field(repr=False, compare=False)

    def __str__(self):
        return self._text

    def _repr_html_(self):
        return self.pattern._repr_html_()


def observe(pid, seconds=10, *, method="auto"):
    """Observes for some seconds which threads of a program talk to each other.

    ``method`` is ``wakeups``, ``sockets``, ``goroutines`` or the best of them that is allowed here.
    Most need root. This process cannot sleep and be observed at once: to observe it, call this in
    another thread than those that talk.
    """
    pattern, text = _seatmap.observe(_pids(pid), float(seconds), method)
    return Observation(Pattern._of(pattern), text)


def _pids(pid):
    if pid is None:
        return [os.getpid()]
    return [pid] if isinstance(pid, int) else [int(one) for one in pid]
