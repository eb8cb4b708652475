"""The tool that shows the calls of a function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from stackrank.env.actions import Observation
from stackrank.env.state import ReachedPlace
from stackrank.env.tools.base import Arguments, Bench
from stackrank.env.tools.debugging.following import TEST, Run, Where, ending, follow, frames_of, joined, state_of
from stackrank.env.tools.shown import clipped

TOLD = 8
"""How many calls are shown from each end of the list."""
_MOST_VALUE = 120


class CallsArguments(Arguments):
    """Which calls to show."""

    function: str = Field(description="`function`, `Class.method` or `file:function`.")
    n: int | None = Field(
        None, description="Number of the call to show whole, from 1; -1 is the last. Default: all of them, in short."
    )
    test: str | None = Field(None, description=TEST)


class _Caller(TypedDict, total=False):
    file: str
    line: int
    function: str


class _Call(Where):
    number: int
    test: str
    arguments: dict[str, str]
    caller: _Caller
    result: NotRequired[str]
    raised: NotRequired[str]
    yielded: list[str]
    yields: int
    changed: list[str]
    more: int
    open: NotRequired[bool]


class _Place(Where):
    name: str


class _Totals(TypedDict):
    count: int
    raised: list[int]
    raised_too: int
    places: list[_Place]


class Calls:
    """Shows what the calls of a function received, returned and changed."""

    name = "calls"
    version = "2"
    runs_program = True
    description = (
        "Run a test and show the calls of a function: arguments, result or exception, and what the call changed in "
        "its arguments, their attributes and globals."
    )
    arguments = CallsArguments

    def __call__(self, bench: Bench, arguments: CallsArguments) -> Observation:
        """Return the calls and how the run ended."""
        n = arguments.n or 0
        first, last = (n, n) if n > 0 else (1, TOLD) if n == 0 else (0, 0)

        def run(first: int, last: int) -> Run:
            return follow(bench, arguments.test, "calls", function=arguments.function, first=first, last=last)

        found = run(first, last)
        totals = found.first("calls", _Totals)
        count = totals["count"] if totals else 0
        told = found.read("call", _Call)
        # The numbers of the last calls are known only now, so the program runs again to show them.
        if n < 0 and count + n >= 0:
            told = run(count + n + 1, count + n + 1).read("call", _Call)
        elif n == 0 and count > TOLD:
            told += run(max(count - TOLD, TOLD) + 1, count).read("call", _Call)
        told.sort(key=lambda call: call["number"])
        places = [
            ReachedPlace(file=each["file"], line=each["line"], function=each["function"], hits=count, shown=len(told))
            for each in (totals["places"] if totals else [])
        ]
        state = state_of(found, frames_of(found), "failed", places)
        head = _head(arguments.function, totals)
        if n and told:
            parts = [head, *_whole(told[0]), *ending(found)]
        elif n and count:
            parts = [f"{head} There is no call {n}.", *ending(found)]
        else:
            parts = [head, *_listed(told), *ending(found)]
        return Observation(joined(parts, found), state=state)


def _head(function: str, totals: _Totals | None) -> str:
    if totals is None:
        return f"How often {function} was called is not known."
    places = ", ".join(f"{each['function']} at {each['file']}:{each['line']}" for each in totals["places"][:4])
    count = totals["count"]
    if not count:
        return f"{function} ({places}) was never called."
    named = [f"#{number}" for number in totals["raised"][:10]]
    others = len(totals["raised"]) - len(named) + totals["raised_too"]
    named += [f"{others} more of them"] if others else []
    by = f"; an exception left {', '.join(named)}" if named else ""
    return f"{function} ({places}): {count} call{'s' if count > 1 else ''}{by}."


def _listed(told: list[_Call]) -> Iterator[str]:
    before = 0
    for call, *others in _alike(told):
        if before and call["number"] > before + 1:
            yield f"[#{before + 1} to #{call['number'] - 1} left out: n shows one of them]"
        before = (others or [call])[-1]["number"]
        same = f" to #{before}, the same:" if others else ""
        yield f"#{call['number']}{same} {_call(call)} -> {_result(call)}"
        if call["changed"]:
            yield "    changed " + clipped("; ".join(call["changed"]) + _more(call), 300)


def _alike(told: list[_Call]) -> Iterator[list[_Call]]:
    """Group consecutive calls that do not differ."""
    group: list[_Call] = []
    for call in told:
        if group and (call["number"] > group[-1]["number"] + 1 or _shown(call) != _shown(group[0])):
            yield group
            group = []
        group.append(call)
    if group:
        yield group


def _shown(call: _Call) -> dict[str, object]:
    return {name: value for name, value in call.items() if name not in ("number", "caller", "test")}


def _whole(call: _Call) -> Iterator[str]:
    caller = call["caller"]
    by = f", called at {caller['file']}:{caller['line']} in {caller['function']}" if caller.get("file") else ""
    during = f", in {call['test']}" if call["test"] else ""
    yield f"Call #{call['number']} of {call['function']}{by}{during}"
    yield from (f"    {name} = {value}" for name, value in call["arguments"].items())
    yield f"Result: {_result(call)}"
    if call["changed"]:
        yield "It changed:"
        yield from (f"    {change}" for change in call["changed"])
        yield from ([f"    {_more(call).strip('; ')}"] if call["more"] else [])
    else:
        yield "It changed nothing of its arguments and the globals that it uses."


def _call(call: _Call) -> str:
    given = ", ".join(f"{name}={_short(name, value)}" for name, value in call["arguments"].items())
    return f"{call['function']}({given})"


def _result(call: _Call) -> str:
    yielded = ""
    if call["yields"]:
        more = ", ..." if call["yields"] > len(call["yielded"]) else ""
        yielded = f"yielded {call['yields']}: {', '.join(call['yielded'])}{more}; "
    if call.get("open"):
        return f"{yielded}its end was not seen"
    if "raised" in call:
        return f"{yielded}raised {' '.join(call['raised'].split())}"
    return yielded + clipped(call.get("result", ""), 400)


def _more(call: _Call) -> str:
    return f"; and {call['more']} more" if call["more"] else ""


def _short(name: str, value: str) -> str:
    """Shorten a value. The beginning of a large `self` is the same in every call, so only its class is shown."""
    if name == "self" and len(value) > _MOST_VALUE and value.startswith("<"):
        return f"{value.split(maxsplit=1)[0]} ...>"
    return clipped(value, _MOST_VALUE)
