"""What a step is rewarded for. Rewards are for training; no verdict depends on them.

Each term adds up to at most 1 over an episode and is never taken back, so a policy gains nothing by repeating itself:

verdict      1 at the end of an episode that is resolved
milestones   an equal share for each milestone (`terms.Milestone`) that the step is the first to reach
distance     how much nearer to the known fault the step looked, edited or paused than any before it: its file is
             1/3, its function 2/3, within a few lines of it 1
tests        the share of the visible tests that failed at first and pass now, beyond the most that passed before

Milestones and distance need a known fix; without one they stay at 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import StrEnum

from stackrank.agents.episode.milestones import MilestoneTracker
from stackrank.agents.episode.step import Step
from stackrank.errors import UsageError
from stackrank.terms import Distance, Milestone
from stackrank.wording import one_of


class TrainingError(UsageError):
    """A training program asks an environment for something that it cannot do."""


class Term(StrEnum):
    """A part of the reward."""

    VERDICT = "verdict"
    MILESTONES = "milestones"
    DISTANCE = "distance"
    TESTS = "tests"


NEARNESS = {Distance.ELSEWHERE: 0.0, Distance.FILE: 1 / 3, Distance.FUNCTION: 2 / 3, Distance.LINE: 1.0}
Chosen = str | Iterable[str] | Mapping[str, float]


def read_weights(choice: Chosen) -> dict[Term, float]:
    """Return term -> weight, from one name, several names, or weights by name. Raises TrainingError."""
    names = [choice] if isinstance(choice, str) else list(choice)
    weights: dict[Term, float] = {}
    for name in names:
        if name not in list(Term):
            raise TrainingError(f"there is no reward {name!r}: choose {one_of(Term)}")
        weight = choice[name] if isinstance(choice, Mapping) else 1.0
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
            raise TrainingError(f"the weight of the reward {name} is {weight!r}: give it a finite number")
        weights[Term(name)] = float(weight)
    return weights


class Tally:
    """Works out the rewards of one episode, step by step."""

    def __init__(self, weights: Mapping[Term, float], tracker: MilestoneTracker) -> None:
        """`tracker`: the tracker of the episode, which has been reset."""
        self._weights = weights
        self._tracker = tracker
        self._nearest = 0.0
        self._at_first = self._passing = tracker.passing

    def of(self, step: Step, resolved: bool) -> dict[str, float]:
        """Return term -> its weighted share of this step's reward. `resolved`: the episode ends here, as resolved."""
        terms = {
            Term.VERDICT: float(resolved),
            Term.MILESTONES: len(step.progress.milestones) / len(Milestone),
            Term.DISTANCE: self._nearer(step),
            Term.TESTS: self._more_tests(),
        }
        return {str(term): weight * terms[term] for term, weight in self._weights.items()}

    def _nearer(self, step: Step) -> float:
        nearness = NEARNESS[step.progress.distance] if step.progress.distance else 0.0
        gained = max(nearness - self._nearest, 0.0)
        self._nearest += gained
        return gained

    def _more_tests(self) -> float:
        first, earlier, current = self._at_first, self._passing, self._tracker.passing
        if first is None or earlier is None or current is None or first >= 1:
            return 0.0
        self._passing = max(earlier, current)
        return (self._passing - earlier) / (1 - first)
