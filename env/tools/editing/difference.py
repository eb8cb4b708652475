"""Finds where the runs of two tests first differ. Lines of test files do not count."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from stackrank.env.actions import Observation
from stackrank.env.state import ReachedPlace
from stackrank.env.tools.base import Bench, ToolError
from stackrank.env.tools.debugging.following import (
    Frame,
    Run,
    Stopped,
    Where,
    follow,
    frames_of,
    joined,
    spans,
    spot,
    state_of,
)


class _Line(Where):
    source: str


class _Path(TypedDict):
    places: list[_Line]
    path: list[int]
    tired: bool


def difference(bench: Bench, failing: str | None, passing: str | None) -> Observation:
    """Find the first line at which the runs of two tests differ, and their variables there. Raises ToolError."""
    failing = failing or next((test for test, each in bench.outcomes.items() if each in ("failed", "error")), "")
    passing = passing or _partner(bench, failing)
    if not failing or not passing:
        outcome, argument = ("fails", "test") if not failing else ("passes", "passing")
        raise ToolError(f"no test is known that {outcome}: name one as {argument}")
    tests = (failing, passing)
    runs = [follow(bench, test, "path", from_call=0, capture=0) for test in tests]
    paths = [_lines(run) for run in runs]
    ours, theirs = paths
    same = next((at for at, (one, two) in enumerate(zip(ours, theirs, strict=False)) if one != two), None)
    same = min(map(len, paths)) if same is None else same
    parts = [f"{run.asked}: {_verdict(run)}" for run in runs]
    parts += _parting(ours, theirs, same)
    stopped: list[Frame] = []
    if same:
        moments = [follow(bench, test, "path", from_call=0, capture=same).first("captured", Stopped) for test in tests]
        frames = [moment["frames"] for moment in moments if moment is not None and moment["frames"]]
        if len(frames) == len(tests):
            stopped = frames[0]
            parts += _contrast(frames[0][-1], frames[1][-1])
    only = _only(ours, theirs)
    parts.append(f"Only the first runs {only}." if only else "The first runs no line that the second does not.")
    if any(run.first("path", _Path) is None or _tired(run) for run in runs):
        parts.append("[Only the first lines of the runs were compared.]")
    state = state_of(runs[0], stopped or frames_of(runs[0]), "stopped" if stopped else "failed")
    state["places"] = [
        ReachedPlace(file=each["file"], line=each["line"], function=each["function"], hits=1, shown=1)
        for each in ours[same : same + 1]
    ]
    return Observation(joined(parts, runs[0]), state=state)


def _lines(run: Run) -> list[_Line]:
    path = run.first("path", _Path)
    return [path["places"][number] for number in path["path"] if number < len(path["places"])] if path else []


def _tired(run: Run) -> bool:
    path = run.first("path", _Path)
    return path is not None and path["tired"]


def _parting(ours: list[_Line], theirs: list[_Line], same: int) -> Iterator[str]:
    if same == len(ours) == len(theirs):
        yield f"Both run the same {same} lines of the program: only values differ."
        return
    if same:
        last = ours[same - 1]
        yield f"Both run the same {same} lines of the program, the last {spot(last)}: {last['source']}"
    for name, path in (("first", ours), ("second", theirs)):
        begins = "goes on at" if same else "begins at"
        if same < len(path):
            yield f"The {name} {begins} {spot(path[same])}: {path[same]['source']}"
        else:
            yield f"The {name} runs no further line." if same else f"The {name} runs no line of the program."


def _partner(bench: Bench, failing: str) -> str:
    """Choose a passing test: the same function with other parameters, else one of the same file, else any."""
    passed = [test for test, outcome in bench.outcomes.items() if outcome == "passed"]
    for like in (failing.partition("[")[0], failing.rpartition("::")[0], failing.partition("::")[0], ""):
        found = next((test for test in passed if test.startswith(like)), None)
        if found is not None:
            return found
    return ""


def _verdict(run: Run) -> str:
    if run.failure is not None:
        return " ".join(run.failure["error"].split())[:200]
    return next(iter(run.outcomes.values()), "did not end") if run.outcomes else "did not end"


def _contrast(one: Frame, two: Frame) -> Iterator[str]:
    """Describe the variables whose values differ between two frames."""
    names = list(dict.fromkeys([*one["locals"], *two["locals"]]))
    rows = [(name, *(frame["locals"].get(name, "not set") for frame in (one, two))) for name in names]
    rows = [row for row in rows if row[1] != row[2]]
    yield "Variables that differ there, the first's and the second's:" if rows else "No local variable differs there."
    yield from (f"    {row[0]}: {row[1]} and {row[2]}" for row in rows[:12])


def _only(ours: list[_Line], theirs: list[_Line]) -> str:
    """Name the lines that only the first run executed."""
    return spans({(line["file"], line["line"]) for line in ours} - {(line["file"], line["line"]) for line in theirs})
