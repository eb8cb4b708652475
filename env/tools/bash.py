"""Running any command."""

from __future__ import annotations

from pydantic import Field

from env.actions import Observation
from env.tools.base import Arguments, Bench


class BashArguments(Arguments):
    """What to run."""

    command: str = Field(description="A shell command, run in the workspace.")
    timeout_s: float | None = Field(None, gt=0, le=600, description="Seconds it may take. Default: the task's limit.")


class Bash:
    """Runs a shell command."""

    name = "bash"
    description = (
        "Run a shell command in the workspace and show its output. "
        "Standard input is empty, there is no network, and background processes end with the command."
    )
    arguments = BashArguments

    def __call__(self, bench: Bench, arguments: BashArguments) -> Observation:
        """Output and exit status."""
        limit = bench.task.limits.timeout_s
        timeout_s = min(arguments.timeout_s or limit, limit)
        result = bench.sandbox.run(arguments.command, timeout_s)
        parts = [result.output.rstrip()] if result.output.strip() else []
        if result.timed_out:
            parts.append(f"[still running after {timeout_s:g} s: killed, with everything it started]")
        elif result.exit:
            how = f"killed by signal {-result.exit}" if result.exit < 0 else f"exit status {result.exit}"
            parts.append(f"[{how}]")
        text = "\n".join(parts) or "[no output]"
        return Observation(text, state={"exit": result.exit, "timed_out": result.timed_out})
