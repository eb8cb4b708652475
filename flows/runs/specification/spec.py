"""The run specification, from a YAML file or flags."""

from __future__ import annotations

import os
import re
from datetime import date
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from stackrank.agents.episode.protocol import SetupError
from stackrank.agents.registry import agent_names, find_agent
from stackrank.db import queries
from stackrank.env.benchmarks.base import Source, is_hub_name
from stackrank.env.sandbox.registry import backend_names
from stackrank.env.tools import CONTRAST
from stackrank.env.tools.servers import ToolServer
from stackrank.errors import UsageError
from stackrank.flows.runs.specification import spec_policy as allowed
from stackrank.flows.runs.specification.field_errors import problem
from stackrank.flows.runs.specification.stop_rule import StopSpec
from stackrank.settings import default_owner, settings
from stackrank.wording import one_of
from stackrank.yaml_text import load_yaml

MOST_WORKERS = 256


class SpecError(UsageError):
    """The specification is wrong. The message names the field, the value and the remedy."""


class EntrantSpec(BaseModel):
    """One competitor: an agent, its model and its tool set."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    agent: str
    """Name of an agent, for instance `llm` or `repair`, or one from a plug-in."""
    model: str = ""
    """Name of the model, for agents that use one."""
    tools: str = ""
    """Name of a tool set, or tools separated by commas; `+NAME` adds the tools of an MCP server. Absent: the
    agent's built-in tools, or `debug`."""
    name: str = ""
    """The name shown on pages. Empty: made from the other fields."""
    config: dict[str, Any] = Field(default_factory=dict)
    """The agent's settings, for instance the temperature."""

    @model_validator(mode="after")
    def _has_tools(self) -> EntrantSpec:
        if not self.tools:
            self.tools = (find_agent(self.agent).only_tools if self.agent in agent_names() else "") or "debug"
        return self

    @property
    def label(self) -> str:
        """The name shown: `agent/model (tools)`."""
        return self.name or f"{self.agent}{'/' + self.model if self.model else ''} ({self.tools})"


class RegressionSpec(BaseModel):
    """When a run counts as worse than the earlier ones of its series; see `db.queries.comparisons.regressions`."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    alpha: float = Field(default=0.05, gt=0, lt=1)
    """A rate counts as fallen if the paired test gives a p-value below this, after Holm's correction over entrants."""
    errors: float = Field(default=0.1, ge=0, le=1)
    """The largest allowed growth of the share of episodes that end in an error."""
    cost: float = Field(default=1.5, ge=1)
    """The largest allowed cost of an episode, as a multiple of its earlier cost."""


class Matrix(BaseModel):
    """A short form for many entrants: every agent with every model and every tool set.

    An agent that uses no model, such as `repair`, plays beside those that use one. A matrix without agents and tool
    sets compares what a debugger is worth: `repair` without and with one, or, if there are models, `llm` with the tool
    sets `rewrite`, `bash`, `debug` and `bash-debug`.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    agents: list[str] = Field(default_factory=list)
    """Names of agents. Absent: `llm` if there are models, otherwise `repair`."""
    models: list[str] = Field(default_factory=list)
    """Names of models."""
    tools: list[str] = Field(default_factory=list)
    """Names of tool sets, or lists of tools separated by commas. Absent: as for an entrant without `tools`, or several
    that are compared if `agents` is absent too."""
    config: dict[str, Any] = Field(default_factory=dict)
    """The settings of all these agents."""

    def entrants(self) -> list[EntrantSpec]:
        """Return all combinations, agent by agent. Models that no agent uses stay in, and are refused later."""
        agents = self.agents or (["llm"] if self.models else ["repair"])
        contrast = list(CONTRAST if self.models else ("rewrite", "debug"))
        use_one = [agent for agent in agents if _needs_model(agent)] or agents
        return [
            EntrantSpec(agent=agent, model=model, tools=tools, config=self.config)
            for agent in agents
            for model in (self.models if agent in use_one else []) or [""]
            for tools in self.tools or ([""] if self.agents else contrast)
        ]


class RunSpec(BaseModel):
    """A run: tasks x entrants x attempts."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    name: str = ""
    """Name of the run. Empty: `BENCHMARK-DATE`."""
    benchmark: str = "bugs"
    """Name of a benchmark; `stackrank benchmarks` lists them."""
    path: str | None = None
    """Where the benchmark's data is, for benchmarks that need it."""
    fixes: str | None = None
    """A folder of known fixes, named `<task>.patch`, for benchmarks whose data has none."""
    repos: str | None = None
    """A folder of git repositories, for benchmarks whose data names commits."""
    environments: str | None = None
    """A file that describes how to build environments if images cannot be pulled."""
    night: str = ""
    """The seed of the benchmark `fresh`: a date, a number or a text. Absent: today's date."""
    tasks: list[str] | None = None
    """Names of the tasks to play. Absent: all."""
    limit: int | None = Field(None, ge=1)
    """Play at most this many tasks, taken evenly from the whole list."""
    include_invalid: bool = False
    """Whether to also play tasks that `stackrank validate` found invalid."""
    entrants: list[EntrantSpec] = Field(default_factory=list)
    """The entrants. Absent, and no `matrix`: `repair` without and with a debugger."""
    matrix: Matrix | None = None
    """More entrants, as a product. The run stores the resulting entrants."""
    mcp: dict[str, ToolServer] = Field(default_factory=dict)
    """MCP servers by name, for entrants whose `tools` name them: `debug+NAME`."""
    attempts: int = Field(1, ge=1, le=100)
    """Episodes per task and entrant."""
    workers: int = Field(default_factory=lambda: os.cpu_count() or 2, ge=1, le=MOST_WORKERS)
    """Number of concurrent episodes."""
    requests_per_minute: float | None = Field(None, gt=0)
    """Most requests a minute of each process to an endpoint, beside the entrants' own limits. Absent: no such limit."""
    sandbox: str | None = None
    """`docker`, `bubblewrap`, `local`, which isolates nothing, or one from a plug-in. Absent: docker if an engine
    answers, otherwise bubblewrap."""
    steps: int | None = Field(None, ge=1, le=10_000)
    """Most actions in one episode. Absent: the task's own limit, such as those of `marathon`, otherwise 50."""
    tokens: int | None = Field(None, ge=1)
    """Most tokens in one episode. Absent: the task's own limit, otherwise none."""
    cost_usd: float | None = Field(None, gt=0)
    """Most dollars for one episode; requires a price for every model. Absent: no limit."""
    wall_s: float | None = Field(1800, gt=0)
    """Seconds after which an episode begins no further step. Waiting does not count: for the endpoint (failed tries,
    rate limits), for the database, and while the process is stopped. `null`: no limit."""
    ends_when_solved: bool = True
    """Whether the first `eval` at which the visible tests pass ends an episode. Else only `submit` or a limit does."""
    shows_failing_test: bool = True
    """Whether agents see the tests that fail because of the bug. Otherwise they see only the statement, and `eval`
    runs the other visible tests and those that they write themselves. The verdict is the same."""
    shows_failure_state: bool = False
    """Whether the first message and each failing `eval` also show the failures' frames, local variables and causes."""
    retries: int = Field(2, ge=0, le=10)
    """How often an episode is retried after an infrastructure failure."""
    endpoint_silence_s: float = Field(3600, ge=0)
    """Seconds that the run waits for a model's endpoint that does not answer, once there is nothing else to play. After
    that, the run ends as failed, and the waiting episodes stay unplayed."""
    runner: Literal["threads", "dask", "ray"] = "threads"
    """Where episodes run: in threads of this process, on a Dask cluster (`pip install 'stackrank[dask]'`), or on a Ray
    cluster (`pip install 'stackrank[ray]'`)."""
    dask_address: str = ""
    """The scheduler of the Dask cluster. Empty: a cluster of `workers` processes on this machine."""
    ray_address: str = ""
    """The head of the Ray cluster, `ray://HOST:10001`. Empty: `workers` processes on this machine."""
    pool: str = ""
    """Split the run over the workers (`stackrank worker`) of this Prefect work pool, which share one database."""
    shard_size: int = Field(50, ge=1, le=1000)
    """Number of episodes that a worker of the pool takes at a time."""
    prefect_tasks: Literal["episodes", "shards"] | None = None
    """What Prefect shows of a run: a task run for each of its `episodes`, or only its `shards`; without a pool, that is
    the run itself. Task runs take most of a Prefect server's time and disk space. Absent: `shards` with a pool,
    otherwise `episodes`."""
    max_error_share: float = Field(0.5, ge=0, le=1)
    """The run stops when more than this share of its episodes (at least five) end in `error`."""
    budget_usd: float | None = Field(None, gt=0)
    """Once the run has cost this many dollars, no episode starts. Every model needs a price. Absent: no limit."""
    stop: StopSpec | None = None
    """When the run stops early, before everything is played. Absent: never."""
    seed: int = 0
    """Seed for agents that make random choices and, if the run may stop early, for the order of tasks."""
    leaderboard: str = ""
    """The leaderboard to which the run belongs. Runs of a leaderboard are compared over time."""
    regression: RegressionSpec = Field(default_factory=RegressionSpec)
    """When the run counts as worse than earlier runs of its series."""
    webhook: str = ""
    """URL that is called when the run is worse, with JSON in Slack's format. Default: `STACKRANK_WEBHOOK`. `$NAME`
    takes it from an environment variable, so that a secret address is not stored with the run."""
    tags: list[str] = Field(default_factory=list)
    """Keywords to find the run by."""
    owner: str = Field(default_factory=default_owner)
    """Owner of the run. Absent: `STACKRANK_OWNER`, or the name of the user."""
    project: str = Field(default_factory=lambda: settings().project)
    """Project of the run. Absent: `STACKRANK_PROJECT`."""

    @property
    def episodes_are_tasks(self) -> bool:
        """Whether each episode is a Prefect task run."""
        # Dask and Ray get their work from Prefect's task runners.
        granularity = self.prefect_tasks or ("shards" if self.pool and self.runner == "threads" else "episodes")
        return granularity == "episodes"

    @property
    def source(self) -> Source:
        """Where the benchmark's data is."""
        places = (self.path, self.fixes, self.repos, self.environments)
        path, fixes, repos, environments = (Path(place) if place else None for place in places)
        return Source(path, fixes, repos, environments, self.night, count=self.limit, sandbox=self.sandbox)

    @field_validator("path", "fixes", "repos", "environments")
    @classmethod
    def _absolute(cls, value: str | None) -> str | None:
        # A worker may run in another folder. A data set of the hub is `owner/name` everywhere.
        if not value or is_hub_name(value):
            return value or None
        allowed.require_file("the specification", value)
        return str(Path(value).expanduser().absolute())

    @field_validator("sandbox")
    @classmethod
    def _exists(cls, value: str | None) -> str | None:
        if value is not None and value not in (names := backend_names()):
            raise PydanticCustomError("literal_error", "must be {expected}", {"expected": one_of(names)})
        return value

    @field_validator("mcp")
    @classmethod
    def _can_be_names(cls, value: dict[str, ToolServer]) -> dict[str, ToolServer]:
        for name in value:
            if not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_-]{0,31}", name):
                raise ValueError(f"the server {name!r} needs a name of at most 32 letters, digits, - and _")
        return value

    @field_validator("webhook")
    @classmethod
    def _may_be_called(cls, value: str) -> str:
        allowed.require_webhook("webhook", value)
        return value

    @field_validator("dask_address", "ray_address")
    @classmethod
    def _may_be_reached(cls, value: str, field: ValidationInfo) -> str:
        if value:
            allowed.require_host(str(field.field_name), value)
        return value

    @field_validator("tasks", "tags", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("tasks")
    @classmethod
    def _some(cls, value: list[str] | None) -> list[str] | None:
        if value == []:
            raise ValueError("no task given: name tasks, or leave the field out to play all")
        return value if value is None else list(dict.fromkeys(value))

    @model_validator(mode="after")
    def _tonight(self) -> RunSpec:
        # Stored with a run, which may continue after midnight; not with a schedule, whose runs have their own dates.
        if self.benchmark == "fresh" and not self.night:
            self.night = date.today().isoformat()
            self.model_fields_set.discard("night")
        return self

    @model_validator(mode="after")
    def _runner_gets_tasks(self) -> RunSpec:
        if self.prefect_tasks == "shards" and self.runner != "threads":
            raise ValueError(
                f"prefect_tasks: shards needs runner: threads, because {self.runner} makes each episode a task run: "
                "leave out one of the two"
            )
        return self

    @model_validator(mode="after")
    def _all_entrants(self) -> RunSpec:
        if not self.entrants and self.matrix is None:
            self.matrix = Matrix()
        if self.matrix is not None:
            self.entrants = [*self.entrants, *self.matrix.entrants()]
            self.matrix = None
        for entrant in self.entrants:
            allowed.require_config(entrant.config)
            entrant.config = _portable(entrant)
        labels = [entrant.label for entrant in self.entrants]
        duplicates = sorted({label for label in labels if labels.count(label) > 1})
        if duplicates:
            raise ValueError(f"duplicate entrant {duplicates[0]!r}: give each a `name`")
        if self.stop is not None and self.stop.against and self.stop.against not in labels:
            raise ValueError(f"stop.against: no entrant is called {self.stop.against!r}: choose {one_of(labels)}")
        return self


def _portable(entrant: EntrantSpec) -> dict[str, Any]:
    # Files that a configuration names exist only on this machine, and their content is part of the entrant's identity.
    if not entrant.config or entrant.agent not in agent_names():
        return entrant.config
    try:
        return find_agent(entrant.agent).inline_files(entrant.config)
    except SetupError as error:
        raise ValueError(str(error)) from None


PARTS: dict[int | str, type[BaseModel]] = {
    "entrants": EntrantSpec,
    "matrix": Matrix,
    "regression": RegressionSpec,
    "mcp": ToolServer,
    "stop": StopSpec,
}
"""Field of a run -> the model of its value."""


def read_spec(file: Path | None, overrides: dict[str, Any]) -> RunSpec:
    """Read the specification from a YAML file; flags override it. Raises SpecError.

    `overrides`: fields of RunSpec, and `agent`, `model`, `tools` (lists), which together replace the entrants; what
    they do not set comes from the file's matrix.
    """
    data = _read_yaml(file) if file is not None else {}
    fields = {name: value for name, value in overrides.items() if value is not None and value != []}
    axes = {
        "agents": fields.pop("agent", None),
        "models": fields.pop("model", None),
        "tools": fields.pop("tools", None),
    }
    matrix_axes = {name: values for name, values in axes.items() if values}
    if matrix_axes:
        matrix = data.get("matrix")
        data["matrix"] = {**(matrix if isinstance(matrix, dict) else {}), **matrix_axes}
        if (
            not matrix_axes.get("models")
            and matrix_axes.get("agents")
            and not any(map(_needs_model, matrix_axes["agents"]))
        ):
            data["matrix"]["models"] = []  # the file's models are for agents that use one
        data["entrants"] = []
    spec = make_spec({**data, **fields}, str(file or ""))
    if spec.name.isdecimal() or spec.name == queries.LATEST:
        raise SpecError(f"a run cannot be named {spec.name!r}, because commands use that for another run: rename it")
    if player := played_by_hand(spec):
        command = "mcp" if player == "outside" else "play"
        raise SpecError(f"the agent {player} plays single tasks only: use `stackrank {command} TASK`")
    return spec


def _needs_model(agent: str) -> bool:
    return agent not in agent_names() or find_agent(agent).needs_model


def played_by_hand(spec: RunSpec) -> str:
    """Return the run's agent that a person or an outside program plays; empty if there is none. Raises SpecError."""
    try:
        return next((entrant.agent for entrant in spec.entrants if find_agent(entrant.agent).interactive), "")
    except SetupError as error:
        raise SpecError(str(error)) from None


def make_spec(data: dict[str, Any], source: str) -> RunSpec:
    """Make a specification from plain data. Raises SpecError with the first few problems.

    `source`: where the data is from, such as a file; empty for command-line options.
    """
    try:
        return RunSpec.model_validate(data)
    except ValidationError as error:
        problems = [problem(details, _fields(details["loc"])) for details in error.errors()[:4]]
        raise SpecError(f"{source}: {'; '.join(problems)}" if source else "; ".join(problems)) from None


def _fields(place: tuple[int | str, ...]) -> list[str]:
    """Return the names of the valid fields at a place."""
    return list((PARTS.get(place[0], RunSpec) if len(place) > 1 else RunSpec).model_fields)


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        data = load_yaml(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(f"{file} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SpecError(f"{file} is not YAML: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(data, dict):
        raise SpecError(f"{file} is not a run specification: it needs fields such as `benchmark:` and `entrants:`")
    return data
