"""Episodes for tests: in a real sandbox, or against an environment that plays from a script."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import pytest

from stackrank.agents.episode.loop import Budget, Outcome, play
from stackrank.agents.episode.protocol import Agent, Briefing, Decision
from stackrank.agents.episode.step import Step, Usage
from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.scoring.judge import Score
from stackrank.env.task import Limits, Task
from stackrank.env.tools import tool_set
from tests.env.conftest import cart, usable
from tests.support.openai_server import Entry, OpenAIServer

CART = cart(limits=Limits())  # whose tests may take long: a busy machine changes no verdict
UNRESOLVED = Score(resolved=False, unfixed=("t::a",), diff="some diff")
RESOLVED = Score(resolved=True, diff="some diff")


class Scripted(Agent):
    """An agent that says what it is told to: actions, usages, exceptions."""

    version = "1"

    def __init__(self, said: Iterable[Action | Decision | BaseException]) -> None:
        self._said = iter(said)
        self.seen: list[Observation] = []

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        self.briefing = briefing

    def act(self, observation: Observation) -> Decision:
        self.seen.append(observation)
        each = next(self._said)
        if isinstance(each, BaseException):
            raise each
        return each if isinstance(each, Decision) else Decision(each)


class FakeEnv:
    """Answers from a function; knows no sandbox."""

    def __init__(
        self,
        task: Task,
        answer: Callable[[Action], Observation] = lambda action: Observation(f"did {action.tool}", env_ms=1.0),
        score: Score = UNRESOLVED,
    ) -> None:
        self.task = self.shown = task
        self.tools = tool_set("debug")
        self.over = ""
        self.ends_when_solved = True
        self.changes = None
        self.score_ms = 2.0
        self.scored = 0
        self._answer = answer
        self._score = score

    def reset(self) -> tuple[Observation, dict[str, Any]]:
        return Observation("failing", state={"tests": {"passed": 0, "failed": 1, "ids": {}}, "solved": False}), {}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        observation = self._answer(action)
        self.over = str(observation.state.get("over", ""))
        return observation, 0.0, bool(self.over), False, {}

    def score(self) -> Score:
        self.scored += 1
        return self._score


def play_fake(env: FakeEnv, agent: Agent, budget: Budget | None = None, **options: Any) -> tuple[Outcome, list[Step]]:
    """Play with a fake environment: (how it ended, what was recorded)."""
    recorded: list[Step] = []
    outcome = play(cast(DebugEnv, env), agent, budget=budget or Budget(), record=recorded.append, **options)
    return outcome, recorded


def play_real(
    task: Task, agent: Agent, tools: str = "debug", budget: Budget | None = None, seed: int = 0, attempt: int = 1
) -> tuple[Outcome, list[Step]]:
    """Play in a real sandbox: (how it ended, what was recorded)."""
    recorded: list[Step] = []
    kind = usable("bubblewrap")
    with DebugEnv(task, tool_set(tools), lambda spec: Sandbox(kind, spec)) as env:
        outcome = play(env, agent, budget=budget or Budget(), record=recorded.append, seed=seed, attempt=attempt)
    return outcome, recorded


def costing(action: Action, **usage: Any) -> Decision:
    """A decision that cost something."""
    return Decision(action, usage=Usage(**usage))


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., OpenAIServer]]:
    """Starts scripted endpoints; the last one started is where OPENAI_BASE_URL points."""
    started: list[OpenAIServer] = []

    def start(script: Sequence[Entry] | Callable[[dict[str, Any]], Entry], **options: Any) -> OpenAIServer:
        server = OpenAIServer(script, **options).__enter__()
        started.append(server)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-planted-key-1234")
        return server

    yield start
    for server in started:
        server.__exit__()
