"""Several environments that share one pool of sandboxes and are stepped at the same time."""

from __future__ import annotations

import asyncio
import functools
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from stackrank.env.actions import Action, Observation
from stackrank.env.sandbox.pool import Pool
from stackrank.env.scoring.judge import Score
from stackrank.errors import InfrastructureError
from stackrank.extensions.training.env import Act, Info, TrainingEnv, Transition
from stackrank.extensions.training.rewards import TrainingError
from stackrank.terms import StopReason
from stackrank.wording import count_of

Result = TypeVar("Result")


class VecEnv:
    """A vector of environments. If the machine fails in one of them, the others go on.

    No environment is reset automatically: one whose episode is over takes None as its action until it is reset.
    """

    def __init__(self, envs: Sequence[TrainingEnv], pool: Pool, tasks: Sequence[str] = ()) -> None:
        """Start nothing yet. `envs` share `pool`, which is closed with them. `tasks`: what a seed draws from; empty:
        the tasks of `envs`.
        """
        self.envs = tuple(envs)
        self.tasks = tuple(tasks) or tuple(env.name for env in envs)
        self._pool = pool
        self._threads = ThreadPoolExecutor(len(self.envs), thread_name_prefix="stackrank-vec")
        self._closed = False

    def __len__(self) -> int:
        return len(self.envs)

    def __iter__(self) -> Iterator[TrainingEnv]:
        return iter(self.envs)

    def reset(
        self, tasks: Sequence[str | None] | None = None, *, seed: int | None = None
    ) -> list[tuple[Observation, Info]]:
        """Begin an episode in each environment, on the named tasks (None: the same task again).

        `seed`: draws the tasks instead, without repetition while there are enough; the same seed draws the same.
        If the machine failed, the observation is not ok and `info["error"]` says why. Raises TrainingError,
        BenchmarkError.
        """
        if seed is not None:
            tasks = self._draw(tasks, seed)
        task_of_env = self._one_each("tasks", tasks if tasks is not None else [None] * len(self))
        for env, task in zip(self.envs, task_of_env, strict=True):
            env.check_task(task)
        return self._all([functools.partial(_begin, *pair) for pair in zip(self.envs, task_of_env, strict=True)])

    def reset_at(self, index: int, task: str | None = None) -> tuple[Observation, Info]:
        """Begin an episode in one environment, as `reset` does in each; the others stay as they are."""
        if not 0 <= index < len(self):
            raise TrainingError(f"index is {index}: the environments are 0 to {len(self) - 1}")
        self.envs[index].check_task(task)
        (result,) = self._all([functools.partial(_begin, self.envs[index], task)])
        return result

    def step(self, actions: Sequence[Act | None]) -> list[Transition | None]:
        """Take a step in each environment, at the same time. Returns None for an environment whose action is None.

        All actions are checked before the first step. If the machine failed, the transition is truncated, with
        `info["error"]` and the stop reason `error`: such an episode says nothing about the policy. Raises
        TrainingError before any environment has stepped.
        """
        env_actions = self._one_each("actions", actions)
        parsed = [
            None if action is None else env.check_action(action)
            for env, action in zip(self.envs, env_actions, strict=True)
        ]

        def take(env: TrainingEnv, action: Action | None) -> Transition | None:
            if action is None:
                return None
            try:
                return env.step(action)
            except InfrastructureError as error:
                observation, info = _failed(env, error)
                return Transition(observation, 0.0, False, True, info)

        return self._all([functools.partial(take, *pair) for pair in zip(self.envs, parsed, strict=True)])

    def score(self) -> list[Score]:
        """Return the verdict of each environment. Raises TrainingError, SandboxError."""
        return self._all([env.score for env in self.envs])

    def close(self) -> None:
        """End everything that was started, even after an exception. May be called twice."""
        self._closed = True
        for env in self.envs:
            env.close()
        self._pool.close()
        self._threads.shutdown(wait=True)

    def __enter__(self) -> VecEnv:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def areset(
        self, tasks: Sequence[str | None] | None = None, *, seed: int | None = None
    ) -> list[tuple[Observation, Info]]:
        """As `reset`."""
        return await asyncio.to_thread(self.reset, tasks, seed=seed)

    async def astep(self, actions: Sequence[Act | None]) -> list[Transition | None]:
        """As `step`."""
        return await asyncio.to_thread(self.step, actions)

    async def ascore(self) -> list[Score]:
        """As `score`."""
        return await asyncio.to_thread(self.score)

    async def aclose(self) -> None:
        """As `close`."""
        await asyncio.to_thread(self.close)

    async def __aenter__(self) -> VecEnv:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _require_open(self) -> None:
        if self._closed:
            raise TrainingError("the environments are closed: create new ones")

    def _draw(self, tasks: object, seed: int) -> list[str | None]:
        if tasks is not None or isinstance(seed, bool) or not isinstance(seed, int):
            raise TrainingError(f"seed is {seed!r}: give a whole number, and no tasks, because the seed draws them")
        chance, drawn = random.Random(seed), list[str | None]()
        while len(drawn) < len(self):
            drawn += chance.sample(self.tasks, min(len(self.tasks), len(self) - len(drawn)))
        return drawn

    def _one_each(self, name: str, values: Sequence[Result]) -> Sequence[Result]:
        self._require_open()
        if isinstance(values, str) or not isinstance(values, Sequence) or len(values) != len(self):
            count = len(values) if isinstance(values, Sequence) and not isinstance(values, str) else repr(values)
            raise TrainingError(f"{name} are {count}: give one for each of the {count_of(len(self), 'environment')}")
        return values

    def _all(self, work: Sequence[Callable[[], Result]]) -> list[Result]:
        """Run all calls at the same time and return their results. Raises the first error, once all are done."""
        self._require_open()
        futures = [self._threads.submit(call) for call in work]
        errors = [error for future in futures if (error := future.exception()) is not None]
        if errors:
            raise errors[0]
        return [future.result() for future in futures]


def _begin(env: TrainingEnv, task: str | None) -> tuple[Observation, Info]:
    try:
        return env.reset(task)
    except InfrastructureError as error:
        return _failed(env, error)


def _failed(env: TrainingEnv, error: InfrastructureError) -> tuple[Observation, Info]:
    message = " ".join(str(error).split())
    return Observation(message, False), {"task": env.name, "stop_reason": str(StopReason.ERROR), "error": message}
