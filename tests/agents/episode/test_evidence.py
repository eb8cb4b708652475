"""What observations show, read from their text if the state does not say it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from stackrank.agents.episode.evidence import CodeRange, EvidenceReader
from stackrank.agents.episode.line_map import LineMap
from stackrank.agents.episode.milestones import MilestoneTracker
from stackrank.env.actions import Observation
from stackrank.env.patches import find_faults
from stackrank.env.task import Fault
from stackrank.patches.writing import file_diff
from tests.fixtures.env import make_task

SOURCE = """
    def total(prices):
        result = 0
        for price in prices:
            result += price
        return result - 1


    def mean(prices):
        whole = total(prices)
        print()
        print()
        print()
        return whole / len(prices)
"""
TASK = make_task(
    {"shop/cart.py": SOURCE, "shop/x.py": "print()\n", "tests/test_cart.py": "print()\n"},
    faults=(Fault("shop/cart.py", ("total",), (5,)),),
)
FAILED = {"kind": "tests", "exit": 1, "solved": False, "tests": {"passed": 1, "failed": 1, "ids": {}}}
RESET = Observation(
    """E   assert 1005 == 1006
E   assert 7 == 8
E   assert 14 == 13
E    +  where 13 = total([14])
E   AssertionError: assert 'open' == 'shut'
KeyError: 'x'
[exit status 1]""",
    state=FAILED,
)  # type: ignore[arg-type]


def reached(text: str, **state: Any) -> set[str]:
    """The milestones of one step with this text, and with the state of a command or the given one."""
    tracker = MilestoneTracker(TASK)
    tracker.observe(0, RESET)
    return set(tracker.observe(1, Observation(text, state=state or {"kind": "command", "exit": 0})).milestones)  # type: ignore[arg-type]


@pytest.mark.parametrize("digits", [10, 20, 5000])
def test_numbers_of_any_length_can_be_read_and_stored(digits: int) -> None:
    """An error in reading an observation, or in storing the step, would keep the episode from counting."""
    number = "9" * digits
    for text in (
        f"shop/cart.py:{number}: x",
        f'  File "/workspace/shop/cart.py", line {number}, in total',
        f"=== {number} failed, {number} passed in 0.1s ===",
        f"Ran {number} tests in 1s\n\nFAILED (failures={number})",
        f"Ran 1 test in 1s\n\nFAILED (failures={number}, errors={number})",
    ):
        for kind in ("command", "other"):
            tracker = MilestoneTracker(TASK)
            tracker.observe(0, RESET)
            progress = tracker.observe(1, Observation(text, state={"kind": kind, "exit": 1}))  # type: ignore[arg-type]
            assert (progress.distance_lines or 0) < 1 << 31


@pytest.mark.parametrize("text", ["\n", "[", "E   ", "Traceback (most recent call last):\n  ", "AssertionError: ", "="])
def test_text_that_repeats_itself_is_read_once(text: str) -> None:
    """A time that grows with the square of the length would be minutes, in which no limit is checked."""
    assert reached(text * (1_000_000 // len(text)), kind="command", exit=1) <= {"reproduced"}


@pytest.mark.parametrize(
    "text",
    [
        "    return result - 1",
        "5:    return result - 1",
        "shop/cart.py:5:    return result - 1",
        "     5\t    return result - 1",
        "def total(prices):\n    result = 0",
        'Traceback (most recent call last):\n  File "/workspace/shop/cart.py", line 5, in total\nOverflowError: no',
        "-> return result - 1",
        "-    return result - 1\n+    return result",
    ],
)
def test_text_shows_the_fault(text: str) -> None:
    assert "localized" in reached(text)
    assert "localized" in reached(text, kind="other")


@pytest.mark.parametrize(
    "text",
    [
        "print()\nprint()",  # stands in several files
        "shop/x.py:5: print()",
        "shop/cart.py",
        "    return whole / len(prices)",  # eight lines below
        "shop/cart.py:12:    print()",
        "no_return result - 1x",
    ],
)
def test_text_shows_something_else(text: str) -> None:
    assert reached(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "1 failed, 1 passed in 0.00s",
        "=== 2 failed in 0.00s ===",
        "FAILED tests/test_cart.py::test_total - assert 5 == 6",
        "E   assert 5 == 6",
        "1005",
        "the sum is 1005, it seems",
        "7",
        "items\nthe sum: 7\n",
        "sum=13",
        "open",
        "Ran 2 tests in 0.00s\n\nFAILED (failures=1)",
        "FAIL: test_total (tests.Cart)",
        'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\nAssertionError',
        "Traceback (most recent call last):\n  File \"/workspace/shop/x.py\", line 1, in <module>\nKeyError: 'x'",
    ],
)
def test_text_shows_the_failure(text: str) -> None:
    assert "reproduced" in reached(text)
    assert "reproduced" in reached(text, kind="none")
    assert "reproduced" not in reached(text, kind="shown", path="log.txt")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2 passed in 0.00s",
        "no tests ran in 0.00s",
        "ERROR: file or directory not found: tests/none.py",
        "10055",
        "1006 is expected, 5 came",
        "35 lines",
        "wanted: 14",
        "1 3 7",
        "open it",
        "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nKeyError: 'x'",
        'Traceback (most recent call last):\n  File "/workspace/shop/x.py", line 1, in <module>\nTypeError: no',
        "Ran 2 tests in 0.00s\n\nOK",
    ],
)
def test_text_shows_no_failure(text: str) -> None:
    assert "reproduced" not in reached(text, kind="command", exit=1)


def test_a_command_that_fails_as_the_tests_did_at_first_shows_the_failure() -> None:
    assert "reproduced" in reached("KeyError: 'x'\n[exit status 1]", kind="command", exit=1)
    assert "reproduced" not in reached("KeyError: 'x'", kind="command", exit=0)


def test_only_all_tests_passing_in_the_shell_solves() -> None:
    assert reached("== 2 passed in 0.01s ==") == {"improved", "solved"}
    assert reached("2 passed in 0.01s", kind="other") == {"improved", "solved"}
    assert reached("1 passed in 0.01s") == set()
    assert reached("3 passed in 0.01s") == set(), "with tests of its own, the number of tests proves nothing"


def test_events_show_what_a_debugger_saw_and_no_wording_does() -> None:
    place = {"file": "shop/cart.py", "line": 4, "function": "total"}
    for kind in ("debugger", "followed", "server", "terminal", "command", "other"):
        for event, milestones in (
            ("watched", {"breakpoint"}),
            ("reached", {"breakpoint", "inspected", "localized"}),
            ("paused", {"inspected", "localized"}),
            ("failed", {"inspected", "localized", "reproduced"}),
        ):
            assert reached("", kind=kind, exit=0, debug_events=[{"event": event, **place}]) == milestones
    assert reached("", kind="other", debug_events=[{"event": "failed"}]) == {"reproduced"}, "a place need not be known"
    stopped = "Breakpoint 1 at /workspace/shop/cart.py:5\n> /workspace/shop/cart.py(5)total()"
    for kind in ("debugger", "terminal", "command", "server", "other"):
        assert reached(stopped, kind=kind, exit=0) == set()


def test_a_raised_exception_shows_the_failure_if_the_tests_failed_with_it() -> None:
    raised = {"event": "raised", "file": "shop/x.py", "line": 1}
    assert reached("", kind="other", debug_events=[{**raised, "exception": "KeyError: 'x'\nmore"}]) == {"reproduced"}
    assert reached("", kind="other", debug_events=[{**raised, "exception": "ValueError: 'x'"}]) == set()
    assert reached("", kind="other", debug_events=[raised]) == set()


def test_line_numbers_follow_the_edits() -> None:
    """After insertions, removals and replacements, a remaining line is found under its original number."""
    dice = random.Random(3)
    for _ in range(60):
        first = [b"line %d\n" % number for number in range(1, 40)]
        lines, lines_map = list(first), LineMap({"a.py": b"".join(first)})
        for _ in range(dice.randrange(1, 6)):
            content = b"".join(lines)
            at, removed = dice.randrange(len(lines) + 1), dice.randrange(4)
            lines[at : at + removed] = [b"new %d\n" % dice.randrange(10**6) for _ in range(dice.randrange(4))]
            lines_map.apply(file_diff("a.py", content, b"".join(lines)))
        for number, line in enumerate(lines, 1):
            if line.startswith(b"line"):
                original = int(line.split()[1])
                assert lines_map.original("a.py", number, number) == (original, original)


def test_an_insertion_touches_both_sides_and_an_unshown_change_the_whole_file() -> None:
    lines_map = LineMap({"a.py": b"1\n2\n3\n"})
    assert [*lines_map.changed(file_diff("a.py", b"1\n2\n3\n", b"1\n2\nnew\n3\n"))] == [
        ("a.py", (2, 2)),
        ("a.py", (3, 3)),
    ]
    assert [*lines_map.changed("diff --git a/a.py b/a.py\nBinary files a/a.py and b/a.py differ\n")] == [("a.py", None)]
    assert [*lines_map.changed("no diff")] == []


def test_an_edit_by_any_tool_counts_but_not_changes_by_a_test_run() -> None:
    content = TASK.files["shop/cart.py"]
    diff = file_diff("shop/cart.py", content, content.replace(b"- 1", b"- 2"))
    for kind in ("command", "terminal", "none", "other", "debugger"):
        evidence = EvidenceReader(TASK).read(Observation("", state={"kind": kind, "exit": 0, "diff": diff}))  # type: ignore[arg-type]
        assert evidence.edited == (CodeRange("shop/cart.py", (5, 5)),)
    assert EvidenceReader(TASK).read(Observation("", state={**FAILED, "diff": diff})).edited == ()  # type: ignore[arg-type]
    tests = file_diff("tests/test_cart.py", b"print()\n", b"")
    assert EvidenceReader(TASK).read(Observation("", state={"kind": "command", "exit": 0, "diff": tests})).edited == ()  # type: ignore[arg-type]


def test_an_import_that_the_fix_needs_is_no_fault() -> None:
    buggy = b"import os\n\n\ndef a():\n    return 1\n\n\ndef b():\n    return 2\n"
    fixed = buggy.replace(b"import os\n", b"import os\nimport re\n").replace(b"return 2", b"return re.I")
    (fault,) = find_faults({"a.py": buggy}, file_diff("a.py", buggy, fixed))
    assert (fault.lines, fault.functions) == ((9,), ("b",))
    only = file_diff("a.py", buggy, buggy.replace(b"import os\n", b"import os\nimport re\n"))
    assert find_faults({"a.py": buggy}, only)[0].lines == (1, 2)
