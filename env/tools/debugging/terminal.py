"""A terminal that stays open from step to step: a shell, and whatever runs in it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.sandbox.guest.debugging.shortening import shortened
from stackrank.env.state import TerminalState
from stackrank.env.task import Task
from stackrank.env.terminal.debuggers import read_debuggers
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.bash import describe_exit
from stackrank.env.tools.shown import limit, limit_hint

if TYPE_CHECKING:
    import regex

    from stackrank.env.terminal.session import Step

_ROOM = 800
"""Characters reserved for the notes below the screen, which say what the terminal is doing."""
_JOB = re.compile(r"^(\[\d+\]) \d+$", re.MULTILINE)
"""The shell's message about a background program. The process number differs from run to run."""
_COUNT = re.compile(r"\{(\d*)(?:,(\d*))?\}")
_MOST_REPEATED = 10_000
"""The most repetitions in a pattern: each takes memory, on the host's side of the sandbox."""
_LONGEST_PATTERN = 500
USUAL_TIMEOUT_S = 30.0
USUAL_SILENCE_S = 1.0


class TerminalArguments(Arguments):
    """What to type and what to wait for."""

    body = "text"

    text: str = Field(
        "",
        description="What to type. Enter is pressed after each line of it, unless `key` is given; the next line is "
        "typed when the program asks for it. Empty: nothing is typed.",
    )
    key: str = Field(
        "",
        description="Keys to press after the text instead of Enter, separated by spaces: ctrl-c, ctrl-d (end of "
        "input), ctrl-z, enter, tab, escape, up, down, left, right, page-up, f1 or any single character.",
    )
    wait: Literal["input", "prompt", "silence"] = Field(
        "input",
        description="input: until the shell or a program in it waits for a line or a key. prompt: until the shell "
        "does. silence: until nothing was printed for a second.",
    )
    pattern: str = Field(
        "",
        description="A regular expression to wait for in the output, instead of `wait`, such as `listening on`.",
    )
    timeout_s: float | None = Field(
        None,
        gt=0,
        le=600,
        description="Seconds to wait, at most the task's limit. Default: 30. "
        "Programs then keep running; you can wait again.",
    )
    restart: bool = Field(False, description="End the terminal and everything in it first, and open a new one.")
    limit: int = limit()


class Terminal:
    """Types into the terminal and shows the result."""

    name = "terminal"
    version = "5"
    description = (
        "Type into a terminal that stays open: bash in the workspace, which keeps its directory, variables and running "
        "programs. You can answer programs that ask questions or read standard input, and use any installed debugger "
        "(gdb, node inspect, python -m pdb). Shows what is new on the screen, as text. "
        "There is no network."
    )
    arguments = TerminalArguments

    def __call__(self, bench: Bench, arguments: TerminalArguments) -> Observation:
        """Return what is new on the screen, and what the terminal is doing now."""
        # Imported here, because few episodes need pexpect and the emulator.
        from stackrank.env.terminal.session import Session

        if bench.terminal is None:
            bench.terminal = Session(bench.sandbox)
        typed = _texts_to_type(arguments)
        pattern = _compile(arguments.pattern) if arguments.pattern else None
        timeout_s = min(arguments.timeout_s or USUAL_TIMEOUT_S, bench.task.limits.timeout_s)
        until = ("input", "prompt") if arguments.wait == "input" else (arguments.wait,)
        step = bench.terminal.step(
            typed,
            until,
            pattern=pattern,
            timeout_s=timeout_s,
            silence_s=USUAL_SILENCE_S,
            restart=arguments.restart,
        )
        timed_out = step.event == "time"
        state = TerminalState(kind="terminal", event=step.event, program=step.last.program, timed_out=timed_out)
        if events := read_debuggers(step.text, bench.task.files.keys(), bench.sandbox.root):
            state["debug_events"] = events
        return Observation(_text(step, typed, timeout_s, bench.task, arguments.limit), state=state)


def _texts_to_type(arguments: TerminalArguments) -> list[str]:
    """Return the texts to type, in order."""
    from stackrank.env.terminal.keys import key_sequences

    lines = arguments.text.removesuffix("\n").split("\n") if arguments.text else []
    if not arguments.key:
        return [line.removesuffix("\r") + "\r" for line in lines]
    try:
        keys = key_sequences(arguments.key)
    except ValueError as error:
        raise ToolError(str(error)) from None
    return [*(line + "\r" for line in lines[:-1]), *lines[-1:], *keys]


def _compile(pattern: str) -> regex.Pattern[str]:
    import regex

    if len(pattern) > _LONGEST_PATTERN:
        raise ToolError(f"the pattern is longer than {_LONGEST_PATTERN} characters: nothing was typed")
    try:
        re.compile(pattern)  # only Python's syntax: `regex` also allows recursion, which takes any memory
        counts = [max(1, *(int(number or 0) for number in part)) for part in _COUNT.findall(pattern)]
        if math.prod(counts) > _MOST_REPEATED:
            raise ToolError(f"the pattern repeats something more than {_MOST_REPEATED} times: nothing was typed")
        return regex.compile(pattern, regex.MULTILINE)
    except (re.error, regex.error, OverflowError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ToolError(f"{pattern[:100]!r} is not a valid regular expression ({reason}): nothing was typed") from None


def _text(step: Step, typed: list[str], timeout_s: float, task: Task, max_chars: int) -> str:
    parts = []
    if step.first.why:
        parts.append(f"[a new terminal was opened, because {step.first.why}]")
    text = _JOB.sub(r"\1 ...", step.text)
    parts.append(shortened(text, max(max_chars - _ROOM, max_chars // 2), limit_hint(max_chars), step.dropped))
    if step.whole and step.last.program:
        parts.append("[the whole screen; the cursor is in row {}, column {}]".format(*step.cursor))
    if step.first.too_long:
        parts.append("[not typed: a program that reads lines gets at most 4,095 bytes per line; use a file]")
    untyped = typed[len(typed) - step.first.untyped :]
    if untyped and not step.first.too_long:
        parts.append(f"[not typed, because nothing asked for it: {' '.join(map(repr, untyped))[:300]}]")
    parts.append(_describe_state(step, timeout_s, task))
    return "\n".join(part for part in parts if part) or "[nothing new]"


def _describe_state(step: Step, timeout_s: float, task: Task) -> str:
    """Say what the terminal is doing now, if the text does not show it."""
    program = step.last.program
    waits = f"[{program} waits for input]" if program and step.last.event == "input" else ""
    if step.event == "time":
        process = program or "the shell"
        return f"[{process} is still running after {timeout_s:g} s: wait again, press ctrl-c, or restart]"
    if step.last.event == "ended":
        return f"[the shell ended ({describe_exit(step.last.exit or 0, task)}): the next step opens a new terminal]"
    if step.event == "idle":
        return "\n".join(
            filter(None, ("[the pattern did not appear, and nothing is running that could print it]", waits))
        )
    if step.event == "flood":
        rests = step.last.event in ("input", "prompt")
        goes_on = "" if rests else ", which continues"
        return "\n".join(filter(None, (f"[the pattern was not in the first megabyte of the output{goes_on}]", waits)))
    if step.event == "hard":
        return "[searching for this pattern takes too long: write a simpler one]"
    if step.last.event == "input":
        return waits or "[a command of the shell waits for input]"
    return f"[{program} is running]" if program else ""
