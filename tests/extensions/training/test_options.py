"""Options of environments that do not exist, and resets of single environments in a vector."""

from __future__ import annotations

from typing import Any

import pytest

import stackrank
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.extensions.training.env import TrainingEnv
from stackrank.extensions.training.rewards import TrainingError
from stackrank.extensions.training.vec import VecEnv


@pytest.mark.parametrize("name", ["tool", "max_steps", "task_name"])
@pytest.mark.parametrize("function", ["make", "make_vec"])
def test_an_option_that_does_not_exist(function: str, name: str) -> None:
    make: Any = getattr(stackrank, function)
    with pytest.raises(TrainingError, match=f"{function} has no option '{name}': choose from tools, rewards, steps"):
        make("bugs/shop-filters", sandbox="local", **{name: 1})


@pytest.mark.slow
def test_one_environment_of_a_vector_is_reset_alone() -> None:
    tasks = ["bugs/shop-filters", "bugs/vat-table", "bugs/shop-filters"]
    with stackrank.make_vec(tasks) as vec:
        vec.reset()
        vec.step([{"tool": "listdir"}] * 3)
        _, info = vec.reset_at(1, "bugs/tram-planner")
        assert info["task"] == "bugs/tram-planner"
        steps = [transition.info["step"] for transition in vec.step([{"tool": "listdir"}] * 3) if transition]
        assert steps == [2, 1, 2]
        with pytest.raises(TrainingError, match="index is 3: the environments are 0 to 2"):
            vec.reset_at(3)
        with pytest.raises(BenchmarkError, match="no task no-such-task"):
            vec.reset_at(0, "bugs/no-such-task")


def test_a_seed_draws_the_tasks_of_a_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TrainingEnv, "reset", lambda env, task: (task, {}))

    def drawn(envs: VecEnv, seed: int) -> list[str]:
        return [str(task) for task, _ in envs.reset(seed=seed)]

    with stackrank.make_vec("bugs", 8, sandbox="local") as envs:
        batches = [drawn(envs, seed) for seed in (0, 1, 0)]
        assert batches[0] == batches[2] != batches[1]
        assert all(len(set(batch)) == 8 for batch in batches)
        assert {*batches[0], *batches[1]} <= set(stackrank.task_names("bugs")), "of all tasks of the benchmark"
        wrong_calls: list[dict[str, Any]] = [
            {"seed": True},
            {"seed": "1"},
            {"seed": 1, "tasks": ["bugs/vat-table"] * 8},
        ]
        for wrong in wrong_calls:
            with pytest.raises(TrainingError, match=r"seed is .*: give a whole number, and no tasks"):
                envs.reset(**wrong)
    names = ["bugs/vat-table", "bugs/shop-filters"]
    with stackrank.make_vec([*names, *names, names[0]], sandbox="local") as envs:
        batch = drawn(envs, 4)
        assert {*batch[:2]} == {*batch[2:4]} == set(names), "each once before one comes again"
