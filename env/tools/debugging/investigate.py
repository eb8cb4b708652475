"""An investigation: the agent asks a question, debugging tools answer it, and the workspace stays as it was.

`investigate` opens an investigation and `answer` ends it. In between only the tools of `INVESTIGATOR` are available,
whoever uses them: the agent `llm` gives them to a second model. The environment itself knows nothing of models.
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


class InvestigateArguments(Arguments):
    """What to find out."""

    body = "question"

    question: str = Field(
        min_length=1,
        description="What to find out, with all that has to be known for it, for instance "
        "`Why is total 7 in test_discount of tests/test_cart.py, and which line makes it so?`",
    )


class Investigate:
    """Opens an investigation."""

    name = "investigate"
    version = "1"
    description = (
        "Ask an investigator who has a debugger why the program does what it does. It looks at the files as they are "
        "now, runs the tests under the debugger, changes nothing, and answers in a paragraph. It knows the task and "
        "your question, and nothing else that you have seen. Its steps count as yours."
    )
    arguments = InvestigateArguments

    def __call__(self, bench: Bench, arguments: InvestigateArguments) -> Observation:
        """Remember the workspace. The steps up to `answer` belong to the investigation."""
        bench.investigation = bench.sandbox.changes()
        return Observation(
            f"The investigation begins. Its tools: {', '.join(INVESTIGATOR)}. What it changes in the workspace is put "
            "back when it has answered.",
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
    description = "End the investigation with an answer to its question. Only whoever investigates has this tool."
    arguments = AnswerArguments

    def __call__(self, bench: Bench, arguments: AnswerArguments) -> Observation:
        """Return the answer and restore the workspace. Raises ToolError if no question was asked."""
        if bench.investigation is None:
            raise ToolError("there is no investigation that could be answered")
        text = arguments.text.strip()
        if left := put_back(bench):
            text += f"\n[the investigation changed what could not be put back: {', '.join(left)}]"
        return Observation(text, state=InvestigationState(kind="investigation", event="answered"))


def put_back(bench: Bench) -> list[str]:
    """End the investigation in progress, if any: stop its debugger and undo its changes to the workspace.

    Returns the paths that could not be put back.
    """
    before, bench.investigation = bench.investigation, None
    if before is None:
        return []
    bench.sandbox.end_debug(INVESTIGATION)
    left = []
    now = bench.sandbox.changes()
    for path in _different(before, now):
        try:
            if path in before.skipped:
                raise Refused(f"what {path} was is not known")
            content = None if path in before.deleted else before.files.get(path, bench.task.files.get(path))
            if content is None or path in now.skipped:
                _remove(bench, path)
            if content is not None:
                bench.sandbox.restore(path, content)
        except Refused:
            left.append(path)
    return left


def _different(before: Changes, now: Changes) -> Iterator[str]:
    def as_is(changes: Changes, path: str) -> tuple[bytes | None, bool, bool]:
        return changes.files.get(path), path in changes.deleted, path in changes.skipped

    names = {*before.files, *before.deleted, *before.skipped, *now.files, *now.deleted, *now.skipped}
    return (path for path in sorted(names) if as_is(before, path) != as_is(now, path))


def _remove(bench: Bench, path: str) -> None:
    # This removes a link but not its target, and then the folders that have become empty.
    folder = shlex.quote(str(PurePosixPath(path).parent))
    command = f"rm -rf -- {shlex.quote(path)} && {{ rmdir -p -- {folder} 2>/dev/null || true; }}"
    if bench.sandbox.run(command, 10.0).exit:
        raise Refused(f"{path} cannot be removed")
