"""`replay`: repeats a trajectory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agents.base import Briefing, Decision, GaveUp, Malformed, Past, SetupError
from env.actions import Action, Observation
from env.task import Task


class Source(BaseModel):
    """An entrant's `config`: whose trajectory is repeated."""

    model_config = ConfigDict(extra="forbid")

    episode: int | None = None
    """This episode's, on its task."""
    run: int | None = None
    """That of this run's episode of the same task and attempt."""
    entrant: str = ""
    """Of which entrant, where several played the run."""


class Replay:
    """Takes the actions that are recorded, whatever it sees."""

    version = "1"
    needs_model = False
    knows_fix = False

    def __init__(self, *, model: str = "", config: dict[str, Any] | None = None, task: Task | None = None) -> None:
        """Raises SetupError: it is not said which trajectory is meant."""
        try:
            self.source = Source.model_validate(config or {})
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise SetupError(f"the config of the agent replay is wrong at {where}: {first['msg']}") from None
        if (self.source.episode is None) == (self.source.run is None):
            raise SetupError(
                "the agent replay needs config: {episode: NUMBER} or {run: NUMBER}, to know what to repeat"
            )
        self._steps: Iterator[Past] = iter(())

    def follow(self, trajectory: Sequence[Past]) -> None:
        """What to repeat, the reset included; given before `begin`, by who knows the database."""
        self._steps = iter(trajectory[1:])

    def recall(self, past: Sequence[Past]) -> None:
        """Nothing to remember: the trajectory is the same."""

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """There is nothing to learn."""

    def act(self, observation: Observation) -> Decision:
        """The next recorded action; a step that was malformed is malformed again."""
        for step in self._steps:
            if step.action is None:
                raise Malformed(step.observation.text)
            return Decision(Action(step.action.tool, step.action.arguments))
        raise GaveUp("the trajectory is over")
