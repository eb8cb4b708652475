"""Builds the command that runs only some of a task's tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection

from stackrank.env.sandbox.guest.testing.commands import pytest_run
from stackrank.env.task import Task
from stackrank.env.tools.base import ToolError

_WITH_VALUE = re.compile(r"-[ckmnopW]|--[\w-]+")
"""pytest options whose value may be the next word."""
_BETWEEN = re.compile(r"[\s,]+(?=[^\s\[\],]*(?:::|\.py\b))")


def named(asked: str, known: Collection[str]) -> list[str]:
    """Split what an agent wrote into test ids; parameters in brackets may contain spaces."""
    asked = asked.strip().strip("[]\"'") if asked.strip().startswith("[") else asked.strip()
    if asked in known:
        return [asked]
    return [each.strip("\"'") for each in _BETWEEN.split(asked) if each.strip("\"'")]


def command_for(task: Task, chosen: Collection[str], verbose: bool) -> str:
    """Return the test command for the `chosen` ids of tests or files; if empty, for all tests. Raises ToolError."""
    run = pytest_run(task.test_command)
    if run is None:
        raise ToolError(f"the tests are run by `{task.test_command}`, which takes no ids and is always as verbose")
    arguments = _without_paths(run.arguments, task, run.folder) if chosen else list(run.arguments)
    folder = "" if run.folder == "." else f"cd {shlex.quote(run.folder)} && "
    variables = [f"{name}={shlex.quote(value)}" for name, value in run.variables.items()]
    # Not -vv: a -q in the task's own command would cancel one v, and pytest would cut differences again.
    words = ["python", "-m", "pytest", *arguments, *(["--verbosity=2"] if verbose else []), *chosen]
    return folder + " ".join([*variables, *map(shlex.quote, words)])


def _without_paths(arguments: list[str], task: Task, folder: str) -> list[str]:
    kept: list[str] = []
    for argument in arguments:
        place = argument.partition("::")[0].rstrip("/")
        path = place if folder == "." else f"{folder}/{place}"
        is_path = path == "." or any(file == path or file.startswith(f"{path}/") for file in task.files)
        if argument.startswith("-") or not is_path or (kept and _WITH_VALUE.fullmatch(kept[-1])):
            kept.append(argument)
    return kept
