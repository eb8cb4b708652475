"""The agent's questions to `trace`: which lines a test runs, and the values where it fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stackrank.env.actions import Action, Observation
from stackrank.env.sandbox.guest.testing.ids import function_of, path_of

MOST_PASSING = 2
"""The most passing tests that are traced."""


def ask_lines(files: Mapping[str, str], test: str) -> Action:
    """Ask which lines of the files a test runs."""
    places = [f"{path}:1-{text.count(chr(10)) + 1}" for path, text in sorted(files.items())]
    return Action("trace", {"place": ", ".join(places), "count": 1, "test": test})


def lines_run(observation: Observation) -> dict[str, set[int]]:
    """Return path -> the lines that were run."""
    state = observation.state
    by_file: dict[str, set[int]] = {}
    for event in state.get("debug_events", []):
        if event.get("hits"):
            by_file.setdefault(event["file"], set()).add(event["line"])
    return by_file


def values_at_failure(observation: Observation) -> dict[str, str]:
    """Return the local variables where the test failed."""
    state = observation.state
    return dict(state.get("locals", {})) if state["kind"] == "followed" else {}


def alike(failing: str, tests: Mapping[str, str]) -> Sequence[str]:
    """Return passing tests, those most like the failing one first: same function with other parameters, same file."""

    function, file = function_of(failing), path_of(failing)
    passing = [test for test, outcome in tests.items() if outcome == "passed"]
    passing.sort(key=lambda test: (function_of(test) != function, path_of(test) != file))
    return passing[:MOST_PASSING]


def spectrum(
    failing: Mapping[str, set[int]], passing: Iterable[Mapping[str, set[int]]], total_failing: int
) -> dict[str, dict[int, tuple[int, int]]]:
    """Return path -> line -> (failing tests that run it, passing ones); the traced test stands for all that fail."""
    runs = list(passing)
    return {
        path: {line: (total_failing, sum(line in run.get(path, ()) for run in runs)) for line in sorted(lines)}
        for path, lines in failing.items()
    }
