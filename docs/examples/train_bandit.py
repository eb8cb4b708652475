"""Learn which operator of repair to try next on half of `bugs`, and let the leaderboard measure it on the other half.

    train_bandit.py [--tasks N] [--workers N] [--sandbox NAME]

The policy has one number for each family of operators (`extensions/repair`). The softmax of these numbers is the
probability that a family's most promising candidate comes next. REINFORCE adjusts the numbers by the reward of each
choice: the share of the failing tests that it fixed, so training computes no verdicts. An untrained policy, whose
numbers are all 0, plays the same tasks with the same seeds. The paired interval of `stackrank compare` says whether the
trained policy is better; it may not be.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import stackrank
from stackrank.agents import registry
from stackrank.agents.episode.protocol import Agent, Briefing, Decision, GaveUp, Setup, SetupError
from stackrank.env.actions import Observation
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.operators.call_traps import CALL_TRAPS
from stackrank.env.mutation.operators.expressions import EXPRESSIONS
from stackrank.env.mutation.operators.flow_traps import FLOW_TRAPS
from stackrank.env.mutation.operators.names import NAMES
from stackrank.env.mutation.operators.statements import STATEMENTS
from stackrank.env.mutation.operators.value_traps import VALUE_TRAPS
from stackrank.env.sandbox.registry import make_backend
from stackrank.extensions.repair.proposals import Proposals
from stackrank.extensions.repair.search import Search
from stackrank.extensions.repair.workspace import PlannedStep
from stackrank.flows.cli.main import app

FAMILIES = (VALUE_TRAPS, CALL_TRAPS, FLOW_TRAPS, EXPRESSIONS, STATEMENTS, NAMES)
NAMES_OF = ("pitfalls", "traps", "flow", "expressions", "statements", "names")
STEPS = 20
RATE = 0.5


def softmax(numbers: np.ndarray) -> np.ndarray:
    """Probabilities; a family at minus infinity has none."""
    raised = np.exp(numbers - numbers.max())
    return raised / raised.sum()


class Choices(Search):
    """One episode: read the program, then try candidates of the families that the policy picks."""

    def __init__(self, briefing: Briefing, first: Observation, weights: np.ndarray) -> None:
        super().__init__(briefing, first)
        self._weights = weights
        self.made: list[tuple[int, np.ndarray]] = []
        """(family, probabilities of all) for each choice."""

    def plan(self) -> Generator[PlannedStep, Observation, None]:
        """The whole episode, step by step."""
        yield from self.read()
        while self.steps_left >= 3 and self.failing:
            queues, numbers = self._queues(), self._weights.copy()
            while self.steps_left >= 3:
                family = int(self._random.choices(range(len(FAMILIES)), softmax(numbers))[0])
                candidate = next(queues[family], None)
                if candidate is None:
                    numbers[family] = -np.inf
                    if not np.isfinite(numbers).any():
                        return
                    continue
                self.made.append((family, softmax(numbers)))
                if (yield from self._attempt(candidate)):
                    break  # the program is another now

    def _queues(self) -> list[Iterator[Mutation]]:
        places = [context for path in self.files if (source := self.source(path)) for context in source.contexts]
        rank = Proposals(self, self.rate_lines(), self._random).rank
        queues = [
            [edit for context in places for operator in family for edit in operator(context)] for family in FAMILIES
        ]
        return [self._fresh(rank(candidates)) for candidates in queues]


class Bandit(Agent):
    """Plays by the policy; `weights` in its config are the numbers."""

    version = "1"
    debuggers = frozenset()

    @classmethod
    def configure(cls, *, model: str, config: Mapping[str, Any]) -> Setup:
        """Raises SetupError: there is not one number for each family."""
        if len(config.get("weights", ())) != len(FAMILIES):
            raise SetupError(f"the agent bandit needs config: {{weights: [...]}} with {len(FAMILIES)} numbers")
        return Setup(identity=config)

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Any = None) -> None:
        super().__init__(model=model, config=config)
        self._weights = np.array((config or {})["weights"], dtype=float)

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Start from the failing tests."""
        self.choices = Choices(briefing, observation, self._weights)
        self._plan, self._started = self.choices.plan(), False

    def act(self, observation: Observation) -> Decision:
        """The next step of the episode."""
        try:
            action, thought = self._plan.send(observation) if self._started else next(self._plan)
        except StopIteration:
            raise GaveUp("no family has a candidate left") from None
        self._started = True
        return Decision(action, thought)


def play(envs: stackrank.VecEnv, tasks: Sequence[str], weights: np.ndarray, seed: int) -> Iterator[tuple[Bandit, list]]:
    """Play tasks side by side: each agent with (choices made so far, reward) for each of its steps."""
    resets = envs.reset(tasks)
    agents = [Bandit(config={"weights": weights}) for _ in envs]
    for agent, env, (first, _) in zip(agents, envs, resets, strict=True):
        briefing = (env.task.id, env.task.statement, env.task.test_command, env.tools, STEPS)
        agent.begin(Briefing(*briefing, attempt_seed=seed), first)
    observations: list[Observation | None] = [first if "error" not in info else None for first, info in resets]
    earned: list[list[tuple[int, float]]] = [[] for _ in envs]
    while any(observation is not None for observation in observations):
        actions = []
        for position, (agent, observation) in enumerate(zip(agents, observations, strict=True)):
            try:
                actions.append(agent.act(observation).action if observation is not None else None)
            except GaveUp:
                actions.append(None)
                observations[position] = None
        for position, step in enumerate(envs.step(actions)):
            if step is not None:
                earned[position].append((len(agents[position].choices.made), step.reward))
                observations[position] = None if step.terminated or step.truncated else step.observation
    yield from zip(agents, earned, strict=True)


def train(tasks: Sequence[str], workers: int, sandbox: str | None) -> np.ndarray:
    """REINFORCE over one pass through the tasks, each choice with the reward of its own steps."""
    weights, baseline = np.zeros(len(FAMILIES)), 0.0
    # The agent stops by itself before a limit or a passing test ends the episode, which would take the verdict.
    options = {"tools": "rewrite", "rewards": "tests", "steps": STEPS + 1, "ends_when_solved": False}
    with stackrank.make_vec(list(tasks[:workers]), sandbox=sandbox, **options) as envs:
        for start in range(0, len(tasks), workers):
            batch = list(tasks[start : start + workers])
            gradient = np.zeros_like(weights)
            # The vector keeps its size; what is played twice at the end is learnt from once.
            padded = batch + list(tasks[: workers - len(batch)])
            for agent, earned in list(play(envs, padded[: len(envs)], weights, seed=start))[: len(batch)]:
                for index, (family, odds) in enumerate(agent.choices.made, 1):
                    reward = sum(points for choice, points in earned if choice == index)
                    gradient += (np.eye(len(FAMILIES))[family] - odds) * (reward - baseline)
                    baseline += 0.02 * (reward - baseline)
            weights += RATE * gradient
            print(
                f"{start + len(batch)} of {len(tasks)} tasks:",
                dict(zip(NAMES_OF, weights.round(2).tolist(), strict=True)),
            )
    return weights


def measure(tasks: Sequence[str], weights: np.ndarray, sandbox: str | None) -> None:
    """A run of both policies on these tasks, its leaderboard and their comparison."""
    registry.BUILT_IN["bandit"] = f"{__name__}:Bandit"
    name = f"bandit-{time.time_ns()}"
    policies = {"untrained": np.zeros(len(FAMILIES)), "trained": weights}
    entrants = [
        {"name": f"{label} {name}", "agent": "bandit", "tools": "rewrite", "config": {"weights": numbers.tolist()}}
        for label, numbers in policies.items()
    ]
    spec = {"name": name, "benchmark": "bugs", "tasks": [task.partition("/")[2] for task in tasks], "steps": STEPS}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "bandit.yaml")
        file.write_text(json.dumps({**spec, "seed": 1, "sandbox": sandbox, "entrants": entrants}))
        app(["run", str(file)], standalone_mode=False)
    app(["leaderboard", "--run", name], standalone_mode=False)
    app(["compare", *(entrant["name"] for entrant in entrants), "--run", name], standalone_mode=False)


def main() -> None:
    """Train, then measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=150, help="how many, taken evenly; half of them for training")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 2, help="episodes at the same time")
    parser.add_argument("--sandbox", help="docker, bubblewrap or local; default: bubblewrap, which is quicker to start")
    options = parser.parse_args()
    if options.sandbox is None and make_backend("bubblewrap").problem() is None:
        options.sandbox = "bubblewrap"
    names = stackrank.task_names("bugs")
    names = [names[index * len(names) // options.tasks] for index in range(min(options.tasks, len(names)))]
    weights = train(names[::2], max(1, min(options.workers, len(names[::2]))), options.sandbox)
    if weights.any():
        measure(names[1::2], weights, options.sandbox)
    else:
        print("no choice earned a reward, so the policy equals the untrained one: there is nothing to measure")


if __name__ == "__main__":
    main()
