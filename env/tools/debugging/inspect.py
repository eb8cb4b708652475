"""The tool that runs to a place and runs code there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.sandbox.replies.records import Hits, Inspected
from stackrank.env.tools.base import Arguments, Bench
from stackrank.env.tools.debugging.following import (
    CODE,
    CONDITION,
    HIT,
    PLACE,
    TEST,
    describe_end,
    follow,
    format_place,
    frames_of,
    frames_text,
    hit_number,
    join_parts,
    state_of,
)
from stackrank.env.tools.debugging.trace import summarize, watched_places

_MOST_FRAMES = 1500


class InspectArguments(Arguments):
    """Where to run to, and which code to run there."""

    body = "code"

    place: str = Field("", description=f"{PLACE} Default: where the test fails.")
    code: str = Field("", description=CODE)
    condition: str = Field("", description=CONDITION)
    hit: int = Field(1, description=HIT)
    test: str | None = Field(None, description=TEST)


class Inspect:
    """Runs a test to a place, runs code there and ends the run."""

    name = "inspect"
    version = "2"
    runs_program = True
    description = (
        "Run a test to a place, or into its failure, run Python code there, and show the values and the frames with "
        "their local variables."
    )
    arguments = InspectArguments

    def __call__(self, bench: Bench, arguments: InspectArguments) -> Observation:
        """Return the frames, the values, and how the run ended."""
        place = arguments.place.strip()
        options: dict[str, Any] = {"place": place, "condition": arguments.condition.strip(), "exception": ""}

        def count_hits() -> int:
            totals = follow(bench, arguments.test, "trace", **options, code="", skip=0, count=0).first(Hits)
            return totals.met if totals else 0

        hit = hit_number(arguments.hit, count_hits) if place else 1
        options |= {"code": arguments.code, "count": 1, "skip": hit - 1}
        run = follow(bench, arguments.test, "inspect", first_failure=not place, **options)
        inspected, totals = run.first(Inspected), run.first(Hits)
        if inspected is None and place and arguments.hit < 0 and totals is not None and totals.met + arguments.hit >= 0:
            # This run had fewer hits than the one that counted them, as with threads and deep recursion.
            hit = totals.met + arguments.hit + 1
            run = follow(bench, arguments.test, "inspect", **{**options, "skip": hit - 1})
            inspected, totals = run.first(Inspected), run.first(Hits)
        frames = inspected.frames if inspected else frames_of(run)
        event = "stopped" if inspected and place else "interrupted" if run.interrupted else "failed"
        state = state_of(run, frames, event, watched_places(totals))
        parts: list[str] = []
        if not place:
            parts += describe_end(run)
        if inspected:
            parts += _show(inspected, place)
        else:
            parts += [
                *summarize(run),
                *([_explain_nothing(hit if arguments.hit > 0 else arguments.hit, totals)] if place else []),
            ]
        if place:
            parts += [f"[{note}]" for note in run.notes] if inspected else describe_end(run)
        return Observation(join_parts(parts, run), state=state)


def _explain_nothing(hit: int, totals: Hits | None) -> str:
    """Say why there are no values."""
    if totals is not None and 0 < hit <= totals.met:
        return f"Hit {hit} was reached, but the code did not run to its end."
    return f"Hit {hit} did not happen, so no code was run."


def _show(inspected: Inspected, place: str) -> Iterator[str]:
    if place and inspected.frames:
        during = f", in {inspected.test}" if inspected.test else ""
        yield f"{format_place(inspected.frames[-1])}, hit {inspected.number}{during}."
    for evaluated in inspected.values:
        code = evaluated.code.replace("\n", "\n... ")
        yield f">>> {code}" + (f"\n{evaluated.value}" if evaluated.value else "")
    yield "The frames, outermost first:"
    yield frames_text(inspected.frames, _MOST_FRAMES)
