"""What an agent is. Whoever writes one reads this page.

An agent is a class that inherits from `Agent`. The class answers what a run asks before it starts: what the agent
needs, and whether it can play as configured. An object of the class plays one episode: it is told the task by `begin`,
and then asked by `act` for one action after another. Other packages add theirs by the entry point group
`stackrank.agents`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict

from stackrank.agents.episode.step import Exchange, Step, Usage
from stackrank.env.actions import Action, Observation
from stackrank.env.environment import Environment
from stackrank.env.task import Task
from stackrank.env.tools import ToolSet
from stackrank.errors import InfrastructureError, StackrankError, UsageError
from stackrank.terms import DEBUGGERS, StopReason


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent wants to do next, and what it cost to find out."""

    action: Action
    thought: str = ""
    usage: Usage = field(default_factory=Usage)
    exchanges: tuple[Exchange, ...] = ()


class Recording(BaseModel):
    """Which recorded trajectory is meant, of those for the task that is played."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    episode: int | None = None
    """The id of the recorded episode."""
    run: int | None = None
    """The run whose episode on the same task, with the same attempt, is meant."""
    entrant: str = ""
    """The entrant whose episode is meant, where several played the run."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """What an agent is told before its first action."""

    task_id: str
    statement: str
    test_command: str
    tools: ToolSet
    max_steps: int
    seed: int = 0
    """The run's seed; 0 where none was chosen."""
    attempt_seed: int = 0
    """What the agent's random choices start from. It differs between attempts, which would otherwise be repeats."""
    left_s: Callable[[], float] | None = None
    """Seconds that the episode has left; None: no limit."""
    find_recording: Callable[[Recording], Sequence[Step]] | None = None
    """Looks a recorded trajectory up, the reset included. Raises SetupError: there is none, or several.
    None: this episode is played without a database."""
    files: tuple[str, ...] = ()
    """The files of the workspace, as `listdir` shows them, those of the program first; folders of many are one line."""
    failing_file: str = ""
    """The path and the text of the file whose tests fail at the reset. Empty: it is long, or not one file."""

    ends_when_solved: bool = True
    """Whether the first `eval` that shows every visible test passing ends the episode."""

    @property
    def model_seed(self) -> int:
        """The seed to send to a model's endpoint; 0: none."""
        return self.attempt_seed if self.seed else 0


class GaveUp(StackrankError):
    """The agent does not go on; the message says why. What was edited so far gets its verdict."""

    def __init__(self, message: str = "", reason: StopReason = StopReason.AGENT_GAVE_UP) -> None:
        super().__init__(message)
        self.reason = reason


class Malformed(StackrankError):
    """What the agent said is no action; the message is the correction it gets as its next observation."""

    def __init__(
        self, message: str, *, said: str = "", usage: Usage | None = None, exchanges: tuple[Exchange, ...] = ()
    ) -> None:
        """`said`: what the agent said, for the record."""
        super().__init__(message)
        self.said = said
        self.usage = usage or Usage()
        self.exchanges = exchanges


class OutOfTime(StackrankError):
    """The episode's time was over before the agent had decided."""


class EndpointError(InfrastructureError):
    """The model's endpoint failed for good: infrastructure, never the entrant's failure."""


class EndpointDown(EndpointError):
    """The endpoint does not answer anybody, or says that it cannot at the moment: other questions fare no better."""

    def __init__(self, message: str, endpoint: str = "") -> None:
        """`endpoint`: its address as `Endpoint.shown_url` has it; empty where nobody knows which one it was."""
        super().__init__(message)
        self.endpoint = endpoint


class SetupError(UsageError):
    """The agent cannot play at all as configured (no key, unknown model): one sentence with the remedy."""


class AccessError(SetupError):
    """The model's endpoint refuses the key or does not know the model: no other episode can be played either."""


class Endpoint(Protocol):
    """A model's endpoint, as far as a run keeps its limits over all workers. None: no limit."""

    @property
    def shown_url(self) -> str:
        """Its address without user name, password or key; one address has one set of limits."""
        ...

    @property
    def max_concurrency(self) -> int | None:
        """Episodes that may use it at the same time."""
        ...

    @property
    def requests_per_minute(self) -> float | None:
        """Questions a minute."""
        ...

    @property
    def tokens_per_minute(self) -> float | None:
        """Tokens of questions and answers a minute."""
        ...


def _nothing_to_check() -> None:
    """There is nothing outside this process that could refuse the agent."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run has to know about a configured agent before it makes one."""

    identity: Mapping[str, Any] = field(default_factory=dict)
    """The settings that change what the agent does. They are part of the entrant's identity: entrants whose settings
    differ in others only (a key's file, a rate limit) are the same entrant."""
    endpoints: tuple[Endpoint, ...] = ()
    """The models' endpoints that it will use."""
    unpriced: tuple[str, ...] = ()
    """The models that it will use and whose price is unknown. A run with a limit in dollars refuses them."""
    check: Callable[[], None] = _nothing_to_check
    """Asks the endpoints whether they take the key and know the model; called once, before a run's first sandbox is
    started. Raises SetupError, EndpointError."""
    installed: tuple[Environment, ...] = ()
    """What is installed in its sandboxes, beside a task's own environment."""


class Agent(ABC):
    """Plays one episode. Each episode gets an object of its own, which is made when the episode begins."""

    version: ClassVar[str]
    """Changes when the agent's behaviour does; part of the entrant's identity."""
    needs_model: ClassVar[bool] = False
    """Whether an entrant has to name a model; otherwise it must not."""
    knows_fix: ClassVar[bool] = False
    """Whether the agent is given the task with its known fix. Only an agent that proves a benchmark is."""
    reference: ClassVar[bool] = False
    """Whether its entrants are shown beside the others and not ranked: they show what a board's numbers mean."""
    interactive: ClassVar[bool] = False
    """Whether somebody plays from outside: a person at this process's terminal, a program that is connected to it. Such
    an agent does not play in ordinary runs."""

    only_tools: ClassVar[str] = ""
    """The tool set that all its entrants have. Empty: they choose."""
    debuggers: ClassVar[frozenset[str]] = frozenset(DEBUGGERS) - {"investigate"}
    """The debugging tools that it makes use of. An entrant whose tool set has none but others is not played: it would
    show nothing of what they are worth. The questions of `investigate` need an agent that lets somebody answer them."""

    uses_servers: ClassVar[bool] = True
    """Whether it calls the tools of MCP servers. Entrants of one that does not may name none."""

    @classmethod
    def portable(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """The configuration with the content of files in the place of their names: others do not have the files.

        Raises SetupError: a file cannot be read.
        """
        return dict(config)

    @classmethod
    def configure(cls, *, model: str, config: Mapping[str, Any]) -> Setup:
        """Check a configuration without making an agent or asking anybody. Raises SetupError: it is wrong.

        An agent that has settings overrides this; without it there are none.
        """
        if config:
            raise SetupError(f"this agent has no settings: leave out {', '.join(map(repr, config))}")
        return Setup()

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Asks nobody anything yet. `task` is given only where `knows_fix`. Raises SetupError, as `configure` does."""
        self.configure(model=model, config=config or {})

    def recall(self, past: Sequence[Step]) -> None:  # noqa: B027  an agent that computes needs nothing here
        """Told before `begin` when an episode that was cut off is continued.

        `act` is then asked for every past step again and has to decide as it did, without paying for it again: an
        agent that asks models answers from the past's exchanges. One that computes comes to the same decisions anyway
        and leaves this as it is.
        """

    @abstractmethod
    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Learn the task and the first observation: the instructions and the failing tests."""

    @abstractmethod
    def act(self, observation: Observation) -> Decision:
        """The next action, given the last observation. Raises GaveUp, Malformed, OutOfTime, EndpointError."""
