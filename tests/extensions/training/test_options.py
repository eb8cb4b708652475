"""Options of environments that do not exist, and resets of single environments in a vector."""

from __future__ import annotations

from typing import Any

import pytest

import stackrank
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.extensions.training.rewards import TrainingError


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
