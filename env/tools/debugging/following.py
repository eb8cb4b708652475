"""What `trace`, `calls` and `snapshot` share: running a program under an observer and reading its report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from typing_extensions import TypedDict

from stackrank.env.sandbox.client import CommandResult
from stackrank.env.sandbox.guest.debugging.shortening import shortened
from stackrank.env.sandbox.replies import BadReply, checked
from stackrank.env.state import FollowedState, ReachedPlace
from stackrank.env.tools.base import Bench, ToolError
from stackrank.env.tools.shown import LESS, MOST_SHOWN, clipped, without_filling

TEST = (
    "The test to run, as in `tests/test_x.py::test_y`, or a program, as in `python script.py arguments`. "
    "Default: the first failing test."
)
"""The description of the argument `test`."""


class Where(TypedDict):
    """A place in the program."""

    file: str
    line: int
    function: str


class Frame(Where):
    """A call in progress, with its local variables."""

    source: str
    locals: dict[str, str]
    skipped: int
    """How many frames were left out before this one."""


class Cause(TypedDict):
    """An exception that led to another one."""

    error: str
    frames: list[Frame]


class Failure(TypedDict):
    """A test, or a program, that failed."""

    test: str
    error: str
    assertion: bool
    frames: list[Frame]
    causes: list[Cause]
    where: dict[str, Any]


class Stopped(TypedDict):
    """A moment at which the run was stopped."""

    test: str
    frames: list[Frame]


class Ended(TypedDict):
    """How the run ended."""

    how: str
    exit: int
    notes: list[str]


Record = TypeVar("Record")
_LARGE = 80
"""A value with more characters than this is shown in full only once."""


@dataclass
class Run:
    """One run of a program under an observer."""

    result: CommandResult
    asked: str
    """The test or the program that was run."""
    records: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def read(self, kind: str, shape: type[Record]) -> list[Record]:
        """Return the records of a kind. Records of another shape come from the program itself and are left out."""
        found = []
        for record in self.records.get(kind, []):
            try:
                found.append(checked(shape, record))
            except BadReply:
                self.note("the program wrote into the report of this tool")
        return found

    def first(self, kind: str, shape: type[Record]) -> Record | None:
        """Return the first record of a kind."""
        return next(iter(self.read(kind, shape)), None)

    def note(self, text: str) -> None:
        """Add a note, unless it is there already."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def outcomes(self) -> dict[str, str]:
        """Test id -> outcome."""
        found: dict[str, str] = {}
        for each in self.records.get("test", []):
            test, outcome = each.get("test"), each.get("outcome")
            if isinstance(test, str) and isinstance(outcome, str) and found.get(test) != "failed":
                found[test] = outcome
        return found

    @property
    def failure(self) -> Failure | None:
        """The first failure."""
        found = self.first("failure", Failure)
        if found is not None:
            found["error"] = without_filling(found["error"]).rstrip()
        return found

    @property
    def interrupted(self) -> Stopped | None:
        """Where the program was when its time was up."""
        return self.first("interrupted", Stopped)


def follow(bench: Bench, test: str | None, mode: str, *, first_failure: bool = False, **wanted: Any) -> Run:
    """Run a test or a program under an observer. Raises Refused and ToolError with a sentence for the agent."""
    command, chosen = _target(bench, (test or "").strip())
    spec = {**wanted, "mode": mode, "test": chosen, "first_failure": first_failure}
    result, reply = bench.sandbox.follow(command, spec, bench.task.limits.timeout_s)
    run = Run(result, chosen or command)
    for record in reply["records"]:
        run.records.setdefault(record["kind"], []).append(record)
    for refused in run.records.get("refused", []):
        raise ToolError(str(refused.get("text", ""))[:1000])
    if reply["unsound"]:
        run.note("the program wrote into the report of this tool")
    ended = run.first("end", Ended)
    for note in ended["notes"] if ended else []:
        run.note(note)
    if ended is None:
        how = f"killed by signal {-result.exit}" if result.exit < 0 else f"ended with status {result.exit}"
        text = "did not end in time and could not be interrupted" if result.timed_out else f"was {how}"
        run.note(f"the program {text}: what is shown is what was told before".replace("was ended", "ended"))
    return run


def _target(bench: Bench, asked: str) -> tuple[str, str]:
    """Return the command, and the test that is meant; empty for everything that the command runs."""
    first = asked.split()[0] if asked else ""
    if first in ("python", "python3", "pytest", "py.test"):
        return asked, ""
    name = first.rpartition("/")[2]
    if first.endswith(".py") and not (name.startswith("test_") or name.endswith("_test.py")):
        return f"python {asked}", ""
    if not asked:
        asked = next((test for test, outcome in bench.outcomes.items() if outcome in ("failed", "error")), "")
    return bench.task.test_command, asked


def frames_of(run: Run) -> list[Frame]:
    """Return the frames where the program failed, or where it was when its time was up."""
    if run.failure is not None:
        return run.failure["frames"]
    return run.interrupted["frames"] if run.interrupted else []


def state_of(run: Run, frames: list[Frame], event: str, places: list[ReachedPlace] | None = None) -> FollowedState:
    """Return what the run showed, as data. `frames`: where the run was stopped or failed."""
    state = FollowedState(kind="followed", exit=run.result.exit, timed_out=run.result.timed_out)
    state["places"] = places or []
    if run.outcomes:
        state["outcomes"] = run.outcomes
    if run.failure is not None:
        state["exception"] = run.failure["error"]
    if frames:
        last = frames[-1]
        state |= FollowedState(  # type: ignore[typeddict-item]
            event=event, file=last["file"], line=last["line"], function=last["function"], locals=last["locals"]
        )
        state["stack"] = [
            {"file": each["file"], "line": each["line"], "function": each["function"], "current": each is last}
            for each in frames
        ]
    return state


def ending(run: Run) -> Iterator[str]:
    """Yield lines about how the run ended, then the notes."""
    bad = {test: outcome for test, outcome in run.outcomes.items() if outcome != "passed"}
    passed = len(run.outcomes) - len(bad)
    failure = run.failure
    if failure is not None:
        at = f" at {failure['frames'][-1]['file']}:{failure['frames'][-1]['line']}" if failure["frames"] else ""
        yield f"{failure['test'] or run.asked} failed{at}: {failure['error']}"
    others = [f"{test}: {outcome}" for test, outcome in bad.items() if failure is None or test != failure["test"]]
    if others:
        yield "; ".join(others[:5]) + (f"; and {len(others) - 5} more" if len(others) > 5 else "")
    if passed:
        yield f"{passed} tests passed." if passed > 1 else f"{next(iter(set(run.outcomes) - set(bad)))} passed."
    if run.interrupted is not None:
        yield "The program was still running when its time was up, and was ended."
    exited = run.first("exited", _Exited)
    if exited is not None:
        at = f" at {exited['frames'][-1]['file']}:{exited['frames'][-1]['line']}" if exited["frames"] else ""
        yield f"The program ended itself by os._exit({exited['status']}){at}."
    ended = run.first("end", Ended)
    if not run.outcomes and failure is None and ended is not None and ended["how"] == "finished":
        yield f"The program ended with status {ended['exit']}."
    yield from (f"[{note}]" for note in run.notes)


class _Exited(TypedDict):
    status: int
    frames: list[Frame]


def printed(run: Run, most: int = 500) -> str:
    """Return what the program printed, cut in the middle. It is shown last, so that none of it can pass for ours."""
    text = shortened(run.result.output.strip(), most, LESS)
    return f"The program printed:\n{text}" if text else ""


def spot(place: Where) -> str:
    """Return a place as `file:line in function`."""
    return f"{place['file']}:{place['line']} in {place['function']}"


def spans(lines: Iterable[tuple[str, int]]) -> str:
    """Return lines of files as `cart.py:1-3, 7; tax.py:2`, capped."""
    found: dict[str, list[list[int]]] = {}
    for file, number in sorted(set(lines)):
        rows = found.setdefault(file, [])
        if rows and number == rows[-1][1] + 1:
            rows[-1][1] = number
        else:
            rows.append([number, number])
    told = []
    for file, rows in found.items():
        parts = [str(first) if first == last else f"{first}-{last}" for first, last in rows]
        told.append(f"{file}:" + ", ".join(parts[:15]) + (", ..." if len(parts) > 15 else ""))
    return "; ".join(told[:6]) + ("; ..." if len(told) > 6 else "")


def values(shown: dict[str, str], known: set[tuple[str, str]]) -> str:
    """Return names and values on one line, large ones that are `known` shortened. Values shown become known."""
    return ", ".join(f"{name} {value}" if value.startswith("raised ") else f"{name} = {once(name, value, known)}"
                     for name, value in shown.items())  # fmt: skip


def frames_text(frames: list[Frame], room: int) -> str:
    """Return frames with their locals, outermost first. Repeated frames are folded; outer ones are left out for room.

    A large object that has the same name in several frames, as `self` often has, is shown in the innermost only.
    """
    told: list[str] = []
    known: set[tuple[str, str]] = set()
    left = room
    position = len(frames)
    while position:
        frame = frames[position - 1]
        times = 1
        while position - 1 - times >= 0 and _same(frames[position - 1 - times], frame):
            times += 1
        lines = [f"{spot(frame)}: {frame['source']}"]
        lines += [f"    {name} = {once(name, value, known, 'below')}" for name, value in frame["locals"].items()]
        if times > 1:
            lines.insert(0, f"[the next frame {times} times, the locals are those of the last]")
        if frame["skipped"] or any(each["skipped"] for each in frames[position - times : position]):
            lines.insert(0, f"[{sum(each['skipped'] for each in frames[position - times : position])} frames left out]")
        text = "\n".join(lines)
        if len(text) > left:
            if not told:
                told.append(text[:left] + " ...")
                position -= times
            break
        told.append(text)
        left -= len(text) + 1
        position -= times
    if position:
        told.append(f"[{position} outer frame{'s' if position > 1 else ''} left out]")
    return "\n".join(reversed(told))


def once(name: str, value: str, known: set[tuple[str, str]], where: str = "above") -> str:
    """Return a value; only its beginning if it is large and was already shown `where` under the same name."""
    if len(value) <= _LARGE:
        return value
    if (name, value) in known:
        return f"{clipped(value, 40)} (as {where})"
    known.add((name, value))
    return value


def _same(one: Frame, two: Frame) -> bool:
    return (one["file"], one["line"], one["function"]) == (two["file"], two["line"], two["function"])


def joined(parts: Iterator[str] | list[str], run: Run, room: int = MOST_SHOWN - 200) -> str:
    """Join the parts to a text of about `room` characters, with what the program printed at its end."""
    said = printed(run)
    room -= len(said) + 1
    text = "\n".join(part for part in parts if part)
    text = shortened(text, room, LESS)
    return f"{text}\n{said}" if said else text
