"""Makes environments by name: the functions that `import stackrank` offers."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from stackrank.agents.episode.referee import Budget
from stackrank.env.benchmarks.base import Benchmark, Source
from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.env.difficulty import find_difficulty
from stackrank.env.sandbox.pool import Pool
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.task import Task
from stackrank.env.tools import ToolSet, tool_set
from stackrank.extensions.training.env import TrainingEnv
from stackrank.extensions.training.rewards import Chosen, Term, TrainingError, read_weights
from stackrank.extensions.training.rules import EpisodeRules
from stackrank.extensions.training.vec import VecEnv
from stackrank.wording import count_of

MOST_ENVS = 1024


class Options(TypedDict, total=False):
    """The options of an environment."""

    tools: str | ToolSet
    """A tool set, or tools separated by commas. Default: `debug`."""
    rewards: Chosen
    """Terms of the reward (`verdict`, `milestones`, `distance`, `tests`), or a weight for each; see
    `flows.training.rewards`. Default: `verdict`."""
    steps: int
    """Actions an episode may take. Default: 50."""
    wall_s: float | None
    """Seconds an episode may take, without those in which it waits for an action; None: no limit. Default: 1800."""
    ends_when_solved: bool
    """Whether an episode ends at the first `eval` at which the visible tests pass. Default: yes."""
    shows_failing_test: bool
    """Whether the failing tests are shown, or only the statement. Default: yes."""
    shows_failure_state: bool
    """Whether the reset and each failing `eval` also show frames and local variables of the failures. Default: no."""
    sandbox: str | None
    """docker, bubblewrap or local. Default: what this machine has."""
    path: str | Path | None
    """The data of a benchmark that needs it."""
    repos: str | Path | None
    """A folder of git repositories, for data that names commits."""
    environments: str | Path | None
    """A file that says how environments are built, for data whose images are not available."""


def make(task: str, **options: Unpack[Options]) -> TrainingEnv:
    """Make an environment for one task, such as `bugs/vat-table`. Nothing is started before its `reset`.

    Raises TrainingError, BenchmarkError if a name is wrong. Raises SandboxError if no sandbox can be made here.
    """
    _check_options("make", options)
    return EnvMaker(**options).env(task, owns_pool=True)


def make_vec(tasks: str | Sequence[str], count: int | None = None, **options: Unpack[Options]) -> VecEnv:
    """Make environments that share one pool of sandboxes and are stepped together. Raises as `make` does.

    `tasks`: one task for all `count` environments, a list with a task for each, or a benchmark, from which `count`
    tasks are taken at even intervals (all if `count` is None). `VecEnv.reset(seed=...)` draws from all of these tasks.
    """
    _check_options("make_vec", options)
    locations = ("path", "repos", "environments")
    source = _source(**{name: options.get(name) for name in locations})  # type: ignore[arg-type]
    names = _names(tasks, count, source)
    maker = EnvMaker(count=len(names), **options)
    drawable = list(dict.fromkeys(_names(tasks, None, source)))
    return VecEnv([maker.env(name) for name in names], maker.pool, drawable)


def _check_options(function: str, options: Mapping[str, object]) -> None:
    """Raise TrainingError for an option that does not exist."""
    if unknown := sorted(options.keys() - Options.__annotations__.keys()):
        raise TrainingError(
            f"{function} has no option {unknown[0]!r}: choose from {', '.join(Options.__annotations__)}"
        )


def task_names(benchmark: str, *, path: str | Path | None = None) -> list[str]:
    """Return the tasks of a benchmark as `make` takes them, in their fixed order. Raises BenchmarkError."""
    return [f"{benchmark}/{task.id}" for task in _benchmark(benchmark, _source(path)).tasks()]


def curriculum(benchmark: str, *, path: str | Path | None = None) -> list[str]:
    """Return the tasks of a benchmark from the easiest to the hardest, as `validate` measured them; those that were not
    measured come last. Raises BenchmarkError.
    """

    def place(task: Task) -> tuple[bool, float]:
        difficulty = find_difficulty(task)
        predicted = difficulty.predicted if difficulty else None
        return predicted is None, predicted or 0.0

    return [f"{benchmark}/{task.id}" for task in sorted(_benchmark(benchmark, _source(path)).tasks(), key=place)]


def every_task(
    served: Sequence[str],
    *,
    path: str | Path | None = None,
    repos: str | Path | None = None,
    environments: str | Path | None = None,
) -> list[str]:
    """Return the tasks that the names, each of a task or of a benchmark, stand for. Raises as `make` does."""
    source, names = _source(path, repos, environments), dict[str, None]()
    for name in served:
        if "/" in name:
            find_task(name, source)
        names |= dict.fromkeys([name] if "/" in name else _names(name, None, source))
    return list(names)


class EnvMaker:
    """Makes environments that differ only in their tasks and share one pool of sandboxes."""

    def __init__(
        self,
        *,
        count: int = 1,
        tools: str | ToolSet = "debug",
        rewards: Chosen = Term.VERDICT,
        steps: int = 50,
        wall_s: float | None = 1800.0,
        ends_when_solved: bool = True,
        shows_failing_test: bool = True,
        shows_failure_state: bool = False,
        sandbox: str | None = None,
        path: str | Path | None = None,
        repos: str | Path | None = None,
        environments: str | Path | None = None,
    ) -> None:
        """`count`: how many environments will work at the same time. The rest: see `Options`. Raises as `make` does."""
        if wall_s is not None and (isinstance(wall_s, bool) or not isinstance(wall_s, int | float) or not wall_s > 0):
            raise TrainingError(f"wall_s is {wall_s!r}: give it a number of seconds above 0, or None for no limit")
        budget = Budget(steps=_at_least_one("steps", steps), wall_s=wall_s)
        weights = read_weights(rewards)
        self.rules = EpisodeRules(budget, weights, ends_when_solved, shows_failing_test, shows_failure_state)
        self._source = _source(path, repos, environments)
        self.tools = _tools(tools)
        self.pool = Pool(chosen_backend(sandbox), size=min(count + 1, os.cpu_count() or 1))

    def env(self, task: str, *, owns_pool: bool = False) -> TrainingEnv:
        """Make an environment. `owns_pool`: closing it closes the pool. Raises TrainingError, BenchmarkError."""
        return TrainingEnv(
            find_task(task, self._source),
            self.tools,
            self.pool,
            functools.partial(find_task, source=self._source),
            self.rules,
            owns_pool=owns_pool,
        )


def find_task(name: str, source: Source) -> Task:
    """Return the task with a name such as `bugs/shop-filters`. Raises TrainingError, BenchmarkError."""
    if not isinstance(name, str):
        raise TrainingError(f"{name!r} is not a task: give its name, as in 'bugs/shop-filters'")
    benchmark, _, task = name.partition("/")
    tasks = _benchmark(benchmark, source).tasks()
    if not task:
        raise TrainingError(f"{name!r} names no task: write {benchmark}/TASK, as in '{benchmark}/{tasks[0].id}'")
    return select(tasks, [task], None)[0]


def _names(tasks: str | Sequence[str], count: int | None, source: Source) -> list[str]:
    if count is not None and _at_least_one("count", count) > MOST_ENVS:
        raise TrainingError(f"count is {count}: {MOST_ENVS} environments at most")
    if isinstance(tasks, str):
        if "/" in tasks:
            return [tasks] * (count or 1)
        available = _benchmark(tasks, source).tasks()
        if count is not None and count > len(available):
            raise TrainingError(
                f"count is {count}: {tasks} has {count_of(len(available), 'task')}; name one task to play it "
                "several times"
            )
        return [f"{tasks}/{task.id}" for task in select(available, None, count)]
    names = list(tasks)
    if not names:
        raise TrainingError("tasks is empty: name at least one task, as in ['bugs/shop-filters']")
    if count not in (None, len(names)):
        raise TrainingError(f"count is {count} for {count_of(len(names), 'task')}: omit count")
    return names


def _at_least_one(name: str, number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise TrainingError(f"{name} is {number!r}: give it a whole number of at least 1")
    return number


def _tools(tools: str | ToolSet) -> ToolSet:
    try:
        toolset = tools if isinstance(tools, ToolSet) else tool_set(tools)
    except ValueError as error:
        raise TrainingError(str(error)) from None
    except AttributeError:
        raise TrainingError(
            f"tools is {tools!r}: name a tool set, as in 'debug', or tools separated by commas"
        ) from None
    if toolset.servers and not toolset.added:
        raise TrainingError(
            f"tools is {toolset.name!r}: MCP servers are available only in runs; leave out what follows the +"
        )
    return toolset


def _source(
    path: str | Path | None = None, repos: str | Path | None = None, environments: str | Path | None = None
) -> Source:
    data, clones, file = (Path(location) if location is not None else None for location in (path, repos, environments))
    return Source(path=data, repos=clones, environments=file)


@functools.lru_cache(maxsize=8)
def _benchmark(name: str, source: Source) -> Benchmark:
    return load_benchmark(name, source)
