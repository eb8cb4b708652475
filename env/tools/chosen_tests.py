"""Builds the command that runs only some of a task's tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection

from stackrank.env.sandbox.guest.commands import pytest_run
from stackrank.env.task import Task
from stackrank.env.tools.base import ToolError

_WITH_VALUE = re.compile(r"-[ckmnopW]|--[\w-]+")
"""pytest options whose value may be the next word."""
_BETWEEN = re.compile(r"[\s,]+(?=[^\s\[\],]*(?:::|\.py\b))")


def parse_test_ids(text: str, ids: Collection[str]) -> list[str]:
    """Split what an agent wrote into test ids; parameters in brackets may contain spaces."""
    text = text.strip().strip("[]\"'") if text.strip().startswith("[") else text.strip()
    if text in ids:
        return [text]
    return [word.strip("\"'") for word in _BETWEEN.split(text) if word.strip("\"'")]


def command_for(task: Task, ids: Collection[str], verbose: bool) -> str:
    """Return the test command for the `chosen` ids of tests or files; if empty, for all tests. Raises ToolError."""
    run = pytest_run(task.test_command)
    if run is None:
        raise ToolError(f"the tests are run by `{task.test_command}`, which accepts neither test ids nor `verbose`")
    arguments = _without_paths(run.arguments, task, run.folder) if ids else list(run.arguments)
    folder = "" if run.folder == "." else f"cd {shlex.quote(run.folder)} && "
    variables = [f"{name}={shlex.quote(value)}" for name, value in run.variables.items()]
    # Not -vv: a -q in the task's own command would cancel one v, and pytest would cut differences again.
    words = ["python", "-m", "pytest", *arguments, *(["--verbosity=2"] if verbose else []), *ids]
    return folder + " ".join([*variables, *map(shlex.quote, words)])


def _without_paths(arguments: list[str], task: Task, folder: str) -> list[str]:
    words: list[str] = []
    for argument in arguments:
        place = argument.partition("::")[0].rstrip("/")
        path = place if folder == "." else f"{folder}/{place}"
        is_path = path == "." or any(file == path or file.startswith(f"{path}/") for file in task.files)
        if argument.startswith("-") or not is_path or (words and _WITH_VALUE.fullmatch(words[-1])):
            words.append(argument)
    return words
