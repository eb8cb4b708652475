"""The run specification: what a run is, in a YAML file or by flags."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from env.benchmarks.base import Source, is_hub_name
from flows.spec_problems import problem


class SpecError(Exception):
    """The specification is wrong; the message names field, value and remedy."""


def _with_prompts(config: dict[str, Any]) -> dict[str, Any]:
    # The texts themselves: they are part of the entrant's identity, and other machines do not have the files.
    prompts = config.get("prompts")
    if not isinstance(prompts, dict) or not any(str(name).endswith("_file") for name in prompts):
        return config
    from agents.base import SetupError
    from agents.llm.prompting import inlined

    try:
        return {**config, "prompts": inlined(prompts)}
    except SetupError as error:
        raise ValueError(str(error)) from None


Config = Annotated[dict[str, Any], AfterValidator(_with_prompts)]


class EntrantSpec(BaseModel):
    """What is ranked: an agent, its model and its tool set."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    agent: str
    """Name of an agent, for instance `llm` or `repair`, or one of a plug-in."""
    model: str = ""
    """Name of the model, for agents that use one."""
    tools: str = "debug"
    """Name of a tool set, or tools separated by commas."""
    name: str = ""
    """What it is called on pages; made from the other fields where empty."""
    config: Config = Field(default_factory=dict)
    """The agent's own settings, for instance temperature."""

    @property
    def label(self) -> str:
        """The name shown: `agent/model (tools)`."""
        return self.name or f"{self.agent}{'/' + self.model if self.model else ''} ({self.tools})"


class RegressionSpec(BaseModel):
    """When a run of a leaderboard counts as worse than the one before; see `db.queries.regressions`."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    alpha: float = Field(default=0.05, gt=0, lt=1)
    """A rate fell if the paired test says so with a p-value below this, after Holm's correction over entrants."""
    errors: float = Field(default=0.1, ge=0, le=1)
    """How much the share of episodes that end in an error may grow."""
    cost: float = Field(default=1.5, ge=1)
    """How many times the cost of an episode before it may cost now."""


class Matrix(BaseModel):
    """The short form of many entrants: every agent with every model and every tool set."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    agents: list[str] = Field(default_factory=list)
    """Names of agents; `llm` where there are models, else `repair`."""
    models: list[str] = Field(default_factory=list)
    """Names of models."""
    tools: list[str] = Field(default_factory=lambda: ["debug"])
    """Names of tool sets, or lists of tools separated by commas."""
    config: Config = Field(default_factory=dict)
    """The agents' own settings, the same for all."""

    def entrants(self) -> list[EntrantSpec]:
        """All of them: agent by agent, model by model."""
        return [
            EntrantSpec(agent=agent, model=model, tools=tools, config=self.config)
            for agent in self.agents or (["llm"] if self.models else ["repair"])
            for model in self.models or [""]
            for tools in self.tools or ["debug"]
        ]


class RunSpec(BaseModel):
    """A run: tasks x entrants x attempts."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    name: str = ""
    """What the run is called; `BENCHMARK-DATE` where empty."""
    benchmark: str = "bugs"
    """Name of a benchmark: `stackrank benchmarks` lists them."""
    path: str | None = None
    """Where the benchmark's data is, for benchmarks that need it."""
    fixes: str | None = None
    """A folder of known fixes, `<task>.patch`, for benchmarks whose data has none."""
    repos: str | None = None
    """A folder of git repositories, for benchmarks whose data names commits."""
    environments: str | None = None
    """A file that says how environments are built where images cannot be pulled."""
    tasks: list[str] | None = None
    """Task names; all where absent."""
    limit: int | None = Field(None, ge=1)
    """At most so many tasks, taken evenly from the whole list."""
    include_invalid: bool = False
    """Whether tasks that `stackrank validate` found invalid are played too."""
    entrants: list[EntrantSpec] = Field(default_factory=list)
    """What is compared; at least one, here or by `matrix`."""
    matrix: Matrix | None = None
    """Further entrants, as a product. What is stored are the entrants that it stands for."""
    attempts: int = Field(1, ge=1, le=100)
    """Episodes for each task and entrant."""
    workers: int = Field(default_factory=lambda: os.cpu_count() or 2, ge=1, le=256)
    """Episodes at the same time."""
    sandbox: Literal["docker", "bubblewrap", "local"] | None = None
    """Docker where an engine answers, else bubblewrap, where absent. `local` gives no isolation."""
    steps: int = Field(50, ge=1, le=10_000)
    """Actions an episode may take."""
    tokens: int | None = Field(None, ge=1)
    """Tokens an episode may use. Absent: no limit."""
    cost_usd: float | None = Field(None, gt=0)
    """Dollars an episode may cost; every model needs a price then. Absent: no limit."""
    wall_s: float | None = Field(1800, gt=0)
    """Seconds an episode may take. `null`: no limit."""
    retries: int = Field(2, ge=0, le=10)
    """How often an episode is tried again after a failure of the infrastructure."""
    runner: Literal["threads", "dask"] = "threads"
    """Where episodes are played: in this process, or on a Dask cluster (`pip install 'stackrank[dask]'`)."""
    dask_address: str = ""
    """The scheduler of the Dask cluster; a cluster of `workers` processes on this machine where empty."""
    pool: str = ""
    """Split the run over the workers of this Prefect work pool, who share one database; `stackrank worker`."""
    shard_size: int = Field(50, ge=1, le=1000)
    """Episodes that a worker of the pool takes on at a time."""
    max_error_share: float = Field(0.5, ge=0, le=1)
    """The run stops early when more than this share of its episodes (of five at least) end in `error`."""
    budget_usd: float | None = Field(None, gt=0)
    """No episode starts once the run has cost so many dollars; every model needs a price then. Absent: no limit."""
    seed: int = 0
    """For agents that choose; the same seed gives the same choices."""
    leaderboard: str = ""
    """The leaderboard this run belongs to; runs of one leaderboard are compared over time."""
    regression: RegressionSpec = Field(default_factory=RegressionSpec)
    """When it counts as worse than the run before."""
    webhook: str = ""
    """Called when it is worse, with JSON as Slack takes it; default `STACKRANK_WEBHOOK`. `$NAME` is the value of an
    environment variable, so that a secret address is not stored with the run."""
    tags: list[str] = Field(default_factory=list)
    """Words to find the run by."""
    owner: str = Field(default_factory=lambda: default_owner())
    """Who made it; `STACKRANK_OWNER`, or the name of the user, where absent."""
    project: str = Field(default_factory=lambda: os.environ.get("STACKRANK_PROJECT", ""))
    """What it was made for; `STACKRANK_PROJECT` where absent."""

    @property
    def source(self) -> Source:
        """Where the benchmark's data is."""
        places = (self.path, self.fixes, self.repos, self.environments)
        return Source(*(Path(each) if each else None for each in places))

    @field_validator("path", "fixes", "repos", "environments")
    @classmethod
    def _absolute(cls, value: str | None) -> str | None:
        # Whoever plays the run may stand in another folder. A data set of the hub is `owner/name` everywhere.
        if value and is_hub_name(value):
            return value
        return str(Path(value).expanduser().absolute()) if value else None

    @field_validator("tasks", "tags", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _all_entrants(self) -> RunSpec:
        if self.matrix is not None:
            self.entrants = [*self.entrants, *self.matrix.entrants()]
            self.matrix = None
        if not self.entrants:
            raise ValueError(
                "the run has no entrant: name one with --agent (for instance llm or repair), or under `entrants:` or "
                "`matrix:` in the file"
            )
        labels = [entrant.label for entrant in self.entrants]
        double = sorted({label for label in labels if labels.count(label) > 1})
        if double:
            raise ValueError(f"two entrants are called {double[0]!r}: give them names")
        return self


PARTS: dict[int | str, type[BaseModel]] = {"entrants": EntrantSpec, "matrix": Matrix, "regression": RegressionSpec}
"""Field of a run -> what it is made of."""


def default_owner() -> str:
    """Who makes a run where nobody is named."""
    try:
        return os.environ.get("STACKRANK_OWNER") or getpass.getuser()
    except (KeyError, OSError):
        return ""


def read_spec(file: Path | None, overrides: dict[str, Any]) -> RunSpec:
    """The specification from a YAML file, with what the flags say on top. Raises SpecError.

    `overrides`: fields of RunSpec, and `agent`, `model`, `tools` (lists), which together replace the entrants; what
    they leave open comes from the file's matrix.
    """
    data = _read_yaml(file) if file is not None else {}
    given = {name: value for name, value in overrides.items() if value is not None and value != []}
    axes = {"agents": given.pop("agent", None), "models": given.pop("model", None), "tools": given.pop("tools", None)}
    chosen = {name: values for name, values in axes.items() if values}
    if chosen:
        matrix = data.get("matrix")
        data["matrix"] = {**(matrix if isinstance(matrix, dict) else {}), **chosen}
        data["entrants"] = []
    spec = make_spec({**data, **given}, str(file) if file else "the call")
    if any(entrant.agent == "human" for entrant in spec.entrants):
        raise SpecError("the agent human cannot play among others: `stackrank play TASK` lets a person play")
    return spec


def make_spec(data: dict[str, Any], source: str) -> RunSpec:
    """A specification from plain data. Raises SpecError with the first few problems."""
    try:
        return RunSpec.model_validate(data)
    except ValidationError as error:
        problems = [problem(each, _fields(each["loc"])) for each in error.errors()[:4]]
        raise SpecError(f"{source}: {'; '.join(problems)}") from None


def _fields(place: tuple[int | str, ...]) -> list[str]:
    """The names of the fields that are known at a place."""
    return list((PARTS.get(place[0], RunSpec) if len(place) > 1 else RunSpec).model_fields)


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(f"{file} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SpecError(f"{file} is not YAML: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(data, dict):
        raise SpecError(f"{file} is no run specification: it needs fields such as `benchmark:` and `entrants:`")
    return data
