"""`replay`: repeats a trajectory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from stackrank.agents.episode.protocol import (
    Agent,
    Briefing,
    Decision,
    GaveUp,
    MalformedAction,
    RecordingQuery,
    Setup,
    SetupError,
)
from stackrank.env.actions import Action, Observation
from stackrank.env.task import Task
from stackrank.terms import DEBUGGERS


class Replay(Agent):
    """Repeats the recorded actions, whatever it observes. The fields of `RecordingQuery` are its settings."""

    version = "1"
    reference = True
    debuggers = frozenset(DEBUGGERS)

    @classmethod
    def configure(cls, *, model: str, config: Mapping[str, Any]) -> Setup:
        """Raises SetupError if the settings do not select a trajectory."""
        _read(config)
        return Setup(identity=config)

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Raises SetupError, as `configure` does."""
        self._recording = _read(config or {})

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Look up the trajectory. Raises SetupError if there is none."""
        if briefing.find_recording is None:
            raise SetupError("the agent replay needs a database with the episodes that it repeats: use it in a run")
        self._steps = iter(briefing.find_recording(self._recording)[1:])

    def act(self, observation: Observation) -> Decision:
        """Return the next recorded action; a step that was malformed is malformed again."""
        for step in self._steps:
            if step.action is None:
                raise MalformedAction(step.observation.text)
            return Decision(Action(step.action.tool, step.action.arguments))
        raise GaveUp("the recorded trajectory has ended")


def _read(config: Mapping[str, Any]) -> RecordingQuery:
    try:
        recording = RecordingQuery.model_validate(config)
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(map(str, first["loc"]))
        raise SetupError(f"the config of the agent replay is invalid at {location}: {first['msg']}") from None
    if (recording.episode is None) == (recording.run is None):
        raise SetupError("the agent replay needs config: {episode: NUMBER} or {run: NUMBER}, to know what to repeat")
    return recording
