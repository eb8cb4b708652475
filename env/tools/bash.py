"""The tool that runs shell commands."""

from __future__ import annotations

import shlex
import signal

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.state import CommandState
from stackrank.env.task import Task
from stackrank.env.terminal.debuggers import read_debuggers
from stackrank.env.tools.base import Arguments, Bench
from stackrank.env.tools.shown import MOST_OF_A_FILE, limit


def describe_exit(status: int, task: Task) -> str:
    """Describe an exit status in words."""
    # A shell reports 128 + signal for a command that a signal killed.
    number = -status if status < 0 else status - 128 if status > 128 else 0
    if number == signal.SIGKILL:
        return f"killed (SIGKILL): it used more than {task.limits.memory_mb} MB of memory, or a program killed it"
    if status < 0:
        return f"killed by signal {number}"
    return f"exit status {status}"


def in_bash(command: str) -> str:
    """Return a command that a plain shell passes on to bash, if the sandbox has it."""
    text = shlex.quote(command)
    return f"command -v bash >/dev/null && exec bash -c {text}\n{command}"


class BashArguments(Arguments):
    """What to run."""

    body = "command"

    command: str = Field(description="A shell command, run in the workspace.")
    timeout_s: float | None = Field(
        None, gt=0, le=600, description="Seconds it may take, at most the task's limit, which is the default."
    )
    limit: int = limit(MOST_OF_A_FILE)


class Bash:
    """Runs a shell command."""

    name = "bash"
    version = "5"
    description = (
        "Run a command in bash (sh where there is none) in the workspace and show its output. "
        "Standard input is empty, there is no network, and background processes end with the command."
    )
    arguments = BashArguments

    def __call__(self, bench: Bench, arguments: BashArguments) -> Observation:
        """Return the output and the exit status."""
        most_s = bench.task.limits.timeout_s
        timeout_s = min(arguments.timeout_s or most_s, most_s)
        result = bench.sandbox.run(in_bash(arguments.command), timeout_s)
        parts = [result.output.rstrip()] if result.output.strip() else []
        if result.timed_out:
            limit_note = ", the task's limit" if timeout_s == most_s else ""
            parts.append(f"[still running after {timeout_s:g} s{limit_note}: killed, with everything it started]")
        elif result.exit:
            parts.append(f"[{describe_exit(result.exit, bench.task)}]")
        text = "\n".join(parts) or "[no output]"
        state = CommandState(kind="command", exit=result.exit, timed_out=result.timed_out)
        if events := read_debuggers(text, bench.task.files.keys(), bench.sandbox.root):
            state["debug_events"] = events
        return Observation(text, state=state)
