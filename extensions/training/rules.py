"""The rules by which an environment, its branches and all its episodes are played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stackrank.agents.episode.referee import Budget
from stackrank.extensions.training.rewards import Term


@dataclass(frozen=True)
class EpisodeRules:
    """What all episodes of an environment have in common. `env_maker.Options` explains the fields."""

    budget: Budget
    weights: Mapping[Term, float]
    ends_when_solved: bool = True
    shows_failing_test: bool = True
    shows_failure_state: bool = False
