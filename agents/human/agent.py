"""A person at the keyboard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agents.base import Briefing, Decision, GaveUp, Past, SetupError
from agents.human.commands import Unclear, files_in, help_text, read_action, suggestions
from agents.human.console import console
from env.actions import Observation
from env.task import Task

QUIT = ("quit", "exit", "q")


class Human:
    """Shows each observation and asks what to do. What is mistyped costs no step."""

    version = "1"
    needs_model = False
    knows_fix = False

    def __init__(self, *, model: str = "", config: dict[str, Any] | None = None, task: Task | None = None) -> None:
        """`config`: `player`, the name of who plays. Raises SetupError for anything else."""
        if unknown := sorted(set(config or {}) - {"player"}):
            raise SetupError(f"the agent human knows no setting {', '.join(unknown)}: there is only `player`")
        self._past: Iterator[Past] = iter(())
        self._files: dict[str, None] = {}
        self._steps = 0

    def recall(self, past: Sequence[Past]) -> None:
        """Nobody is asked again for what they did before."""
        self._past = iter(past[1:])

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Say what can be typed."""
        self._tools = briefing.tools
        self._console = console(lambda before: suggestions(before, self._tools, self._files))
        print(f"Task {briefing.task_id}. What you can type:\n\n{help_text(self._tools)}")

    def act(self, observation: Observation) -> Decision:
        """What the person wants. Raises GaveUp at the end of input."""
        self._files.update(dict.fromkeys(files_in(observation.text)))
        for past in self._past:
            if past.action is not None:
                self._steps += 1
                return Decision(past.action)
        print(f"\n{observation.text}" if observation.ok else f"\nThat cannot be done: {observation.text}")
        thoughts: list[str] = []
        prompt = f"[step {self._steps + 1}] > "
        while True:
            try:
                print()
                line = self._console.ask(prompt).strip()
                if line in QUIT:
                    raise EOFError
                if line.startswith("#"):
                    thoughts.append(line.lstrip("# "))
                elif line.partition(" ")[0] == "help":
                    print(help_text(self._tools, line.partition(" ")[2].strip()))
                elif line:
                    action = read_action(line, self._tools, self._code)
                    self._steps += 1
                    return Decision(action, "\n".join(thoughts))
            except Unclear as error:
                print(error)
            except EOFError:
                raise GaveUp("the player had enough") from None

    def _code(self) -> str:
        """Lines up to one with a single dot; two dots stand for a line with one."""
        lines = []
        while (line := self._console.ask("  | ", code=True)) != ".":
            lines.append("." if line == ".." else line)
        return "".join(f"{line}\n" for line in lines)
