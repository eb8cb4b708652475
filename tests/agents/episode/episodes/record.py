"""Play the labelled episodes and record them: `python -m tests.agents.episode.episodes.record [--show]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from pydantic import Field

from stackrank.agents.episode.loop import Budget, play
from stackrank.agents.episode.protocol import Agent, Briefing, Decision, GaveUp, MalformedAction
from stackrank.agents.episode.step import Step
from stackrank.env.actions import Action, Observation
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.pool import Pool
from stackrank.env.sandbox.registry import backend
from stackrank.env.tools import ToolSet, registry
from stackrank.env.tools.base import Arguments, Bench
from tests.agents.episode.episodes import labelled, score_as_json, step_as_json, task_as_json, write_recorded


class ShellArguments(Arguments):
    """What to run."""

    command: str


class Shell:
    """As a plug-in may write it: text, and no state."""

    name = "shell"
    description = "Run a command."
    arguments = ShellArguments

    def __call__(self, bench: Bench, arguments: ShellArguments) -> Observation:
        """What it printed."""
        return Observation(bench.sandbox.run(arguments.command, 60).output)


class PatchArguments(Arguments):
    """What to replace."""

    path: str
    line: int = Field(ge=1)
    text: str


class Patch:
    """An edit with a state of its own."""

    name = "patch"
    description = "Replace a line."
    arguments = PatchArguments

    def __call__(self, bench: Bench, arguments: PatchArguments) -> Observation:
        """That it is done."""
        bench.sandbox.edit(arguments.path, arguments.text, arguments.line, arguments.line)
        return Observation("Done.", state={"patched": 1})  # type: ignore[arg-type]


class Lose:
    """Simulates code under test that ends its sandbox."""

    name = "lose"
    description = "Lose the sandbox."
    arguments = Arguments

    def __call__(self, bench: Bench, arguments: Arguments) -> Observation:
        """Never returns."""
        bench.sandbox._channel.close()
        bench.sandbox.ping()
        return Observation("")


class Listed(Agent):
    """Carries out the listed actions and then gives up."""

    version = "1"

    def __init__(self, actions: list[Any]) -> None:
        """`actions`: see `labels.yaml`."""
        self._actions: Iterator[Any] = iter(actions)

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """It knows what to do."""

    def act(self, observation: Observation) -> Decision:
        """The next of its list."""
        listed = next(self._actions, "give_up")
        name, arguments = (listed, {}) if isinstance(listed, str) else next(iter(listed.items()))
        if name == "give_up":
            raise GaveUp("nothing is left to do")
        if name == "malformed":
            raise MalformedAction("That is no action.", output=arguments)
        return Decision(Action(name, arguments))


def main() -> None:
    """Play all of them and write `recorded.json`."""
    registry._all_tools().update({tool.name: tool for tool in (Shell(), Patch(), Lose())})
    tools = ToolSet("all", tuple(registry.tool_names()))
    tasks = {task.id: task for task in load_benchmark("bugs").tasks()}
    recorded: dict[str, Any] = {}
    with Pool(backend("bubblewrap")) as pool:
        for episode in labelled():
            task, steps = tasks[episode["task"]], list[Step]()
            with DebugEnv(task, tools, pool.take, rewards=False) as env:
                budget = Budget(**{"steps": 20, **episode.get("budget", {})})
                outcome = play(env, Listed(episode["actions"]), budget=budget, record=steps.append)
            assert outcome.score is not None
            recorded[episode["name"]] = {
                "task": task.id,
                "reason": str(outcome.stop_reason),
                "score": score_as_json(outcome.score),
                "steps": [step_as_json(step) for step in steps],
            }
            if "--show" in sys.argv:
                print(
                    f"\n##### {episode['name']} [{task.id}]: {outcome.stop_reason}",
                    recorded[episode["name"]]["score"],
                )
                for step in steps[1:]:
                    print(f"--- {step.index} {step.action}\n{step.observation.text}")
    played = {episode["task"]: task_as_json(tasks[episode["task"]]) for episode in recorded.values()}
    write_recorded(played, recorded)


if __name__ == "__main__":
    main()
