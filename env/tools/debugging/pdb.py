"""The debugger."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, cast

from pydantic import Field

from stackrank.debug_events import DebugEvent
from stackrank.env.actions import Observation
from stackrank.env.sandbox.guest.debugging.shortening import shortened
from stackrank.env.sandbox.guest.debugging.values import folded
from stackrank.env.sandbox.replies.debugger import Breakpoint, Call, Debugged, Died, Ended, Paused, Place, Standing
from stackrank.env.sandbox.replies.decoder import to_json
from stackrank.env.state import DebuggerState
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.debugging.following import PROGRAM, find_program
from stackrank.env.tools.output_dedup import Kind, find_repeated
from stackrank.env.tools.shown import limit, limit_hint, strip_padding
from stackrank.wording import count_of

INVESTIGATION = "investigation"
"""The name of the debugger session of an investigation."""
_TEST_ID = re.compile(r"[\w./-]+\.py::\S.*")
_EVENTS: Mapping[str, Literal["raised", "failed"]] = {"exception": "raised", "post_mortem": "failed"}
"""pdb's events that say more than that the program is paused."""
_BAD = frozenset(("failed", "error"))
"""Outcomes of tests that show a failure."""
_MOST_LOCALS = 700
_BEGIN = "`c` runs it, `n` stops at its first line"
_MOST_CALLS = 8


class PdbArguments(Arguments):
    """What to tell the debugger."""

    body = "command"

    command: str = Field(
        description="pdb commands, one a line, such as `b cart.py:12 if total > 3`, `b module:function` and `c`; or "
        "Python code, which runs in the paused frame and whose values are shown."
    )
    test: str | None = Field(
        None, description=f"{PROGRAM} Default: the one that is paused; if none is, the tests that failed last."
    )
    limit: int = limit()


class Pdb:
    """Real pdb on tests and programs."""

    name = "pdb"
    version = "5"
    runs_program = True
    description = (
        "Debug with Python's pdb. `b` sets breakpoints before anything runs, `c` runs to the "
        "next one or into a failure. Breakpoints stay; after an edit, the next command starts the program again."
    )
    arguments = PdbArguments

    def __call__(self, bench: Bench, arguments: PdbArguments) -> Observation:
        """Return what the debugger said, where the program stands, and what the program printed."""
        if test_id := next(filter(_TEST_ID.fullmatch, map(str.strip, arguments.command.splitlines())), ""):
            raise ToolError(f"{test_id} is not a pdb command: pass it as `test`")
        # An investigation has a debugger of its own, so the other one stays paused where it is.
        session = "" if bench.investigation is None else INVESTIGATION
        named = (arguments.test or "").strip() or bench.paused.get(session, "")
        command, test = find_program(bench, named)
        reply = bench.sandbox.debug(
            arguments.command,
            command,
            bench.task.limits.timeout_s,
            test,
            () if named else bench.failing,
            value_limit=arguments.limit // 4,
            session=session,
        )
        bench.paused[session] = named if reply.alive else ""
        return Observation(debugger_text(reply, arguments.limit, named), state=debugger_state(reply))


def debugger_state(reply: Debugged) -> DebuggerState:
    """Return where a debugger stands, as the state of a step. Debuggers of other languages answer in the same form."""
    standing = reply.standing
    state = DebuggerState(kind="debugger", alive=reply.alive, breakpoints=to_json(reply.breakpoints))
    if isinstance(standing, Died):
        state["died"] = standing.reason
    elif isinstance(standing, Ended):
        state["ended"], state["exit"] = standing.event, standing.exit
        if standing.outcomes:
            state["outcomes"] = standing.outcomes
    else:
        fields = {name: value for name, value in to_json(standing).items() if value is not None}
        state = cast(DebuggerState, {**state, **fields})
    state["debug_events"] = [*_events(reply)]
    if reply.timed_out:
        state["timed_out"] = True
    if reply.restarted:
        state["restarted"] = True
    return state


def _events(reply: Debugged) -> Iterator[DebugEvent]:
    """Yield what this action saw of the program."""
    for point in reply.points:
        # The debugger counts a hit even if the breakpoint's condition was false.
        is_reached = point.hits > point.ignore and not point.condition
        event: Literal["reached", "watched"] = "reached" if is_reached else "watched"
        yield DebugEvent(event=event, file=point.file, line=point.line, hits=point.hits)
    standing = reply.standing
    for place in reply.stood:
        if not (isinstance(standing, Paused) and place == _place_of(standing)):
            yield DebugEvent(event="paused", file=place.file, line=place.line, function=place.function)
    if isinstance(standing, Paused):
        stop = DebugEvent(event="paused", file=standing.file, line=standing.line, function=standing.function)
        stop["event"] = _EVENTS.get(standing.event, stop["event"])
        stop["locals"] = standing.locals
        if standing.exception:
            stop["exception"] = standing.exception
        yield stop
    elif isinstance(standing, Ended) and not _BAD.isdisjoint(standing.outcomes.values()):
        yield DebugEvent(event="failed")


def _place_of(paused: Paused) -> Place:
    return Place(file=paused.file, line=paused.line, function=paused.function)


def debugger_text(reply: Debugged, max_chars: int, named: str, begin: str = _BEGIN) -> str:
    """Return a debugger's answer as agents read it.

    `named`: what is debugged; empty: the failing tests. `begin`: which commands start the program.
    """
    standing = reply.standing
    paused = standing if isinstance(standing, Paused) else None
    hint = limit_hint(max_chars)
    notes = [shortened(f"[{note}]", max_chars // 8, hint) for note in reply.notes]
    output = strip_padding(reply.text).rstrip()
    repeated = find_repeated(output, paused.line if paused else 0)
    below = []
    if reply.program.strip():
        below.append("The program printed:\n" + shortened(reply.program.rstrip(), max_chars // 4, hint))
    if paused is None:
        below.append(_describe_end(standing, named, begin))
    elif reply.moved:
        below.append(_place(paused, repeated))
    if reply.breakpoints_changed:
        below.append(_breakpoints(reply.breakpoints))
    if paused and reply.moved and "source" not in repeated:
        output = _without_current_line(output, paused)
    # The output that was asked for, with a note of what is left out, gets the room that the rest leaves.
    room = max_chars - 100 - sum(len(part) + 1 for part in [*notes, *below])
    parts = [*notes, shortened(output, max(room, max_chars // 2), hint), *below]
    return "\n".join(filter(None, parts)) or "[no output]"


def _describe_end(standing: Standing, named: str, begin: str) -> str:
    """Say what the debugger does next, if the program is not paused. `named`: what it debugs; empty: failing tests."""
    starts = "The next command starts it again."
    if named:
        starts = "The next command starts the tests that failed last, or the `test` that it names."
    if isinstance(standing, Died):
        return starts
    if isinstance(standing, Ended):
        tests = standing.outcomes
        summary = ", ".join(f"{name}: {outcome}" for name, outcome in tests.items() if outcome != "passed")
        passed = sum(outcome == "passed" for outcome in tests.values())
        counted = f"{count_of(passed, 'test')} passed; " if passed else ""
        outcome = f" {counted}{summary}." if summary else ""  # a note lists the tests if all of them passed
        how = "was ended" if standing.event == "quit" else f"ended (exit status {standing.exit})"
        return f"The program {how}.{outcome} {starts}"
    return f"The program has not started yet: {begin}."


def _place(paused: Paused, repeated: frozenset[Kind]) -> str:
    position = f"[{paused.file}:{paused.line} in {paused.function}, depth {paused.depth}"
    if paused.thread:
        position += f", thread {paused.thread}"
    if paused.exception:
        message = paused.exception.split("\n")[0][:200]
        position += f", {'raised' if paused.event == 'post_mortem' else 'passing'} {message}"
    source = [] if "source" in repeated else [line[:160] for line in paused.source]
    calls = [] if "stack" in repeated else _calls(paused)
    values = [] if "locals" in repeated else _locals(paused.locals)
    return "\n".join([*source, position + "]", *calls, *values])


def _calls(paused: Paused) -> list[str]:
    """Return the calls around the current one on one line, outermost first; nothing if there is only one frame."""
    stack = paused.stack
    if len(stack) < 2:
        return []
    stack_position = next((position for position, call in enumerate(stack, 1) if call.current), len(stack))
    keys: list[object] = [object() if call.current else (call.file, call.line) for call in stack]
    parts: list[str] = []
    for libraries, group in groupby(folded(keys), key=lambda part: all(map(_of_library, stack[part[0] :][: part[1]]))):
        run = list(group)
        if libraries:
            count = sum(period * times for _, period, times in run)
            parts.append(f"({count} library call{'s' if count > 1 else ''})")
            continue
        for first, period, times in run:
            calls = [f"{call.function} ({call.file}:{call.line})" for call in stack[first : first + period]]
            text = " > ".join(calls) + (f" x{times}" if times > 1 else "")
            parts.append(f"*{text}*" if stack[first].current else text)
    # Of a deep stack, the state holds only the calls around the current one.
    deeper = len(parts) > _MOST_CALLS or paused.depth > stack_position
    left_out = ["..."] if deeper else []
    return ["Calls: " + " > ".join([*left_out, *parts[-_MOST_CALLS:]])]


def _of_library(call: Call) -> bool:
    """Whether a call around the current one is outside the workspace: imports, event loops, context managers."""
    return not call.current and call.file.startswith(("/", "<frozen "))


def _locals(values: dict[str, str]) -> list[str]:
    texts: list[str] = []
    room = _MOST_LOCALS
    # If there are few variables, each gets more room: what matters is seldom at the beginning of an object.
    max_chars = max(_MOST_LOCALS // max(len(values), 1) - 30, 120)
    for name, value in values.items():
        text = f"{name} = {value if len(value) <= max_chars else value[: max_chars - 3] + '...'}"
        room -= len(text) + 2
        if room < 0:
            break
        texts.append(text)
    omitted = f"; {len(values) - len(texts)} more: p locals()" if len(texts) < len(values) else ""
    return ["Locals: " + "; ".join(texts) + omitted] if values else []


def _without_current_line(output: str, paused: Paused) -> str:
    """Drop pdb's last line if it repeats the source line that the excerpt marks."""
    current = next((line[7:].strip() for line in paused.source if line[5:7] == "->"), None)
    return output[: output.rindex("\n")] if current and output.endswith(f"\n-> {current}") else output


def _breakpoints(table: Sequence[Breakpoint]) -> str:
    if not table:
        return "No breakpoints."
    lines = []
    for row in table:
        notes = ["temporary"] if row.temporary else []
        notes += [] if row.enabled else ["disabled"]
        notes += [f"ignored {row.ignore} times"] if row.ignore else []
        number = f"{row.number} ({', '.join(notes)})" if notes else str(row.number)
        # What follows the number is a place that `b` takes.
        condition = f" if {row.condition}" if row.condition else ""
        lines.append(f"  {number}: {row.file}:{row.entered or row.line}{condition}")
        if row.commands:
            lines.append(f"      runs {'; '.join(row.commands)}")
    return "Breakpoints:\n" + "\n".join(lines)
