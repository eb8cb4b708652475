"""The tool that shows the calls of a function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.sandbox.guest.core import files as guest_files
from stackrank.env.sandbox.guest.debugging.places import separate_condition
from stackrank.env.sandbox.replies.records import Calls as Totals
from stackrank.env.sandbox.replies.records import ObservedCall
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.debugging.following import (
    CONDITION,
    HIT,
    NO_HIT,
    TEST,
    Run,
    describe_end,
    follow,
    format_place,
    frames_of,
    join_parts,
    state_of,
)
from stackrank.env.tools.debugging.trace import watched_place
from stackrank.env.tools.shown import clip

CALLS_PER_END = 8
"""How many calls are shown from each end of the list."""
_MOST_VALUE = 120


class CallsArguments(Arguments):
    """Which calls to show."""

    place: str = Field(description="The function: `function`, `package.Class.method` or `module:function`.")
    condition: str = Field("", description=f"{CONDITION} It may use the arguments, `result` and `raised`.")
    hit: int | None = Field(None, description=f"{HIT} Default: a line for each call.")
    test: str | None = Field(None, description=TEST)


class Calls:
    """Shows what the calls of a function received, returned and changed."""

    name = "calls"
    version = "4"
    runs_program = True
    description = (
        "Run a test and show the calls of a function: arguments, result or exception, and what the call changed in "
        "its arguments, their attributes and globals."
    )
    arguments = CallsArguments

    def __call__(self, bench: Bench, arguments: CallsArguments) -> Observation:
        """Return the calls and how the run ended."""
        if arguments.hit == 0:
            raise ToolError(NO_HIT)
        n = arguments.hit or 0
        try:
            function, condition = separate_condition(arguments.place.strip(), arguments.condition.strip())
        except guest_files.Refused as refused:
            raise ToolError(str(refused)) from None

        def run(first: int, last: int, condition: str = "", numbers: Sequence[int] = ()) -> Run:
            options: dict[str, Any] = {"first": first, "last": last, "condition": condition, "numbers": list(numbers)}
            return follow(bench, arguments.test, "calls", place=function, **options)

        if condition:
            report = run(0, -1, condition)
            totals = report.first(Totals)
            matching = totals.matching if totals else ()
            count = len(matching)
            chosen = matching[n - 1 if n > 0 else n :][:1] if n and -count <= n <= count else ()
            chosen = chosen if n else (*matching[:CALLS_PER_END], *matching[CALLS_PER_END:][-CALLS_PER_END:])
            # The calls that meet the condition are known only now, so the program runs again to show them.
            calls = run(chosen[0], chosen[-1], numbers=chosen).read(ObservedCall) if chosen else []
        else:
            report = run(*((n, n) if n > 0 else (1, CALLS_PER_END) if n == 0 else (0, 0)))
            totals = report.first(Totals)
            count = totals.count if totals else 0
            calls = report.read(ObservedCall)
            # The numbers of the last calls are known only now, so the program runs again to show them.
            if n < 0 and count + n >= 0:
                calls = run(count + n + 1, count + n + 1).read(ObservedCall)
            elif n == 0 and count > CALLS_PER_END:
                calls += run(max(count - CALLS_PER_END, CALLS_PER_END) + 1, count).read(ObservedCall)
        calls.sort(key=lambda call: call.number)
        places = [watched_place(place, count, len(calls)) for place in (totals.places if totals else ())]
        state = state_of(report, frames_of(report), "failed", places)
        head = _head(function, totals, report.scope)
        if condition and totals:
            head += f" The condition was true for {count or 'none'}." + "".join(_problems(totals))
        if n and calls:
            parts = [head, *_details(calls[0]), *describe_end(report)]
        elif n and count:
            parts = [f"{head} There is no call {n}.", *describe_end(report)]
        else:
            parts = [head, *_summaries(calls, bool(condition)), *describe_end(report)]
        return Observation(join_parts(parts, report), state=state)


def _head(function: str, totals: Totals | None, scope: str) -> str:
    if totals is None:
        return f"The number of calls of {function} is unknown."
    places = ", ".join(f"{place.file}:{place.line} in {place.function}" for place in totals.places[:4])
    count = totals.count
    if not count:
        return f"{places} was never called{scope}."
    numbers = [f"#{number}" for number in totals.raised[:10]]
    omitted = len(totals.raised) - len(numbers) + totals.raised_too
    numbers += [f"{omitted} more"] if omitted else []
    by = f"; {', '.join(numbers)} raised an exception" if numbers else ""
    return f"{places}: {count} call{'s' if count > 1 else ''}{by}."


def _problems(totals: Totals) -> Iterator[str]:
    for problem, times in list(totals.problems.items())[:3]:
        yield f"\n[{problem}, {'once' if times == 1 else f'{times} times'}; counted as false]"


def _summaries(calls: list[ObservedCall], selected: bool) -> Iterator[str]:
    last_number = 0
    for call, *repeats in _group_repeats(calls):
        if not selected and last_number and call.number > last_number + 1:
            yield f"[#{last_number + 1} to #{call.number - 1} omitted: `hit` shows one of them]"
        last_number = (repeats or [call])[-1].number
        repeated = f" to #{last_number}, the same:" if repeats else ""
        yield f"#{call.number}{repeated} {_call(call)} -> {_result(call)}"
        if call.changed:
            yield "    changed " + clip("; ".join(call.changed) + _omitted(call), 300)


def _group_repeats(calls: list[ObservedCall]) -> Iterator[list[ObservedCall]]:
    """Group consecutive calls that do not differ."""
    group: list[ObservedCall] = []
    for call in calls:
        if group and (call.number > group[-1].number + 1 or _comparable(call) != _comparable(group[0])):
            yield group
            group = []
        group.append(call)
    if group:
        yield group


def _comparable(call: ObservedCall) -> list[object]:
    names = (field.name for field in fields(call) if field.name not in ("number", "caller", "test"))
    return [getattr(call, name) for name in names]


def _details(call: ObservedCall) -> Iterator[str]:
    caller = call.caller
    by = f", called at {format_place(caller)}" if caller is not None else ""
    during = f", in {call.test}" if call.test else ""
    yield f"Call #{call.number} of {call.function}{by}{during}"
    yield from (f"    {name} = {value}" for name, value in call.arguments.items())
    yield f"Result: {_result(call)}"
    if call.changed:
        yield "It changed:"
        yield from (f"    {change}" for change in call.changed)
        yield from ([f"    {_omitted(call).strip('; ')}"] if call.more else [])
    else:
        yield "It changed none of its arguments, nor the variables outside that it uses (classes are not compared)."


def _call(call: ObservedCall) -> str:
    arguments = ", ".join(f"{name}={_short(name, value)}" for name, value in call.arguments.items())
    return f"{call.function}({arguments})"


def _result(call: ObservedCall) -> str:
    yielded = ""
    if call.yields:
        ellipsis = ", ..." if call.yields > len(call.yielded) else ""
        yielded = f"yielded {call.yields}: {', '.join(call.yielded)}{ellipsis}; "
    if call.raised is not None:
        return f"{yielded}raised {' '.join(call.raised.split())}"
    if call.result is not None:
        return yielded + clip(call.result, 400)
    return f"{yielded}did not return before the run ended"


def _omitted(call: ObservedCall) -> str:
    return f"; and {call.more} more" if call.more else ""


def _short(name: str, value: str) -> str:
    """Shorten a value. The beginning of a large `self` is the same in every call, so only its class is shown."""
    if name == "self" and len(value) > _MOST_VALUE and value.startswith("<"):
        return f"{value.split(maxsplit=1)[0]} ...>"
    return clip(value, _MOST_VALUE)
