"""Places in hot loops are counted without leaving the program, and the numbers are those of `sys.settrace`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.sandbox.guest.debugging.observers.gates import NEVER, Gate
from stackrank.env.sandbox.guest.debugging.observers.insertion import Inserter, usable
from stackrank.env.sandbox.guest.debugging.observers.laboratory import OBSERVERS
from stackrank.env.sandbox.guest.debugging.observers.report_stream import Storyteller
from stackrank.env.sandbox.guest.debugging.observers.tracing import Own, SetTracer, Tracer
from stackrank.env.sandbox.guest.debugging.places import Names

pytestmark = pytest.mark.skipif(not usable(), reason="hooks are put into code of Python 3.11 only")

PROGRAM = """
def inner(n):
    return n + 1
def small(n):
    if n % 500 == 499:
        raise KeyError(n)
    return inner(n)
def again(n):
    return 0 if n < 1 else again(n - 1)
def pairs(n):
    for each in range(n):
        yield each
def work():
    total = 0
    for each in range(3000):
        try:
            total += small(each)
        except KeyError:
            total -= 1
        for one in pairs(2):
            total += one
        again(2)
    for each in range(2000):
        total += each
    raise ValueError(total)
"""


class _Written:
    """A report that is kept."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def write(self, kind: str, **record: Any) -> None:
        self.records.append({"kind": kind, **record})


def watched(
    folder: Path, mode: str, tracer: type[Tracer] = Inserter, **spec: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The records of one run, and what was known where its error was raised."""
    (folder / "program.py").write_text(PROGRAM)
    is_own, report = Own(str(folder)), _Written()
    observer = OBSERVERS[mode]({"root": str(folder), **spec}, Storyteller(is_own, Names(), report))  # type: ignore[abstract, arg-type]
    observer.stop_now = lambda ending: None
    follower = observer.tracer = tracer(observer, is_own)
    code = compile(PROGRAM, str(folder / "program.py"), "exec", dont_inherit=True)
    names: dict[str, Any] = {"__name__": "program"}
    exec(follower.instrumented(code) if isinstance(follower, Inserter) else code, names)
    old_tracer = sys.gettrace()
    observer.begin_test()
    follower.start()
    place: dict[str, Any] = {}
    try:
        names["work"]()
    except ValueError as error:
        place = observer.where_raised(error) or {}
    finally:
        follower.stop()
        sys.settrace(old_tracer)
    observer.finish()
    return report.records, place


def test_a_gate_counts_what_it_lets_pass() -> None:
    gate = Gate()
    assert gate.told() == 1
    gate.next(4)
    passed = [next(gate.cell[0], "called") for _ in range(3)]
    assert passed == [None, None, "called"] and gate.count == 3
    assert gate.told() == 4
    gate.next(2)
    assert next(gate.cell[0], "called") == "called", "the second time is over"
    gate.next(NEVER)
    assert [next(gate.cell[0], "called") for _ in range(5)] == [None] * 5 and gate.count == 9
    gate.reset(2)
    assert gate.count == 0 and next(gate.cell[0], "called") is None and gate.count == 1


HITS = {"skip": 0, "count": 5, "code": "", "condition": "", "exception": ""}


@pytest.mark.parametrize(
    ("mode", "spec"),
    [
        ("trace", {**HITS, "place": "small"}),
        ("trace", {**HITS, "place": "small", "skip": 2990}),
        ("trace", {**HITS, "place": "small, program.py:3, program.py:17-20"}),
        ("trace", {**HITS, "place": "program.py:3, again", "code": "n", "condition": "n % 900 == 3"}),
        ("trace", {**HITS, "place": "program.py:3, program.py:3", "skip": 100}),
        ("trace", {**HITS, "place": "", "exception": "OSError"}),
        ("calls", {"place": "small", "first": 1, "last": 8, "condition": "", "numbers": []}),
        ("calls", {"place": "small", "first": 2500, "last": 2500, "condition": "", "numbers": []}),
        ("calls", {"place": "again", "first": 8998, "last": 9005, "condition": "", "numbers": []}),
        ("calls", {"place": "pairs", "first": 2993, "last": 3000, "condition": "", "numbers": []}),
        ("path", {"from_call": 0, "capture": 0}),
        ("path", {"from_call": 0, "capture": 20_000}),
    ],
)
def test_what_is_told_is_what_settrace_tells(tmp_path: Path, mode: str, spec: dict[str, Any]) -> None:
    ours, theirs = (watched(tmp_path, mode, tracer, **spec)[0] for tracer in (Inserter, SetTracer))
    if mode == "path":  # of a path that was captured nothing more is wanted
        ours, theirs = (
            [record for record in records if record["kind"] == "captured"] or records for records in (ours, theirs)
        )
    assert ours == theirs and ours


def test_lines_that_nobody_looks_at_are_counted(tmp_path: Path) -> None:
    clock = {"from_call": 0, "from_line": 0, "keep": 5, "capture": 0}
    all_of = watched(tmp_path, "steps", SetTracer, budget=NEVER, **clock)[1]
    last_stops = watched(tmp_path, "steps", budget=50, **clock)[1]
    assert last_stops["tired"] and last_stops["counted"] and not all_of["tired"] and not all_of["counted"]
    assert (last_stops["lines"], last_stops["calls"]) == (all_of["lines"], all_of["calls"])
    late = watched(tmp_path, "steps", budget=50, **{**clock, "from_line": all_of["lines"] - 4})[1]
    values = [{name: value for name, value in stop.items() if name != "changed"} for stop in all_of["stops"]]
    assert [{name: value for name, value in stop.items() if name != "changed"} for stop in late["stops"]] == values
    window = {**clock, "from_call": all_of["calls"] - 20, "from_line": NEVER}
    assert (
        watched(tmp_path, "steps", budget=50, **window)[1]["lines"]
        == watched(tmp_path, "steps", SetTracer, budget=50, **window)[1]["lines"]
    )


def test_the_tree_counts_what_it_does_not_place(tmp_path: Path) -> None:
    ours, theirs = (watched(tmp_path, "tree", kind, from_call=0)[0][-1]["rows"] for kind in (Inserter, SetTracer))
    for row, expected_row in zip(ours, theirs, strict=True):
        assert (row["function"], row["depth"]) == (expected_row["function"], expected_row["depth"]), (
            "each stands where it stood"
        )
        calls = [tree["count"] + tree["recursive"] + tree["counted"] for tree in (row, expected_row)]
        assert calls[0] == calls[1], row["function"]
    assert sum(row["counted"] for row in ours) > 10_000
