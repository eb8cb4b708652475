"""The example that learns: its policy changes by what its choices earned, and is an entrant like others."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stackrank
from stackrank.agents.episode.protocol import SetupError
from stackrank.agents.registry import BUILT_IN, find_agent
from stackrank.env.sandbox.pool import Pool
from stackrank.extensions.training.vec import VecEnv
from tests.extensions.training.test_training import training_env
from tests.fixtures.env import usable

pytest.importorskip("stackrank.extensions.repair", reason="the example rests on `repair`")
FILE = Path(__file__).parents[3] / "docs" / "examples" / "train_bandit.py"


@pytest.fixture
def bandit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("train_bandit", FILE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "train_bandit", module)
    spec.loader.exec_module(module)
    yield module


def test_the_policy_is_an_agent_with_its_numbers_as_settings(bandit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILT_IN, "bandit", "train_bandit:Bandit")
    config = {"weights": [0.0] * len(bandit.FAMILIES)}
    assert find_agent("bandit").configure(model="", config=config).identity == config
    with pytest.raises(SetupError, match="with 6 numbers"):
        find_agent("bandit").configure(model="", config={"weights": [1]})
    assert bandit.softmax(np.array([0.0, 0.0, -np.inf])).tolist() == [0.5, 0.5, 0.0]


def test_what_earned_something_becomes_likelier(bandit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(usable("bubblewrap"), size=1)
    envs = VecEnv([training_env(pool, "rewrite", owns_pool=False, steps=bandit.STEPS)], pool)
    monkeypatch.setattr(stackrank, "make_vec", lambda *_, **__: envs)
    episodes: list[tuple[Any, Any]] = []
    play = bandit.play

    def watched(*arguments: Any, **keywords: Any) -> Iterator[tuple[Any, Any]]:
        episodes.extend(play(*arguments, **keywords))
        yield from episodes

    monkeypatch.setattr(bandit, "play", watched)
    weights = bandit.train(["tests/mini"], 1, None)
    ((agent, earned),) = episodes
    rewards = {index: sum(reward for position, reward in earned if position == index) for index, _ in earned}
    best = max(rewards, key=lambda index: rewards[index])
    assert rewards[best] > 0, "the policy found no change that helps"
    family, odds = agent.choices.made[best - 1]
    assert weights[family] > 0 and odds.sum() == pytest.approx(1)
