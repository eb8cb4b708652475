"""What the observers share: the names of their arguments, running a program under one, and reading its report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from stackrank.debug_events import DebugEvent
from stackrank.env.sandbox.base import BadReply
from stackrank.env.sandbox.client import CommandResult
from stackrank.env.sandbox.guest.debugging.shortening import shortened
from stackrank.env.sandbox.replies.records import (
    Cause,
    End,
    Exited,
    Failure,
    Frame,
    Interrupted,
    Location,
    Record,
    Refusal,
    TestEnd,
    read_record,
)
from stackrank.env.state import FollowedState
from stackrank.env.tools.base import Bench, ToolError
from stackrank.env.tools.shown import LESS, MOST_SHOWN, clip, strip_padding
from stackrank.wording import count_of

# One description for each argument that several observers have.
PROGRAM = "A test (`tests/test_x.py::test_y`) or a program (`python script.py`)."
TEST = f"{PROGRAM} Default: the first failing test."
PLACE = "`file:line`, `function`, `package.Class.method` or `module:function`."
CONDITION = "Only hits where this expression is true."
CODE = "Python code to run there; shows the value of each expression."
HIT = "Which hit, from 1; -1: the last."
NO_HIT = "there is no hit 0: the first is 1, the last is -1"


Kind = TypeVar("Kind", bound=Record)
_WORD = re.compile(r"[^\W\d]\w*")
_LARGE = 80
"""A value with more characters than this is shown in full only once."""
_FOREIGN = "the program wrote into this tool's report"


@dataclass
class Run:
    """One run of a program under an observer."""

    result: CommandResult
    target: str
    """The test or the program that was run."""
    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    timeout_s: float = 0
    """The time limit of the run, in seconds."""

    def read(self, kind: type[Kind]) -> list[Kind]:
        """Return the records of a kind."""
        return [record for record in self.records if isinstance(record, kind)]

    def first(self, kind: type[Kind]) -> Kind | None:
        """Return the first record of a kind."""
        return next(iter(self.read(kind)), None)

    def note(self, text: str) -> None:
        """Add a note, unless it is there already."""
        if text not in self.notes:
            self.notes.append(text)

    @cached_property
    def outcomes(self) -> dict[str, str]:
        """Test id -> outcome."""
        outcomes: dict[str, str] = {}
        for record in self.read(TestEnd):
            if outcomes.get(record.test) != "failed":
                outcomes[record.test] = record.outcome
        return outcomes

    @cached_property
    def failure(self) -> Failure | None:
        """The first failure."""
        return self.first(Failure)

    @cached_property
    def error(self) -> str:
        """The exception of the first failure; empty if nothing failed."""
        return "" if self.failure is None else strip_padding(self.failure.error).rstrip()

    @property
    def scope(self) -> str:
        """What has to follow a statement that something never happened."""
        end = self.first(End)
        return " in the process that was followed" if end is not None and end.others else ""

    @cached_property
    def interrupted(self) -> Interrupted | None:
        """Where the program was when its time was up."""
        return self.first(Interrupted)


def follow(bench: Bench, test: str | None, mode: str, *, first_failure: bool = False, **options: Any) -> Run:
    """Run a test or a program under an observer. Raises Refused and ToolError with a sentence for the agent."""
    command, target = find_program(bench, test or _first_failing(bench))
    spec = {**options, "mode": mode, "test": target, "first_failure": first_failure}
    followed = bench.sandbox.follow(command, spec, bench.task.limits.timeout_s)
    result = followed.result
    run = Run(result, target or command, timeout_s=bench.task.limits.timeout_s)
    for line in followed.records:
        try:
            run.records.append(read_record(line))
        except BadReply:  # the program can write where the observer writes
            run.note(_FOREIGN)
    for refused in run.read(Refusal):
        raise ToolError(refused.text[:1000])
    if not followed.whole:
        run.note(_FOREIGN)
    ending = run.first(End)
    for note in ending.notes if ending else ():
        run.note(note)
    if ending is None:
        exit_text = f"killed by signal {-result.exit}" if result.exit < 0 else f"ended with status {result.exit}"
        in_time = f"did not end within {run.timeout_s:g} s and could not be interrupted"
        text = in_time if result.timed_out else f"was {exit_text}"
        run.note(f"the program {text}; only what was reported before is shown".replace("was ended", "ended"))
    return run


def find_program(bench: Bench, text: str) -> tuple[str, str]:
    """Return the command that the argument `test` means, and the test in it; empty for all that the command runs.

    Raises ToolError.
    """
    text = text.strip()
    first = text.split()[0] if text else ""
    if first in ("python", "python3", "pytest", "py.test"):
        return text, ""
    name = first.rpartition("/")[2]
    is_script = first.endswith(".py") and not (name.startswith("test_") or name.endswith("_test.py"))
    if is_script or first in ("-m", "-c"):
        return f"python {text}", ""

    def is_path() -> bool:
        return any(f"{path}/".startswith(f"{text.rstrip('/')}/") for path in bench.task.files)

    if " " in text and "::" not in text and "[" not in text and not is_path():
        raise ToolError(f"{text!r} is neither a test nor a Python program: name a{PROGRAM[1:-1]}")
    return bench.task.test_command, text


def hit_number(hit: int, count_hits: Callable[[], int]) -> int:
    """Return the number of the hit that `hit` means, as `start_at`; if there are not so many, one that none has."""
    count = count_hits() if hit < 0 else 0
    return start_at(hit, lambda: count) if count + hit >= 0 else count + 1


def start_at(hit: int, count_hits: Callable[[], int]) -> int:
    """Return the number of the hit that `hit` means: from 1, or back from the last, which takes a run to count them.

    Raises ToolError.
    """
    if not hit:
        raise ToolError(NO_HIT)
    return hit if hit > 0 else max(count_hits() + hit + 1, 1)


def _first_failing(bench: Bench) -> str:
    return next((test for test, outcome in bench.outcomes.items() if outcome in ("failed", "error")), "")


def frames_of(run: Run) -> Sequence[Frame]:
    """Return the frames where the program failed, or where it was when its time was up."""
    if run.failure is not None:
        return run.failure.frames
    return run.interrupted.frames if run.interrupted else ()


def frames_of_cause(failure: Failure, cause: Cause) -> list[Frame]:
    """Return the last frames of a cause, without the locals that a frame of the same function has shown already.

    Where both are one frame, its locals are those at the end, and not those when the cause was raised.
    """
    shown = {(frame.function, *local) for frame in failure.frames for local in frame.locals.items()}
    return [
        replace(
            frame,
            locals={name: value for name, value in frame.locals.items() if (frame.function, name, value) not in shown},
        )
        for frame in cause.frames[-2:]
    ]


def state_of(
    run: Run, frames: Sequence[Frame], event: str, places: Sequence[DebugEvent] = (), error: str = ""
) -> FollowedState:
    """Return what the run showed, as data.

    `frames`: where the run was stopped or failed. `places`: those that were watched. `error`: the exception there, if
    it is not the failure's.
    """
    state = FollowedState(kind="followed", exit=run.result.exit, timed_out=run.result.timed_out)
    state["debug_events"] = [*places, *_stops(run, frames, event, error)]
    if run.outcomes:
        state["outcomes"] = run.outcomes
    if error or run.failure is not None:
        state["exception"] = error or run.error
    if frames:
        last = frames[-1]
        state["event"], state["locals"] = event, last.locals
        state["file"], state["line"], state["function"] = last.file, last.line, last.function
        state["stack"] = [
            {"file": frame.file, "line": frame.line, "function": frame.function, "current": frame is last}
            for frame in frames
        ]
    return state


def _stops(run: Run, frames: Sequence[Frame], event: str, error: str) -> Iterator[DebugEvent]:
    """Yield where the run was stopped or failed: the calls, outermost first, and whether a test failed anywhere."""
    ends_in_failure = event == "failed" and run.failure is not None
    for frame in frames:
        stop = DebugEvent(event="paused", file=frame.file, line=frame.line, function=frame.function)
        stop["locals"] = frame.locals
        if frame is frames[-1] and (event == "raised" or ends_in_failure):
            stop["event"], stop["exception"] = ("raised" if event == "raised" else "failed"), error or run.error
        yield stop
    if not (frames and ends_in_failure) and not {"failed", "error"}.isdisjoint(run.outcomes.values()):
        yield DebugEvent(event="failed")


def describe_end(run: Run) -> Iterator[str]:
    """Yield lines about how the run ended, then the notes."""
    bad = {test: outcome for test, outcome in run.outcomes.items() if outcome != "passed"}
    passed = len(run.outcomes) - len(bad)
    failure = run.failure
    if failure is not None:
        yield f"{failure.test or run.target} failed{_at_last(failure.frames)}: {run.error}"
    failures = [f"{test}: {outcome}" for test, outcome in bad.items() if failure is None or test != failure.test]
    if failures:
        yield "; ".join(failures[:5]) + (f"; and {len(failures) - 5} more" if len(failures) > 5 else "")
    if passed:
        yield (f"{passed:,} tests passed." if passed > 1 else f"{next(iter(set(run.outcomes) - set(bad)))} passed.")
    if run.interrupted is not None:
        yield f"The program was still running at the time limit of {round(run.timeout_s, 1):g} s and was stopped."
    exited = run.first(Exited)
    if exited is not None:
        yield f"The program called os._exit({exited.status}){_at_last(exited.frames)}."
    end = run.first(End)
    if not run.outcomes and failure is None and end is not None and end.how == "finished":
        yield f"The program ended with status {end.exit}."
    yield from (f"[{note}]" for note in run.notes)


def _at_last(frames: Sequence[Frame]) -> str:
    return f" at {frames[-1].file}:{frames[-1].line}" if frames else ""


def program_output(run: Run, max_chars: int = 500) -> str:
    """Return what the program printed, cut in the middle. It is shown last, so that none of it can pass for ours."""
    text = shortened(run.result.output.strip(), max_chars, LESS)
    return f"The program printed:\n{text}" if text else ""


def format_place(place: Location) -> str:
    """Return a place as `file:line in function`."""
    return f"{place.file}:{place.line} in {place.function}"


def format_lines(lines: Iterable[tuple[str, int]]) -> str:
    """Return lines of files as `cart.py:1-3, 7; tax.py:2`, capped."""
    ranges: dict[str, list[list[int]]] = {}
    for file, number in sorted(set(lines)):
        rows = ranges.setdefault(file, [])
        if rows and number == rows[-1][1] + 1:
            rows[-1][1] = number
        else:
            rows.append([number, number])
    texts = []
    for file, rows in ranges.items():
        parts = [str(first) if first == last else f"{first}-{last}" for first, last in rows]
        texts.append(f"{file}:" + ", ".join(parts[:15]) + (", ..." if len(parts) > 15 else ""))
    return "; ".join(texts[:6]) + ("; ..." if len(texts) > 6 else "")


def format_variables(variables: dict[str, str], seen_values: set[tuple[str, str]]) -> str:
    """Return names and values on one line. Large values in `seen_values` are shortened; the others are added to it."""
    return ", ".join(
        f"{name} {value}" if value.startswith("raised ") else f"{name} = {shorten_repeat(name, value, seen_values)}"
        for name, value in variables.items()
    )


def frames_text(frames: Sequence[Frame], room: int, most_locals: int = 0, most_value: int = 0) -> str:
    """Return frames with their locals, outermost first. Repeated frames are folded; outer ones are left out for room.

    A large object that has the same name in several frames, as `self` often has, is shown in the innermost only.
    `most_locals`, `most_value`: the most locals of a frame, those of its line first, and characters of a value; 0: all.
    """
    texts: list[str] = []
    seen_values: set[tuple[str, str]] = set()
    remaining = room
    position = len(frames)
    while position:
        frame = frames[position - 1]
        times = 1
        while position - 1 - times >= 0 and _is_same_place(frames[position - 1 - times], frame):
            times += 1
        lines = [f"{format_place(frame)}: {frame.source}"]
        values = _useful_first(frame) if most_locals else list(frame.locals.items())
        for name, value in values[: most_locals or None]:
            text = shorten_repeat(name, value, seen_values, "below")
            lines.append(f"    {name} = {clip(text, most_value) if most_value else text}")
        if most_locals and len(values) > most_locals:
            lines.append("    [other locals omitted]")
        if times > 1:
            lines.insert(0, f"[the next frame occurs {times} times; its locals are those of the last]")
        if skipped := sum(repeated.skipped for repeated in frames[position - times : position]):
            lines.insert(0, f"[{count_of(skipped, 'frame')} omitted]")
        text = "\n".join(lines)
        if len(text) > remaining:
            if not texts:
                texts.append(text[:remaining] + " ...")
                position -= times
            break
        texts.append(text)
        remaining -= len(text) + 1
        position -= times
    if position:
        omitted = position + sum(frame.skipped for frame in frames[:position])
        texts.append(f"[{count_of(omitted, 'outer frame')} omitted]")
    return "\n".join(reversed(texts))


def _useful_first(frame: Frame) -> list[tuple[str, str]]:
    """Return a frame's locals, those that its line names first."""
    named = set(_WORD.findall(frame.source))
    return sorted(frame.locals.items(), key=lambda local: local[0] not in named)


def shorten_repeat(name: str, value: str, seen_values: set[tuple[str, str]], direction: str = "above") -> str:
    """Return a value; only its beginning if it is large and was already shown `where` under the same name."""
    if len(value) <= _LARGE:
        return value
    if (name, value) in seen_values:
        return f"{clip(value, 40)} (as {direction})"
    seen_values.add((name, value))
    return value


def _is_same_place(left: Frame, right: Frame) -> bool:
    return (left.file, left.line, left.function) == (right.file, right.line, right.function)


def join_parts(parts: Iterator[str] | list[str], run: Run, room: int = MOST_SHOWN - 200) -> str:
    """Join the parts to a text of about `room` characters, with what the program printed at its end."""
    output = program_output(run)
    room -= len(output) + 1
    text = "\n".join(part for part in parts if part)
    text = shortened(text, room, LESS)
    return f"{text}\n{output}" if output else text
