"""Where the program stood when the visible tests failed: frames with local variables, and causes.

A condition of a run (`shows_failure_state`) decides whether agents see it below the tests' output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stackrank.debug_events import DebugEvent
from stackrank.env.sandbox.base import BadReply
from stackrank.env.sandbox.replies.records import Failure, Frame, read_record
from stackrank.env.sandbox.results import FollowedRun
from stackrank.env.tools.debugging.following import frames_of_cause, frames_text
from stackrank.env.tools.shown import clip

MOST = 2400
"""The most characters of all failures together."""
_FIRST, _OTHER, _CAUSE = 1400, 500, 400
"""The most characters of the frames of the first failure, of another one, and of a cause."""
_MOST_LOCALS, _MOST_VALUE, _MOST_ERROR = 8, 160, 300


def read_failures(run: FollowedRun) -> list[Failure]:
    """Return the failures that a run of the visible tests reported. What the program wrote there is left out."""
    failures: list[Failure] = []
    for line in run.records:
        try:
            record = read_record(line)
        except BadReply:
            continue
        failures += [record] if isinstance(record, Failure) else []
    return failures


def failure_events(failures: Sequence[Failure]) -> list[DebugEvent]:
    """Return the frames of failures as events."""
    events: list[DebugEvent] = []
    for failure in failures:
        for frame in failure.frames:
            event = DebugEvent(event="paused", file=frame.file, line=frame.line, function=frame.function)
            event["locals"] = frame.locals
            if frame is failure.frames[-1]:
                event["event"], event["exception"] = "failed", failure.error
            events.append(event)
    return events


def failure_text(failures: Sequence[Failure]) -> str:
    """Describe failures, the first one in most detail; empty if there is nothing that pytest does not print."""
    parts: list[str] = []
    room = MOST
    for failure in filter(_adds_something, failures):
        text = "\n".join(_describe(failure, _OTHER if parts else _FIRST))
        if len(text) > room:
            parts += [] if parts else [clip(text, room)]
            break
        parts.append(text)
        room -= len(text) + 1
    if not parts:
        return ""
    return "\n".join(["Where the tests failed, with local variables:", *parts])


def _adds_something(failure: Failure) -> bool:
    """Whether there is more to show than what pytest prints anyway."""
    return bool(failure.causes) or any(frame.locals for frame in failure.frames)


def _describe(failure: Failure, room: int) -> Iterator[str]:
    yield f"{clip(failure.test, 200)}: {_first_line(failure.error)}"
    if failure.frames:
        yield _frames(failure.frames, room)
    for cause in failure.causes[:2]:
        yield f"caused by {_first_line(cause.error)}"
        if frames := frames_of_cause(failure, cause):
            yield _frames(frames, _CAUSE)


def _first_line(error: str) -> str:
    return clip(error.partition("\n")[0], _MOST_ERROR)


def _frames(frames: Sequence[Frame], room: int) -> str:
    return frames_text(frames, room, most_locals=_MOST_LOCALS, most_value=_MOST_VALUE)
