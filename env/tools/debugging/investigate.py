"""An investigation: the agent asks a question, debugging tools answer it, and the workspace stays as it was.

`investigate` opens an investigation and `answer` ends it. In between only the tools of `INVESTIGATOR` are available,
for every caller: the agent `llm` gives them to a second model. The environment itself knows nothing of models.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.sandbox.base import Refused
from stackrank.env.sandbox.client import Changes
from stackrank.env.state import InvestigationState
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.debugging.pdb import INVESTIGATION

INVESTIGATOR = ("view", "listdir", "grep", "eval", "pdb", "answer")
"""The tools that are available during an investigation."""
_REPLACED = "\ufffd"
"""Stands in a path for bytes that are no text; no request can name such a file."""


class InvestigateArguments(Arguments):
    """What to find out."""

    body = "question"

    question: str = Field(
        min_length=1,
        description="What to find out, with all the context that it needs, for instance "
        "`Why is total 7 in test_discount of tests/test_cart.py, and which line makes it so?`",
    )


class Investigate:
    """Opens an investigation."""

    name = "investigate"
    version = "1"
    description = (
        "Ask an investigator with a debugger why the program behaves as it does. The investigator reads the current "
        "files, runs the tests under the debugger, changes nothing, and answers in a paragraph. It knows the task and "
        "your question, but nothing else that you have seen. Its steps count as yours."
    )
    arguments = InvestigateArguments

    def __call__(self, bench: Bench, arguments: InvestigateArguments) -> Observation:
        """Remember the workspace. The steps up to `answer` belong to the investigation."""
        bench.investigation = bench.sandbox.changes()
        return Observation(
            f"The investigation begins. Its tools: {', '.join(INVESTIGATOR)}. Its changes to the workspace are undone "
            "after the answer.",
            state=InvestigationState(kind="investigation", event="asked"),
        )


class AnswerArguments(Arguments):
    """What was found out."""

    body = "text"

    text: str = Field(
        min_length=1,
        description="The answer in one paragraph: the cause with file and line, the values that show it, and what is "
        "not certain.",
    )


class Answer:
    """Ends an investigation."""

    name = "answer"
    version = "1"
    description = "End the investigation with an answer to its question. Only investigators have this tool."
    arguments = AnswerArguments

    def __call__(self, bench: Bench, arguments: AnswerArguments) -> Observation:
        """Return the answer and restore the workspace. Raises ToolError if no question was asked."""
        if bench.investigation is None:
            raise ToolError("no investigation is in progress")
        text = arguments.text.strip()
        if failed_paths := restore_workspace(bench):
            text += f"\n[these changes of the investigation could not be undone: {', '.join(failed_paths)}]"
        return Observation(text, state=InvestigationState(kind="investigation", event="answered"))


def restore_workspace(bench: Bench) -> list[str]:
    """End the investigation in progress, if any: stop its debugger and undo its changes to the workspace.

    Returns the paths that could not be put back.
    """
    baseline, bench.investigation = bench.investigation, None
    if baseline is None:
        return []
    bench.sandbox.end_debug(INVESTIGATION)
    failed_paths = []
    current = bench.sandbox.changes()
    for path in _changed_paths(baseline, current):
        try:
            if path in baseline.skipped or _REPLACED in path:
                raise Refused(f"what {path} was is not known")
            content = None if path in baseline.deleted else baseline.files.get(path, bench.task.files.get(path))
            if content is None or path in current.skipped:
                _remove(bench, path)
            if content is not None:
                bench.sandbox.restore(path, content)
        except Refused:
            failed_paths.append(path)
    return failed_paths


def _changed_paths(baseline: Changes, current: Changes) -> Iterator[str]:
    def as_is(changes: Changes, path: str) -> tuple[bytes | None, bool, bool]:
        return changes.files.get(path), path in changes.deleted, path in changes.skipped

    names = {*baseline.files, *baseline.deleted, *baseline.skipped, *current.files, *current.deleted, *current.skipped}
    return (path for path in sorted(names) if as_is(baseline, path) != as_is(current, path))


def _remove(bench: Bench, path: str) -> None:
    # This removes a link but not its target, and then the folders that have become empty.
    folder = shlex.quote(str(PurePosixPath(path).parent))
    command = f"rm -rf -- {shlex.quote(path)} && {{ rmdir -p -- {folder} 2>/dev/null || true; }}"
    if bench.sandbox.run(command, 10.0).exit:
        raise Refused(f"{path} cannot be removed")
