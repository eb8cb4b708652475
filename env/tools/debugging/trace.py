"""The tool that logs values at places in the program, without pausing it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from stackrank.debug_events import DebugEvent
from stackrank.env.actions import Observation
from stackrank.env.sandbox.replies.records import Hit, Hits, Location, Raised
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.debugging.following import (
    CODE,
    CONDITION,
    PLACE,
    TEST,
    Run,
    describe_end,
    follow,
    format_lines,
    format_place,
    format_variables,
    frames_of,
    frames_text,
    join_parts,
    start_at,
    state_of,
)
from stackrank.wording import count_of

MOST_PLACES = 8
"""If there are more places, they are summarised."""


class TraceArguments(Arguments):
    """What to log, and where."""

    body = "code"

    place: str = Field("", description=f"Places, separated by commas: `file:first-last`, {PLACE}")
    code: str = Field("", description=f"{CODE} Default: the variables that changed.")
    condition: str = Field("", description=CONDITION)
    hit: int = Field(1, description="The first hit to log, from 1; -3: the last three.")
    count: int = Field(20, ge=1, le=200, description="How many hits to log; the others are only counted.")
    exception: str = Field("", description="An exception class: stop where one is first raised, even if caught later.")
    test: str | None = Field(None, description=TEST)


class Trace:
    """Logs values each time a place is reached."""

    name = "trace"
    version = "3"
    runs_program = True
    description = (
        "Run a test and log values each time a place is reached: a line before it runs, a function when it is called. "
        "Or stop where an exception is first raised."
    )
    arguments = TraceArguments

    def __call__(self, bench: Bench, arguments: TraceArguments) -> Observation:
        """Return the hits, where the exception was raised, and how the run ended."""
        if not arguments.place.strip() and not arguments.exception.strip():
            raise ToolError("nothing to trace: name a `place` or an `exception`")
        exception = arguments.exception.strip()
        if exception and not all(map(str.isidentifier, exception.split("."))):
            raise ToolError(f"{arguments.exception} does not name one exception class: name it as in KeyError")
        options: dict[str, Any] = {"place": arguments.place.strip(), "condition": arguments.condition.strip()}
        options |= {"code": arguments.code, "exception": arguments.exception.strip()}

        def count_hits() -> int:
            totals = follow(bench, arguments.test, "trace", **options, skip=0, count=0).first(Hits)
            return totals.met if totals else 0

        skip = start_at(arguments.hit, count_hits) - 1
        run = follow(bench, arguments.test, "trace", **options, skip=skip, count=arguments.count)
        hits, totals = run.read(Hit), run.first(Hits)
        raised = run.first(Raised)
        frames = raised.frames if raised else frames_of(run)
        event = "raised" if raised else "interrupted" if run.interrupted else "failed"
        state = state_of(run, frames, event, watched_places(totals), raised.error if raised else "")
        parts = [*summarize(run), *_hits(hits, totals), *_exception(arguments.exception, raised, totals)]
        if not raised:
            parts += describe_end(run)
        elif run.notes:
            parts += [f"[{note}]" for note in run.notes]
        if run.interrupted is not None:
            parts += ["It was at:", frames_text(run.interrupted.frames, 1200)]
        return Observation(join_parts(parts, run), state=state)


def watched_places(totals: Hits | None) -> list[DebugEvent]:
    """Return how often each place was reached, as events; empty if the run did not get that far."""
    return [watched_place(place, place.hits, place.shown) for place in (totals.places if totals else ())]


def watched_place(place: Location, hits: int, shown: int) -> DebugEvent:
    """Return a place that was asked for as an event. `shown`: how many of its hits were shown with their values."""
    event: Literal["reached", "watched"] = "reached" if shown else "watched"
    return DebugEvent(event=event, file=place.file, line=place.line, function=place.function, hits=hits)


def summarize(run: Run) -> Iterator[str]:
    """Yield how often the places were reached, and which errors conditions raised."""
    totals = run.first(Hits)
    places = totals.places if totals else ()
    if len(places) > MOST_PLACES:
        hit_lines = format_lines((place.file, place.line) for place in places if place.reached)
        yield f"Reached: {hit_lines or 'none'}."
        never = format_lines((place.file, place.line) for place in places if not place.reached)
        if never:
            yield f"Never reached{run.scope}: {never}."
        places = ()
    for place in places:
        position = f"{place.file}:{place.line}" + (f" in {place.function}" if place.function else "")
        if not place.reached:
            yield f"{position} was never reached{run.scope}."
        elif place.hits == place.reached:
            yield f"{position}: reached {_times(place.reached)}."
        else:
            yield f"{position}: reached {_times(place.reached)}, the condition was true {_times(place.hits)}."
    for problem, times in list(totals.problems.items())[:3] if totals else []:
        yield f"[{problem}, {_times(times)}; counted as false]"


def _hits(hits: list[Hit], totals: Hits | None) -> Iterator[str]:
    several = len({(hit.file, hit.line) for hit in hits}) > 1
    many_tests = len({hit.test for hit in hits}) > 1
    test = ""
    seen_values: set[tuple[str, str]] = set()
    position = 0
    while position < len(hits):
        hit = hits[position]
        if many_tests and hit.test != test:
            yield f"In {hit.test or 'an import'}:"
        test = hit.test
        last = position
        while last + 1 < len(hits) and _repeats(hits[last + 1], hit):
            last += 1
        number = f"#{hit.number}" + (f" to #{hits[last].number}, the same" if last > position else "")
        place = f" {format_place(hit)}" if several else ""
        yield f"{number}{place}: {format_variables(hit.values, seen_values) or 'nothing changed'}"
        position = last + 1
    if totals and hits and totals.met > hits[-1].number:
        yield f"[{count_of(totals.met - hits[-1].number, 'more hit')}; `hit` and `count` choose which are logged]"


def _repeats(left: Hit, right: Hit) -> bool:
    return (left.file, left.line, left.test, left.values) == (
        right.file, right.line, right.test, right.values,
    )  # fmt: skip


def _exception(name: str, raised: Raised | None, totals: Hits | None) -> Iterator[str]:
    if raised is not None:
        during = f" in {raised.test}" if raised.test else ""
        yield f"First raised{during}; the run was ended there: {raised.error}"
        yield frames_text(raised.frames, 2500)
    elif name and totals is not None:
        raised_elsewhere = [f"{place} ({_times(times)})" for place, times in list(totals.raised.items())[:8]]
        yield f"No {name} was raised in the workspace." + (
            f" Other exceptions were raised: {', '.join(raised_elsewhere)}." if raised_elsewhere else ""
        )


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"
