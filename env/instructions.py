"""What the first observation says about the task, for every agent alike."""

from __future__ import annotations

from collections.abc import Collection

from stackrank.env.statement_alone import StatementView
from stackrank.env.task import Task

INSTRUCTIONS = """\
{statement}

The program in the workspace does not behave as intended. Find the root cause and fix it; the bug may not be where it \
first appears. Tests are read-only, and further tests that you cannot see decide in the end.{shell}
Test command: {command}"""

NO_REPOSITORY = "The workspace is not a Git repository."
RESTORED = "What a shell command writes to read-only files is undone before `eval` runs."
MASKED = "Durations that pytest and `time` print are shown as 0.00, and memory addresses as 0x...1, 0x...2."
"""What a shell shows otherwise than one would expect of it."""

ALONE = """\
{statement}

The program in the workspace does not behave as intended. There is no failing test that shows it: reproduce what is \
reported, find the root cause and fix it. Tests that you cannot see decide in the end.{shell}
Test command: {command}
Write tests of the reported behaviour in `{own}`{how}. They are not part of your solution."""

_SHELLS = frozenset(("bash", "terminal", "program"))


def instructions(statement: str, task: Task, tools: Collection[str], view: StatementView | None) -> str:
    """Return the instructions. `task`: as the agent sees it. `view`: what is shown instead of a failing test."""
    fields = {"statement": statement.strip(), "command": task.test_command, "shell": _about_shell(task, tools)}
    if view is None:
        return INSTRUCTIONS.format(**fields)
    run_hint = ", and run them with `eval` and that file as `test`" if view.runs else ""
    return ALONE.format(**fields, own=view.own_test, how=run_hint)


def _about_shell(task: Task, tools: Collection[str]) -> str:
    if _SHELLS.isdisjoint(tools):
        return ""
    is_repository = any(path.startswith(".git/") for path in task.files)
    facts = [*([] if is_repository else [NO_REPOSITORY]), *([RESTORED] if "eval" in tools else []), MASKED]
    return "".join(f" {fact}" for fact in facts)
