"""A person at the keyboard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stackrank.agents.episode.protocol import Agent, Briefing, Decision, GaveUp, Setup, SetupError
from stackrank.agents.episode.step import Step
from stackrank.agents.human.commands import UnclearInput, files_in, help_text, read_action, suggestions
from stackrank.agents.human.console import console
from stackrank.env.actions import Observation
from stackrank.env.task import Task
from stackrank.wording import print_out

QUIT = ("quit", "exit", "q")


class Human(Agent):
    """Shows each observation and asks what to do. A line that cannot be understood costs no step."""

    version = "1"
    interactive = True
    reference = True

    @classmethod
    def configure(cls, *, model: str, config: Mapping[str, Any]) -> Setup:
        """The only setting is `player`, the name of the person who plays."""
        if unknown := sorted(set(config) - {"player"}):
            raise SetupError(f"the agent human has no setting {', '.join(unknown)}: its only setting is `player`")
        return Setup(identity=config)

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Raises SetupError, as `configure` does."""
        super().__init__(config=config)
        self._past: Iterator[Step] = iter(())
        self._files: dict[str, None] = {}
        self._steps = 0

    def recall(self, past: Sequence[Step]) -> None:
        """Repeat what the person did before the interruption, without asking again."""
        self._past = iter(past[1:])

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Say what can be typed."""
        self._tools = briefing.tools
        self._console = console(lambda words: suggestions(words, self._tools, self._files))
        print_out(f"Task {briefing.task_id}. Commands:\n\n{help_text(self._tools)}")

    def act(self, observation: Observation) -> Decision:
        """Return the action that the person types. Raises GaveUp at the end of input."""
        self._files.update(dict.fromkeys(files_in(observation.text)))
        for past in self._past:
            if past.action is not None:
                self._steps += 1
                return Decision(past.action)
        print_out(f"\n{observation.text}" if observation.ok else f"\nThat failed: {observation.text}")
        thoughts: list[str] = []
        prompt = f"[step {self._steps + 1}] > "
        while True:
            try:
                print_out()
                line = self._console.ask(prompt).strip()
                if line in QUIT:
                    raise EOFError
                if line.startswith("#"):
                    thoughts.append(line.lstrip("# "))
                elif line.partition(" ")[0] == "help":
                    print_out(help_text(self._tools, line.partition(" ")[2].strip()))
                elif line:
                    action = read_action(line, self._tools, self._code)
                    self._steps += 1
                    return Decision(action, "\n".join(thoughts))
            except UnclearInput as error:
                print_out(error)
            except EOFError:
                raise GaveUp("the player quit") from None

    def _code(self) -> str:
        """Read lines until one with a single dot. Two dots stand for a line that is a single dot."""
        lines = []
        while (line := self._console.ask("  | ", code=True)) != ".":
            lines.append("." if line == ".." else line)
        return "".join(f"{line}\n" for line in lines)
