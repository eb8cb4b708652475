"""Whether an observation shows the program failing, and how a run of its tests ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from stackrank.debug_events import KEY
from stackrank.env.actions import Observation
from stackrank.env.task import Task

# pytest's last line, and unittest's last lines.
_SUMMARY = re.compile(r"^(?:=+ )?(?P<counts>\d{1,9} \w+(?:, \d{1,9} \w+)*) in \d+\.\d+s", re.MULTILINE)
_COUNT = re.compile(r"(\d+) (passed|failed|errors?)\b")
_RAN = re.compile(r"^Ran (\d{1,9}) tests? in .*\n\n(?:OK|FAILED \((?P<bad>[^)]*)\))", re.MULTILINE)
# One failed test, as pytest lists it; what went wrong in it; and unittest's heading.
_FAILED = re.compile(r"^(?:FAILED|ERROR) \S+::|^E   +\S|^(?:FAIL|ERROR): \w+ \(", re.MULTILINE)
_TRACEBACK = re.compile(
    r"^Traceback \(most recent call last\):\n(?P<frames>(?:[ \t].*\n)+)(?P<error>[A-Za-z_][\w.]*)", re.MULTILINE
)
_FRAME = re.compile(r'^ +File "(?:/workspace/|\./)?([^"]+)"', re.MULTILINE)
_COMPARED = re.compile(r"(?:^E +|AssertionError: )(?:AssertionError: )?(?:assert )?(.+?) (?:==|!=) (.+)$", re.MULTILINE)
_COMPUTED = re.compile(r"^(?:E +)?\+ +where (.+?) = ", re.MULTILINE)
_TELLING_CHARS = 3
_RUNNING = ("command", "terminal", "debugger", "followed", "server", "none", "other")
"""Kinds of state whose text may be what a program printed."""
_ONE_BY_ONE = ("debugger", "followed")
"""Kinds of state of runs that may have ended before all tests had run."""


class Counts(NamedTuple):
    """How many tests of a run passed, and how many did not."""

    passed: int
    failed: int


class FailureDetector:
    """Knows how the program failed at first, and recognises that failure."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._first = ""
        self._hung = False
        self._wrong: list[re.Pattern[str]] = []

    def learn(self, first: Observation) -> Counts | None:
        """Take the reset, and return how its tests ended."""
        self._first = first.text
        self._hung = bool(first.state.get("timed_out"))
        files = b"\n".join(self._task.files.values()).decode("utf-8", "replace")
        lines = {line.strip() for line in files.split("\n")}
        for value in self._wrong_values():
            # A value that is no word and in no file can only come from a run of the program. Others must stand alone.
            if len(value) >= _TELLING_CHARS and not value.isalpha() and value not in files:
                self._wrong.append(re.compile(rf"(?<![\w.]){re.escape(value)}(?![\w.])"))
            elif value not in lines:
                self._wrong.append(re.compile(rf"(?:^|[=:]) *{re.escape(value)}$", re.MULTILINE))
        return self.read(first)[1]

    def _wrong_values(self) -> set[str]:
        """Return the values that the program computed where the tests wanted something else."""
        computed = set(_COMPUTED.findall(self._first))
        compared = [match.groups() for match in _COMPARED.finditer(self._first)]
        # pytest says which side was computed; if it does not, take the left one, as most people write assertions.
        wrong = [value for pair in compared for value in ([side for side in pair if side in computed] or pair[:1])]
        return {value.strip("'\"") for value in wrong} - {""}  # texts are printed without their quotes

    def read(self, observation: Observation) -> tuple[bool, Counts | None]:
        """Return whether the program is seen to fail, and how its tests ended, if they were run."""
        state = observation.state
        if state["kind"] == "tests":
            tests = state.get("tests")
            counts = Counts(tests["passed"], tests["failed"]) if tests else None
            bad = bool(state.get("exit") or state.get("timed_out") or (counts and counts.failed))
            return bad, counts
        if state["kind"] not in _RUNNING:
            return False, None
        tests_run = _summary(observation.text)
        failed = bool(tests_run and tests_run.failed) or any(self._signs(observation))
        return failed, None if state["kind"] in _ONE_BY_ONE else tests_run

    def _signs(self, observation: Observation) -> Iterator[bool]:
        state, text = observation.state, observation.text
        for event in state.get(KEY) or ():
            yield event["event"] == "failed"
            # Whether the test would have failed with it is unknown; how it failed at first is known.
            error = event.get("exception", "").split("\n")[0]
            yield event["event"] == "raised" and bool(error) and error in self._first
        yield self._hung and bool(state.get("timed_out"))
        yield bool(_FAILED.search(text))
        yield any(map(self._ours, _TRACEBACK.finditer(text)))
        yield any(wrong.search(text) for wrong in self._wrong)
        if state["kind"] == "command" and state["exit"]:
            output = _without_note(text).strip()
            yield len(output) >= _TELLING_CHARS and output in self._first

    def _ours(self, traceback: re.Match[str]) -> bool:
        """Whether a traceback shows the program's failure, not a slip in the code that the agent wrote to run it."""
        error = traceback["error"].rpartition(".")[2]
        if error == "AssertionError":
            return True
        files = [file for file in _FRAME.findall(traceback["frames"]) if file in self._task.files]
        return bool(files) and (not self._task.shows_bug or bool(re.search(rf"\b{error}\b", self._first)))


def _without_note(text: str) -> str:
    """Return what a command printed, without the note on its end, as in `[exit status 1]`."""
    lines, newline, last = text.rpartition("\n")
    return lines + newline + "".join(takewhile("[".__ne__, last)) if text.endswith("]") else text


def _summary(text: str) -> Counts | None:
    for match in reversed([*_SUMMARY.finditer(text)]):
        counts = {name.rstrip("s"): int(number) for number, name in _COUNT.findall(match["counts"])}
        if counts:
            return Counts(counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0))
    for match in reversed([*_RAN.finditer(text)]):
        bad = sum(map(int, re.findall(r"(?:failures|errors)=(\d{1,9})\b", match["bad"] or "")))
        return Counts(int(match[1]) - bad, bad)
    return None
