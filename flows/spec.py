"""The run specification: what a run is, in a YAML file or by flags."""

from __future__ import annotations

import getpass
import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from env.benchmarks.base import Source, is_hub_name


class SpecError(Exception):
    """The specification is wrong; the message names field, value and remedy."""


class EntrantSpec(BaseModel):
    """What is ranked: an agent, its model and its tool set."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    agent: str
    """Name of an agent: `oracle`, `repair`, `llm`, or one of a plug-in."""
    model: str = ""
    """Name of the model, for agents that use one."""
    tools: str = "debug"
    """Name of a tool set, or tools separated by commas."""
    name: str = ""
    """What it is called on pages; made from the other fields where empty."""
    config: dict[str, Any] = Field(default_factory=dict)
    """The agent's own settings, for instance temperature."""

    @field_validator("config")
    @classmethod
    def _with_prompts(cls, value: dict[str, Any]) -> dict[str, Any]:
        # The texts themselves: they are part of the entrant's identity, and other machines do not have the files.
        prompts = value.get("prompts")
        if not isinstance(prompts, dict) or not any(str(name).endswith("_file") for name in prompts):
            return value
        from agents.base import SetupError
        from agents.llm.prompting import inlined

        try:
            return {**value, "prompts": inlined(prompts)}
        except SetupError as error:
            raise ValueError(str(error)) from None

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


class RunSpec(BaseModel):
    """A run: tasks x entrants x attempts."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    name: str = ""
    """What the run is called; `BENCHMARK-DATE` where empty."""
    benchmark: str = "bugs"
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
    entrants: list[EntrantSpec] = Field(default_factory=list, min_length=1)
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
    """Dollars an episode may cost. Absent: no limit."""
    wall_s: float | None = Field(1800, gt=0)
    """Seconds an episode may take."""
    retries: int = Field(2, ge=0, le=10)
    """How often an episode is tried again after a failure of the infrastructure."""
    seed: int = 0
    leaderboard: str = ""
    """The leaderboard this run belongs to; runs of one leaderboard are compared over time."""
    regression: RegressionSpec = Field(default_factory=RegressionSpec)
    """When it counts as worse than the run before."""
    webhook: str = ""
    """Called when it is worse, with JSON as Slack takes it; default `STACKRANK_WEBHOOK`. `$NAME` is the value of an
    environment variable, so that a secret address is not stored with the run."""
    tags: list[str] = Field(default_factory=list)
    owner: str = Field(default_factory=lambda: os.environ.get("STACKRANK_OWNER") or _user())
    project: str = Field(default_factory=lambda: os.environ.get("STACKRANK_PROJECT", ""))

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
    def _distinct(self) -> RunSpec:
        labels = [entrant.label for entrant in self.entrants]
        double = sorted({label for label in labels if labels.count(label) > 1})
        if double:
            raise ValueError(f"two entrants are called {double[0]!r}: give them names")
        return self


_PARTS: dict[str, type[BaseModel]] = {"entrants": EntrantSpec, "regression": RegressionSpec}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def read_spec(file: Path | None, overrides: dict[str, Any]) -> RunSpec:
    """The specification from a YAML file, with what the flags say on top. Raises SpecError.

    `overrides`: fields of RunSpec, and `agent`, `model`, `tools` (lists), which together replace the entrants.
    """
    data = _read_yaml(file) if file is not None else {}
    given = {name: value for name, value in overrides.items() if value is not None and value != []}
    agents, models, tools = (given.pop(name, []) for name in ("agent", "model", "tools"))
    if agents or models or tools:
        data["entrants"] = [
            {"agent": agent, "model": model, "tools": each}
            for agent in agents or (["llm"] if models else ["repair"])
            for model in models or [""]
            for each in tools or ["debug"]
        ]
    data.update(given)
    if not data.get("entrants"):
        raise SpecError(
            "the run has no entrant: name one with --agent (oracle, repair, llm) or under `entrants:` in the file"
        )
    return make_spec(data, str(file) if file else "the call")


def make_spec(data: dict[str, Any], source: str) -> RunSpec:
    """A specification from plain data. Raises SpecError with the first few problems."""
    try:
        return RunSpec.model_validate(data)
    except ValidationError as error:
        problems = []
        for each in error.errors()[:4]:
            field = ".".join(str(part) for part in each["loc"]) or "run"
            if each["type"] == "extra_forbidden":
                known = _PARTS.get(str(each["loc"][0]), RunSpec) if len(each["loc"]) > 1 else RunSpec
                near = get_close_matches(str(each["loc"][-1]), known.model_fields, n=1)
                meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(known.model_fields)}"
                problems.append(f"{field} is not a field; {meant}")
            else:
                shown = f" (got {each['input']!r})" if not isinstance(each["input"], dict) else ""
                problems.append(f"{field}: {each['msg'].removeprefix('Value error, ')}{shown}")
        raise SpecError(f"{source}: {'; '.join(problems)}") from None


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
