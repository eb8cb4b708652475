"""TRL: environments for `GRPOTrainer(environment_factory=...)` (https://huggingface.co/docs/trl/openenv).

Each tool is a method, which TRL finds by its signature. The column `task` of the training data names the task of a row.
"""

from __future__ import annotations

import atexit
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from stackrank.env.sandbox.base import SandboxError
from stackrank.env.tools.base import Described, schema
from stackrank.extensions.training.env import TrainingEnv
from stackrank.extensions.training.env_maker import EnvMaker
from stackrank.extensions.training.rewards import Chosen, Term, TrainingError

_TYPES: Mapping[str, type] = {"integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


class ToolEnv:
    """Plays one rollout at a time. Public methods other than `reset` and `get_reward` are tools."""

    _make: Callable[[str], TrainingEnv]

    def __init__(self) -> None:
        """Start nothing yet."""
        self._env: TrainingEnv | None = None
        self._lost = False

    def reset(self, task: str = "", **_: Any) -> str:
        """Begin an episode; return what the model reads first. Raises TrainingError, BenchmarkError, SandboxError."""
        if not task:
            raise TrainingError("the row names no task: give the data a column `task`, such as 'bugs/vat-table'")
        self._lost = False
        if self._env is None:
            self._env = self._make(task)
        return self._env.reset(task)[0].text

    def get_reward(self) -> float | None:
        """Return the rollout's reward, and end the rollout. None, which TRL leaves out, if the machine failed."""
        if self._env is None:
            raise TrainingError("no episode was started: call reset first")
        try:
            return None if self._lost else self._env.settle()
        except SandboxError:
            self._lost = True
            return None

    def _step(self, tool: str, arguments: dict[str, Any]) -> str:
        if self._env is None:
            raise TrainingError("no episode is in progress: call reset first")
        try:
            return self._env.step({"tool": tool, "arguments": arguments}).observation.text
        except SandboxError:
            self._lost = True
            raise


def environment_factory(*, rewards: Chosen = Term.VERDICT, count: int = 8, **options: Any) -> type[ToolEnv]:
    """Return the factory for `GRPOTrainer`. `count`: rollouts at the same time; the rest is as for `stackrank.make`.

    All environments share one pool of sandboxes, which ends with the process. Raises as `stackrank.make` does.
    """
    maker = EnvMaker(rewards=rewards, count=count, **options)
    atexit.register(maker.pool.close)
    tools = {name: _method(maker.tools.find(name)) for name in maker.tools.tools}
    return type("StackrankEnv", (ToolEnv,), {**tools, "_make": staticmethod(maker.env)})


def _method(tool: Described) -> Callable[..., str]:
    described = schema(tool)
    takes = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("self", takes)]
    lines = []
    for name, entry in sorted(described["properties"].items(), key=lambda field: field[0] not in described["required"]):
        default = inspect.Parameter.empty if name in described["required"] else entry.get("default")
        kind = _TYPES.get(entry.get("type", "string"), str)
        hint = kind if default is not None else kind | None
        parameters.append(inspect.Parameter(name, takes, default=default, annotation=hint))
        lines.append(f"    {name}: {' '.join(entry.get('description', name).split())}")

    def method(self: ToolEnv, *positional: Any, **keywords: Any) -> str:
        names = [value.name for value in parameters[1:]]
        arguments = {**dict(zip(names, positional, strict=False)), **keywords}
        return self._step(tool.name, {name: value for name, value in arguments.items() if value is not None})

    method.__name__ = method.__qualname__ = tool.name
    method.__doc__ = "\n".join([tool.description, "", *(["Args:", *lines] if lines else [])])
    method.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters[1:]} | {"return": str}
    method.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    return method
