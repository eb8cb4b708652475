"""The debugger."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any, cast

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.sandbox.guest.debugging.shortening import shortened
from stackrank.env.sandbox.guest.debugging.values import folded
from stackrank.env.sandbox.replies import Debugged
from stackrank.env.state import Breakpoint, DebuggerState
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.output_dedup import Kind, just_told
from stackrank.env.tools.shown import limit, without_filling

FAILING = "tests"
"""The entry point that stands for the tests that failed last."""
INVESTIGATION = "investigation"
"""The name of the debugger session of an investigation."""
_TEST_ID = re.compile(r"[\w./-]+\.py::\S.*")
_MOST_LOCALS = 700
_MOST_CALLS = 8


class PdbArguments(Arguments):
    """What to tell the debugger."""

    body = "command"

    command: str = Field(
        description="pdb commands, one a line (several are carried out in order), for instance "
        "`b cart.py:12, total > 3` then `c` then `p total`. `b function` works too, and so does Python code of "
        "several lines."
    )
    entrypoint: str | None = Field(
        None,
        description="What to debug from now on, instead of the tests that failed last: `tests/test_x.py::test_y`, "
        "`python -m pytest tests`, `python script.py arguments`, `python -m module` or `python -c 'code'`. It stays "
        f"until another one is named; `{FAILING}` goes back to the failing tests.",
    )
    limit: int = limit()


class Pdb:
    """Real pdb on the failing tests."""

    name = "pdb"
    version = "4"
    runs_program = True
    description = (
        "Debug the program with Python's pdb. The first command starts the tests that failed last under the debugger "
        "(`b` sets breakpoints before anything runs); `c` runs to the next breakpoint or into the failing frame of a "
        "test. n, s, r, until, p, pp, w, u, d, l, b, tbreak, condition, commands and the others work as in pdb. "
        "Breakpoints stay through edits and restarts; after an edit the next command starts the program again."
    )
    arguments = PdbArguments

    def __call__(self, bench: Bench, arguments: PdbArguments) -> Observation:
        """Return what the debugger said, where the program stands, and what the program printed."""
        if named := next(filter(_TEST_ID.fullmatch, map(str.strip, arguments.command.splitlines())), ""):
            raise ToolError(f"{named} is no command of pdb: give it as `entrypoint` to debug that test")
        # An investigation has a debugger of its own, so the other one stays paused where it is.
        session = "" if bench.investigation is None else INVESTIGATION
        debugged = arguments.entrypoint
        debugged = bench.debugged.get(session, "") if debugged is None else debugged.strip()
        of_tests = debugged in ("", FAILING)
        reply = bench.sandbox.debug(
            arguments.command,
            bench.task.test_command if of_tests else debugged,
            bench.task.limits.timeout_s,
            bench.failing if of_tests else (),
            value_limit=arguments.limit // 4,
            session=session,
        )
        bench.debugged[session] = "" if of_tests else debugged
        known = {name: value for name, value in reply["state"].items() if value is not None}
        state = cast(DebuggerState, {**known, "kind": "debugger", "alive": reply["alive"]})
        if reply["timed_out"]:
            state["timed_out"] = True
        if reply["restarted"]:
            state["restarted"] = True
        return Observation(_text(reply, state, arguments.limit), state=state)


def _text(reply: Debugged, state: DebuggerState, most: int) -> str:
    more = f"a limit above {most} shows more"
    notes = [shortened(f"[{note}]", most // 8, more) for note in reply["notes"]]
    said = without_filling(reply["text"]).rstrip()
    told = just_told(said, state.get("line", 0))
    below = []
    if reply["program"].strip():
        below.append("The program printed:\n" + shortened(reply["program"].rstrip(), most // 4, more))
    if reply["moved"] or "file" not in state:
        below.append(_place(state, told))
    if reply["breakpoints_changed"]:
        below.append(_breakpoints(state["breakpoints"]))
    if reply["moved"] and "source" not in told:
        said = _without_current_line(said, state)
    # The output that was asked for, with a note of what is left out, gets the room that the rest leaves.
    room = most - 100 - sum(len(part) + 1 for part in [*notes, *below])
    return "\n".join(part for part in [*notes, shortened(said, max(room, most // 2), more), *below] if part)


def _place(state: DebuggerState, told: frozenset[Kind]) -> str:
    if state.get("died"):
        return "The debugger starts the program again at the next command."
    if "ended" in state:
        tests = state.get("outcomes") or {}
        summary = ", ".join(f"{name}: {outcome}" for name, outcome in tests.items() if outcome != "passed")
        passed = sum(outcome == "passed" for outcome in tests.values())
        outcome = f" {passed} tests passed{'; ' + summary if summary else ''}." if tests else ""
        return f"The program ended (exit status {state.get('exit', 0)}).{outcome} The next command starts it again."
    if state.get("event") == "start" or "file" not in state:
        return "The program has not started yet: `c` runs it, `n` stops at its first line."
    where = f"[{state['file']}:{state['line']}, {state['function']}, depth {state['depth']}"
    if state.get("thread"):
        where += f", thread {state['thread']}"
    if state.get("exception"):
        about = str(state["exception"]).split("\n")[0][:200]
        where += f", {'raised' if state['event'] == 'post_mortem' else 'passing'} {about}"
    source = [] if "source" in told else [line[:160] for line in state.get("source", [])]
    calls = [] if "stack" in told else _calls(state)
    values = [] if "locals" in told else _locals(state.get("locals", {}))
    return "\n".join([*source, where + "]", *calls, *values])


def _calls(state: DebuggerState) -> list[str]:
    """Return the calls around the current one on one line, outermost first; nothing if there is only one frame."""
    stack = state.get("stack", [])
    if len(stack) < 2:
        return []
    known = next((position for position, call in enumerate(stack, 1) if call["current"]), len(stack))
    keys: list[object] = [object() if call["current"] else (call["file"], call["line"]) for call in stack]
    parts: list[str] = []
    for libraries, group in groupby(folded(keys), key=lambda part: all(map(_of_library, stack[part[0] :][: part[1]]))):
        run = list(group)
        if libraries:
            count = sum(period * times for _, period, times in run)
            parts.append(f"({count} library call{'s' if count > 1 else ''})")
            continue
        for first, period, times in run:
            calls = [f"{call['function']} ({call['file']}:{call['line']})" for call in stack[first : first + period]]
            text = " > ".join(calls) + (f" x{times}" if times > 1 else "")
            parts.append(f"*{text}*" if stack[first]["current"] else text)
    # Of a deep stack, the state holds only the calls around the current one.
    deeper = len(parts) > _MOST_CALLS or state["depth"] > known
    left_out = ["..."] if deeper else []
    return ["Calls: " + " > ".join([*left_out, *parts[-_MOST_CALLS:]])]


def _of_library(call: dict[str, Any]) -> bool:
    """Whether a call around the current one is outside the workspace: imports, event loops, context managers."""
    return not call["current"] and call["file"].startswith(("/", "<frozen "))


def _locals(values: dict[str, str]) -> list[str]:
    shown: list[str] = []
    room = _MOST_LOCALS
    # If there are few variables, each gets more room: what matters is seldom at the beginning of an object.
    most = max(_MOST_LOCALS // max(len(values), 1) - 30, 120)
    for name, value in values.items():
        text = f"{name} = {value if len(value) <= most else value[: most - 3] + '...'}"
        room -= len(text) + 2
        if room < 0:
            break
        shown.append(text)
    more = f"; {len(values) - len(shown)} more: p locals()" if len(shown) < len(values) else ""
    return ["Locals: " + "; ".join(shown) + more] if values else []


def _without_current_line(said: str, state: DebuggerState) -> str:
    """Drop pdb's last line if it repeats the source line that the excerpt marks."""
    current = next((line[7:].strip() for line in state.get("source", []) if line[5:7] == "->"), None)
    return said[: said.rindex("\n")] if current and said.endswith(f"\n-> {current}") else said


def _breakpoints(table: list[Breakpoint]) -> str:
    if not table:
        return "No breakpoints."
    lines = []
    for row in table:
        line = f"  {row['number']}: {row['file']}:{row['line']}"
        line += f" if {row['condition']}" if row["condition"] else ""
        line += f" (ignored {row['ignore']} times)" if row["ignore"] else ""
        line += " (temporary)" if row["temporary"] else ""
        line += f" (runs {'; '.join(row['commands'])})" if row["commands"] else ""
        line += "" if row["enabled"] else " (disabled)"
        lines.append(line)
    return "Breakpoints:\n" + "\n".join(lines)
