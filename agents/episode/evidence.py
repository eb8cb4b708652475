"""What one observation of any tool shows: the lines that were seen, changed or paused at, and failures.

What the observation's state says exactly is taken from there (`env.state`). The rest is read from the text, as a person
would read it: the lines of a file that `cat` or `grep` prints, the summary of pytest. What a debugger saw is not read
from the text: tools report it as events (`stackrank.debug_events`). Line numbers are those of the files as the agent
first saw them, even if lines were inserted above since.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from stackrank.agents.episode.failures import Counts, FailureDetector
from stackrank.agents.episode.line_map import LineMap
from stackrank.debug_events import KEY, DebugEvent
from stackrank.env.actions import Observation
from stackrank.env.task import Task
from stackrank.patches.contents import decode_text
from stackrank.source import parse_python

NEAR_LINES = 5
"""A look or an edit this close to a faulty line counts as being there."""

_ROOT = r"(?:/workspace/|\./)?"
_FILE = r"(?P<file>[\w.][\w./-]*)"
# `grep -n`, linters; a traceback.
_LINE = r"(?P<line>\d{1,9})"
"""No file has a line of more digits. Programs print any number: Python refuses to read some, and databases to store."""
_NAMED = re.compile(rf"^[ \t]*{_ROOT}{_FILE}:{_LINE}[:-]", re.MULTILINE)
_TRACED = re.compile(rf'^[ \t]*File "{_ROOT}{_FILE}", line {_LINE}(?!\d)', re.MULTILINE)
_TELLING_CHARS = 4


class CodeRange(NamedTuple):
    """Lines of a file."""

    file: str
    lines: tuple[int, int] | None = None
    """First and last; None: not known, or the whole file."""
    function: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one step shows."""

    displayed: tuple[CodeRange, ...] = ()
    paused: tuple[CodeRange, ...] = ()
    breakpoints: tuple[CodeRange, ...] = ()
    edited: tuple[CodeRange, ...] = ()
    """Changes of the program: of editable files that came with the task or that the known fix changes."""
    touched: bool = False
    """Whether any file changed, of the program or not."""
    broken: tuple[str, ...] = ()
    """Files of the program that the step changed and that do not parse now, but did at first."""
    intact: tuple[str, ...] = ()
    """The other files of the program that the step changed."""
    failed: bool = False
    """Whether the step shows the program or one of its tests failing."""
    tests: Counts | None = None
    """How a run of tests ended; None if the step does not show it."""


class EvidenceReader:
    """Reads an episode's observations, each once and in order."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._program = {*task.files, *(fault.file for fault in task.faults)}
        self._faulty = {fault.file for fault in task.faults}
        self._lines = LineMap(task.files)
        self._failures = FailureDetector(task)
        self._known_text = _telling_lines(task)

    def learn(self, first: Observation) -> tuple[int | None, int | None]:
        """Take the reset. Returns (tests that passed, tests in all), each None if they were not reported."""
        tests = self._failures.learn(first)
        return (tests.passed, sum(tests)) if tests else (None, None)

    def read(self, observation: Observation) -> Evidence:
        """Return what this observation shows."""
        if observation.state["kind"] == "investigation":
            observation = replace(observation, text="")  # it is only a claim: its evidence is in the steps before
        state = observation.state
        diff = str(state.get("diff") or "")
        edited = [*self._edited(observation, diff)]
        changed = dict.fromkeys(place.file for place in edited)
        broken = [file for file in state.get("broken", {}) if file in changed and self._parsed_at_first(file)]
        seen_places = [*self._shown(observation)]
        events = [(event["event"], self._at(**place)) for event in state.get(KEY) or () if (place := _place_of(event))]
        paused = [place for kind, place in events if kind != "watched"]
        breakpoints = [place for kind, place in events if kind in ("watched", "reached")]
        self._lines.apply(diff)
        failed, tests = self._failures.read(observation)
        return Evidence(
            tuple(seen_places),
            tuple(paused),
            tuple(breakpoints),
            tuple(edited),
            touched=bool(edited or (diff and state["kind"] != "tests")),
            broken=tuple(broken),
            intact=tuple(file for file in changed if file not in broken),
            failed=failed,
            tests=tests,
        )

    def changed_in(self, diff: str) -> list[CodeRange]:
        """Return the places that a diff against the task's files changes, in the program and in other files."""
        return [CodeRange(file, lines) for file, lines in LineMap(self._task.files).changed(diff)]

    def is_program(self, file: str) -> bool:
        """Whether a change of this file is a change of the program."""
        return file in self._program and self._task.may_edit(file)

    def _parsed_at_first(self, file: str) -> bool:
        try:
            parse_python(self._task.files.get(file, b""))
        except (SyntaxError, ValueError):
            return False
        return True

    def _edited(self, observation: Observation, diff: str) -> Iterator[CodeRange]:
        if observation.state["kind"] == "tests":
            return  # what a test run leaves behind is no edit
        for file, lines in self._lines.changed(diff):
            if self.is_program(file):
                yield CodeRange(file, lines)

    def _shown(self, observation: Observation) -> Iterator[CodeRange]:
        state, text = observation.state, observation.text
        if state["kind"] == "shown" and observation.ok:
            path, lines = _plain(state["path"]), state.get("lines")
            yield CodeRange(path, self._lines.original(path, lines[0], lines[1]) if lines else None)
        for pattern in (_NAMED, _TRACED):
            places = map(self._place, pattern.finditer(text))
            yield from (place for place in places if place.file in self._faulty)
        if known := [(unique_text, place) for unique_text, place in self._known_text if unique_text in text]:
            for line in text.split("\n"):
                line = line.rstrip()
                for unique_text, place in known:
                    if line.endswith(unique_text) and not line[: -len(unique_text)][-1:].isalnum():
                        yield place

    def _place(self, match: re.Match[str]) -> CodeRange:
        return self._at(match["file"], int(match["line"]))

    def _at(self, file: str, line: int, function: str = "") -> CodeRange:
        file = _plain(file)
        return CodeRange(file, self._lines.original(file, line, line), function)


def _plain(path: str) -> str:
    return path.removeprefix("/workspace/").removeprefix("./")


def _place_of(event: DebugEvent) -> dict[str, Any] | None:
    """Return file, line and function of an event; None if its place is not known."""
    if "file" not in event or "line" not in event:
        return None
    return {"file": event["file"], "line": event["line"], "function": event.get("function", "")}


def _telling_lines(task: Task) -> Sequence[tuple[str, CodeRange]]:
    """Return lines near the faults whose text is nowhere else in the workspace, so that the text shows the place."""
    if not task.faults:
        return ()
    texts = {
        path: [line.strip() for line in (decode_text(content, path) or "").split("\n")]
        for path, content in task.files.items()
    }
    times = Counter(line for lines in texts.values() for line in lines)
    places: dict[str, CodeRange] = {}
    for fault in task.faults:
        lines = texts.get(fault.file, [])
        for faulty in fault.lines:
            for number in range(max(faulty - NEAR_LINES, 1), min(faulty + NEAR_LINES, len(lines)) + 1):
                line = lines[number - 1]
                if len(line) >= _TELLING_CHARS and times[line] == 1:
                    places[line] = CodeRange(fault.file, (number, number))
    return tuple(places.items())
