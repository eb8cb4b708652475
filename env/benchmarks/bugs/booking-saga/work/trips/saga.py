# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Sagas."""
from __future__ import annotations

from typing import List, Sequence, Tuple

from .steps import Context, Step


class SagaFailed(Exception):
    """A step failed. The error of the step is the cause.

    `taken_back` are the steps taken back, latest first; `stuck` those that could not be, each with its error.
    """

    def __init__(self, step: str, taken_back: List[str], stuck: List[Tuple[str, Exception]]) -> None:
        super().__init__(step, taken_back, stuck)
        self.step = step
        self.taken_back = taken_back
        self.stuck = stuck

    def __str__(self) -> str:
        text = f"{self.step} failed"
        if self.stuck:
            text += "; could not take back " + ", ".join(name for name, _ in self.stuck)
        return text


class Saga:
    """Steps done in order. If one fails all steps done before SHALL be taken back, the latest first."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)

    def run(self, context: Context) -> None:
        done: List[Step] = []
        for step in self._steps:
            try:
                step.do(context)
            except Exception as error:
                taken_back, stuck = self._take_back(done, context)
                raise SagaFailed(step.name, taken_back, stuck) from error
            done.append(step)

    @staticmethod
    def _take_back(done: List[Step], context: Context) -> Tuple[List[str], List[Tuple[str, Exception]]]:
        taken_back: List[str] = []
        stuck: List[Tuple[str, Exception]] = []
        steps = [step for step in reversed(done) if step.take_back is not None]
        try:
            for step in steps:
                step.take_back(context)
                taken_back.append(step.name)
        except Exception as error:
            stuck.append((step.name, error))
        return taken_back, stuck
