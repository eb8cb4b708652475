"""Finds where the runs of two tests first differ. Lines of test files do not count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stackrank.env.actions import Observation
from stackrank.env.sandbox.guest.testing.ids import function_of, parse_id
from stackrank.env.sandbox.replies.records import Captured, Frame, Path, SourceLine
from stackrank.env.tools.base import Bench, ToolError
from stackrank.env.tools.debugging.following import (
    Run,
    follow,
    format_lines,
    format_place,
    frames_of,
    join_parts,
    state_of,
)
from stackrank.env.tools.debugging.trace import watched_place
from stackrank.wording import count_of


def compare_runs(bench: Bench, failing: str | None, passing: str | None) -> Observation:
    """Find the first line at which the runs of two tests differ, and their variables there. Raises ToolError."""
    failing = failing or next((test for test, outcome in bench.outcomes.items() if outcome in ("failed", "error")), "")
    passing = passing or _choose_passing(bench, failing)
    if not failing or not passing:
        outcome, argument = ("fails", "test") if not failing else ("passes", "passing")
        raise ToolError(f"no known test {outcome}: name one with `{argument}`")
    tests = (failing, passing)
    runs = [follow(bench, test, "path", from_call=0, capture=0) for test in tests]
    paths = [_lines(run) for run in runs]
    ours, theirs = paths
    shared = next(
        (position for position, (line, their_line) in enumerate(zip(ours, theirs, strict=False)) if line != their_line),
        None,
    )
    shared = min(map(len, paths)) if shared is None else shared
    parts = [f"{run.target}: {_verdict(run)}" for run in runs]
    parts += _describe_divergence(ours, theirs, shared)
    stopped: Sequence[Frame] = ()
    if shared:
        moments = [follow(bench, test, "path", from_call=0, capture=shared).first(Captured) for test in tests]
        frames = [moment.frames for moment in moments if moment is not None and moment.frames]
        if len(frames) == len(tests):
            stopped = frames[0]
            parts += _compare_variables(frames[0][-1], frames[1][-1])
    only = _lines_of_first_only(ours, theirs)
    parts.append(f"Only the first runs {only}." if only else "The first runs no line that the second does not run.")
    if any(run.first(Path) is None or _was_cut_short(run) for run in runs):
        parts.append("[Only the beginning of the runs was compared.]")
    places = [watched_place(place, 1, 1) for place in ours[shared : shared + 1]]
    state = state_of(runs[0], stopped or frames_of(runs[0]), "stopped" if stopped else "failed", places)
    return Observation(join_parts(parts, runs[0]), state=state)


def _lines(run: Run) -> list[SourceLine]:
    path = run.first(Path)
    return [path.places[number] for number in path.path if number < len(path.places)] if path else []


def _was_cut_short(run: Run) -> bool:
    path = run.first(Path)
    return path is not None and path.tired


def _describe_divergence(ours: list[SourceLine], theirs: list[SourceLine], shared: int) -> Iterator[str]:
    if shared == len(ours) == len(theirs):
        yield f"Both run the same {count_of(shared, 'line')} of the program; only values differ."
        return
    if shared:
        last = ours[shared - 1]
        same = count_of(shared, "line")
        yield f"Both begin with the same {same} of the program, up to {format_place(last)}: {last.source}"
    for name, path in (("first", ours), ("second", theirs)):
        begins = "continues at" if shared else "begins at"
        if shared < len(path):
            yield f"The {name} {begins} {format_place(path[shared])}: {path[shared].source}"
        else:
            yield f"The {name} runs no further line." if shared else f"The {name} runs no line of the program."


def _choose_passing(bench: Bench, failing: str) -> str:
    """Choose a passing test: the same function with other parameters, else one of the same file, else any."""
    passed = [test for test, outcome in bench.outcomes.items() if outcome == "passed"]
    path, names, _ = parse_id(failing)
    for prefix in (function_of(failing), "::".join((path, *names[:-1])), path, ""):
        candidate = next((test for test in passed if test.startswith(prefix)), None)
        if candidate is not None:
            return candidate
    return ""


def _verdict(run: Run) -> str:
    if run.failure is not None:
        return " ".join(run.error.split())[:200]
    return next(iter(run.outcomes.values()), "did not end") if run.outcomes else "did not end"


def _compare_variables(left: Frame, right: Frame) -> Iterator[str]:
    """Describe the variables whose values differ between two frames."""
    names = list(dict.fromkeys([*left.locals, *right.locals]))
    rows = [(name, *(frame.locals.get(name, "not set") for frame in (left, right))) for name in names]
    rows = [row for row in rows if row[1] != row[2]]
    yield (
        "Variables that differ there, with the values in the first and in the second:"
        if rows
        else "No local variable differs there."
    )
    yield from (f"    {row[0]}: {row[1]} and {row[2]}" for row in rows[:12])


def _lines_of_first_only(ours: list[SourceLine], theirs: list[SourceLine]) -> str:
    """Name the lines that only the first run executed."""
    return format_lines({(line.file, line.line) for line in ours} - {(line.file, line.line) for line in theirs})
