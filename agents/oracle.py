"""`oracle`: the agent that knows the fix. It proves that a benchmark can be solved and that the scorer sees it."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from stackrank.agents.episode.protocol import Agent, Briefing, Decision, GaveUp, SetupError
from stackrank.env.actions import Action, Observation
from stackrank.env.patches import apply_patch
from stackrank.env.task import Task
from stackrank.patches.contents import Executable, Link, decode_text

_CHUNK = 48_000
"""How many bytes of a binary file one command writes: a system limits the length of commands."""


class Oracle(Agent):
    """Applies the known fix through the ordinary tools, then submits."""

    version = "1"
    knows_fix = True
    reference = True
    needs_tools = ("rewrite",)
    uses_servers = False

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Raises SetupError when the task has no known fix."""
        super().__init__(config=config)
        if task is None or not task.fix:
            raise SetupError(f"the oracle needs a known fix, and {task.id if task else 'the task'} has none")
        self._task = task
        self._actions: Iterator[Action] = iter(())
        self._missing = ""
        """Why the fix cannot be applied with the tools; empty if it can."""

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Work out the edits."""
        files, fixed = self._task.files, apply_patch(self._task.files, self._task.fix)
        has_shell = "bash" in briefing.tools.tools
        actions = []
        for path in [path for path, content in fixed.items() if files.get(path) != content]:
            text = _text(path, files.get(path), fixed[path])
            if text is not None:
                actions.append(Action("rewrite", {"path": path, "new_code": text}))
            elif has_shell:
                actions += [Action("bash", {"command": command}) for command in _commands(path, fixed[path])]
            else:
                self._missing = f"the known fix changes {path}, which is no plain text file, and there is no tool bash"
        for path in files.keys() - fixed.keys():
            remove = Action("bash", {"command": f"rm -f -- {shlex.quote(path)}"})
            actions.append(remove if has_shell else Action("rewrite", {"path": path, "new_code": ""}))
        last = "eval" if "eval" in briefing.tools.tools else "submit"
        self._actions = iter([*actions, Action(last), Action("submit")])

    def act(self, observation: Observation) -> Decision:
        """Return the next edit."""
        if self._missing:
            raise GaveUp(self._missing)
        for action in self._actions:
            return Decision(action)
        raise GaveUp("the known fix has been applied and submitted")


def _text(path: str, old: bytes | None, new: bytes) -> str | None:
    """Return the new text of a file; None if writing a text does not give the file its content and mode."""
    plain = b"" if old is None else old
    if isinstance(new, Link) or isinstance(plain, Link) or isinstance(plain, Executable) != isinstance(new, Executable):
        return None
    text = decode_text(bytes(new), path)
    return None if text is None or b"\0" in plain else text.removeprefix("\ufeff")


def _commands(path: str, content: bytes) -> Iterator[str]:
    """Yield shell commands that write a file."""
    place = shlex.quote(f"./{path}")
    yield f'mkdir -p -- "$(dirname -- {place})" && rm -f -- {place}'
    if isinstance(content, Link):
        yield f"ln -s -- {shlex.quote(content.target.decode('utf-8', 'replace'))} {place}"
        return
    for start in range(0, max(len(content), 1), _CHUNK):
        yield f"printf %s {base64.b64encode(content[start : start + _CHUNK]).decode()} | base64 -d >> {place}"
    if isinstance(content, Executable):
        yield f"chmod +x -- {place}"
