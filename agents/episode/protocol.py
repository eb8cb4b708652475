"""The agent protocol. To write an agent, read this file.

An agent is a class that inherits from `Agent` and implements two methods: `begin` receives the task, and each call of
`act` returns the next action. stackrank uses the class in this order:

1. Before a run: the class attributes say what the agent needs; `inline_files` and `configure` check its settings.
2. Per episode, one instance: `__init__`, then `recall` if an interrupted episode continues, then `begin`.
3. `act`, again and again, until the episode ends: a limit is reached, the tests pass, `submit`, or an error below.

What `act` raises decides what happens: MalformedAction costs one step and corrects the agent; GaveUp and OutOfTime end
the episode, and its edits are scored; EndpointError ends it without a verdict, and it is retried.

Other packages register agents under the entry point group `stackrank.agents` (docs/guide/plug-ins.md).
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

# ---- the agent


class Agent(ABC):
    """Plays one episode. Each episode gets a new instance, created when the episode begins."""

    version: ClassVar[str]
    """Increase it when the agent's behaviour changes. It is part of the entrant's identity."""
    needs_model: ClassVar[bool] = False
    """Whether its entrants must name a model; otherwise they must not."""
    knows_fix: ClassVar[bool] = False
    """Whether the agent gets the task with its known fix. Only agents that validate a benchmark do."""
    reference: ClassVar[bool] = False
    """Whether its entrants are shown without a rank, as a reference for what a leaderboard's numbers mean."""
    interactive: ClassVar[bool] = False
    """Whether a person at this process's terminal, or a program connected to it, decides. Such an agent does not play
    in ordinary runs."""

    only_tools: ClassVar[str] = ""
    """The tool set of all its entrants. Empty: each entrant chooses one."""
    needs_tools: ClassVar[tuple[str, ...]] = ()
    """The tools without which it cannot play. Runs leave out entrants whose tool set lacks one of them, because their
    failing would say nothing about the agent."""
    debuggers: ClassVar[frozenset[str]] = frozenset(DEBUGGERS) - {"investigate"}
    """The debugging tools that it uses. Runs leave out entrants whose tool set has only other ones, because they would
    say nothing about what those tools are worth. `investigate` needs an agent that provides an investigator."""
    uses_servers: ClassVar[bool] = True
    """Whether it calls the tools of MCP servers. Otherwise its entrants must not name any."""

    @classmethod
    def inline_files(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the configuration with file names replaced by the files' contents, for machines without the files.

        Agents whose settings name files override this. Raises SetupError if a file cannot be read.
        """
        return dict(config)

    @classmethod
    def configure(cls, *, model: str, config: Mapping[str, Any]) -> Setup:
        """Check a configuration, without creating an agent or contacting an endpoint. Raises SetupError if it is wrong.

        Agents with settings override this. By default there are no settings.
        """
        if config:
            raise SetupError(f"this agent has no settings: leave out {', '.join(map(repr, config))}")
        return Setup()

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Contacts no endpoint yet. `task` is passed only if `knows_fix`. Raises SetupError, as `configure` does."""
        self.configure(model=model, config=config or {})

    def recall(self, past: Sequence[Step]) -> None:  # noqa: B027  optional
        """Called before `begin` when an interrupted episode continues, with its steps so far.

        `act` is then called again for every past step, and must return the same decision without paying for it again.
        An agent that asks models takes their answers from the exchanges of the past steps. A deterministic agent
        without a model comes to the same decisions anyway, and need not override this.
        """

    @abstractmethod
    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Receive the task and the first observation: the instructions and the failing tests."""

    @abstractmethod
    def act(self, observation: Observation) -> Decision:
        """Return the next action, given the last observation.

        Raises GaveUp, MalformedAction, OutOfTime or EndpointError.
        """


# ---- what it receives and returns


@dataclass(frozen=True, slots=True)
class Briefing:
    """Everything that an agent learns before its first action."""

    task_id: str
    statement: str
    test_command: str
    tools: ToolSet
    max_steps: int
    seed: int = 0
    """The run's seed; 0 if none was set."""
    attempt_seed: int = 0
    """The seed for the agent's random choices. It differs between attempts, so that they do not repeat each other."""
    remaining_s: Callable[[], float] | None = None
    """Returns the seconds that remain of the episode; None: no limit."""
    find_recording: Callable[[RecordingQuery], Sequence[Step]] | None = None
    """Finds a recorded trajectory, including the reset. Raises SetupError if there is none, or several.
    None: this episode is played without a database."""
    files: tuple[str, ...] = ()
    """The files of the workspace, as `listdir` shows them, program files first; a large folder is one line."""
    failing_file: str = ""
    """Path and text of the test file that fails at the reset. Empty: it is long, or there are several."""
    failure_shown: bool = True
    """Whether the first observation shows visible tests that fail."""
    ends_when_solved: bool = True
    """Whether the first `eval` that shows all visible tests passing ends the episode."""
    max_tokens: int | None = None
    """Most tokens of all requests and answers together; None: no limit."""
    remaining_tokens: Callable[[], int] | None = None
    """Returns how many of them remain; None: no limit."""

    @property
    def model_seed(self) -> int:
        """The seed to send to a model's endpoint; 0: none."""
        return self.attempt_seed if self.seed else 0


class RecordingQuery(BaseModel):
    """Selects one of the recorded trajectories on the current task."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    episode: int | None = None
    """The id of the recorded episode."""
    run: int | None = None
    """The run that contains the episode, with the same task and the same attempt."""
    entrant: str = ""
    """The entrant of the episode, if the run has several."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The agent's next action, and what the decision cost."""

    action: Action
    thought: str = ""
    usage: Usage = field(default_factory=Usage)
    exchanges: tuple[Exchange, ...] = ()


# ---- what it raises


class MalformedAction(StackrankError):
    """The agent's output is not an action. The message is the correction, which becomes its next observation."""

    def __init__(
        self, message: str, *, output: str = "", usage: Usage | None = None, exchanges: tuple[Exchange, ...] = ()
    ) -> None:
        """`output`: the agent's output, for the record."""
        super().__init__(message)
        self.output = output
        self.usage = usage or Usage()
        self.exchanges = exchanges


class GaveUp(StackrankError):
    """The agent stops; the message says why. The verdict is about its edits so far."""

    def __init__(self, message: str = "", reason: StopReason = StopReason.AGENT_GAVE_UP) -> None:
        super().__init__(message)
        self.reason = reason


class OutOfTime(StackrankError):
    """The episode's time ran out before the agent decided."""


class EndpointError(InfrastructureError):
    """The model's endpoint failed permanently. This is an infrastructure failure, never the entrant's."""


class EndpointDown(EndpointError):
    """The endpoint does not answer at all, or says that it is unavailable, so other requests would fail as well."""

    def __init__(self, message: str, endpoint: str = "") -> None:
        """`endpoint`: its address, as in `EndpointLimits.shown_url`, or the result of `model_at` if only one of its
        models is affected; empty if unknown."""
        super().__init__(message)
        self.endpoint = endpoint


class SetupError(UsageError):
    """The agent cannot play as configured (no key, unknown model). The message is one sentence with the remedy."""


class AccessError(SetupError):
    """The endpoint rejects the key or does not know the model, so no other episode can be played either."""


# ---- what a run needs to know about a configured agent


def _nothing_to_check() -> None:
    """The default check: nothing outside this process could reject the agent."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run needs to know about a configured agent before it creates one."""

    identity: Mapping[str, Any] = field(default_factory=dict)
    """The settings that affect the agent's behaviour. They are part of the entrant's identity. Other settings (a key
    file, a rate limit) do not make a different entrant."""
    endpoints: tuple[EndpointLimits, ...] = ()
    """The model endpoints that it will use."""
    unpriced: tuple[str, ...] = ()
    """The models that it will use and that have no known price. A run with a limit in dollars refuses them."""
    check: Callable[[], None] = _nothing_to_check
    """Checks that the endpoints accept the key and know the model. Called once, before a run starts its first sandbox.
    Raises SetupError, EndpointError."""
    installed: tuple[Environment, ...] = ()
    """What is installed in its sandboxes in addition to the task's environment."""
    models: tuple[str, ...] = ()
    """The model that it asks at each of `endpoints`."""

    @property
    def sources(self) -> frozenset[str]:
        """The names of everything that must answer the agent: its endpoints, and its models at them."""
        pairs = zip(self.endpoints, self.models, strict=False)  # third-party agents may name no models
        models = {model_at(endpoint.shown_url, model) for endpoint, model in pairs}
        return frozenset({endpoint.shown_url for endpoint in self.endpoints} | models)


class EndpointLimits(Protocol):
    """The limits of a model's endpoint, which a run enforces over all workers. None: no limit."""

    @property
    def shown_url(self) -> str:
        """Its address without user name, password or key. All users of an address share its limits."""
        ...

    @property
    def max_concurrency(self) -> int | None:
        """Most episodes that may use it concurrently."""
        ...

    @property
    def requests_per_minute(self) -> float | None:
        """Most requests per minute."""
        ...

    @property
    def tokens_per_minute(self) -> float | None:
        """Most tokens per minute, of requests and answers together."""
        ...


def model_at(url: str, model: str) -> str:
    """Return the name of one model at an endpoint, by which a run that waits for it refers to it."""
    return f"{url} ({model})"
