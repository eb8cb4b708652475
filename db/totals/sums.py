"""Totals over a set of episodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from stackrank.terms import ErrorClass

TaskKey = tuple[str, str]
"""A task's name and digest. A task keeps its key in all versions of its benchmark until the task is changed."""


class Sums(NamedTuple):
    """Totals over a set of episodes; steps, tokens, cost and time are over the `scored` ones only."""

    resolved: int = 0
    sealed: int = 0
    """Resolved episodes whose verdict is sealed."""
    unverified: int = 0
    """Resolved episodes whose verdict rests on a run of the tests alone."""
    unresolved: int = 0
    errors: int = 0
    steps: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    """Cost of the episodes with a known price; `priced` counts them."""
    priced: int = 0
    wall_s: float = 0.0
    spent_usd: float = 0.0
    """Cost of all episodes with a known price, errors and repeated tries too; `unpriced` counts those without one."""
    unpriced: int = 0
    partial: float = 0.0
    """The shares of mended faults in unresolved episodes, added up; 0 if every task has one fault."""
    faults_mended: int = 0
    """Mended faults in scored episodes; `faults` counts those that they had."""
    faults: int = 0
    machine_errors: int = 0
    """This and the next three fields: the errors of each `ErrorClass`."""
    endpoint_errors: int = 0
    environment_errors: int = 0
    our_errors: int = 0

    failed_errors: int = 0
    """Errors that count as failures."""

    @property
    def scored(self) -> int:
        """Episodes whose verdict is about the entrant: resolved or unresolved."""
        return self.resolved + self.unresolved

    @property
    def counted(self) -> int:
        """Episodes that the rate is over."""
        return self.scored + self.failed_errors

    @property
    def done(self) -> int:
        """Episodes with a verdict."""
        return self.scored + self.errors

    @property
    def errors_by_class(self) -> dict[str, int]:
        """Class -> errors; classes without one are left out."""
        counts = (self.machine_errors, self.endpoint_errors, self.environment_errors, self.our_errors)
        return {str(name): count for name, count in zip(ErrorClass, counts, strict=True) if count}

    @property
    def mended(self) -> float:
        """The shares of mended faults in all episodes, added up: what rates are computed from. If every task has one
        fault, this is the number of resolved episodes."""
        return self.resolved + self.partial if self.partial else self.resolved

    @property
    def outcome(self) -> tuple[float, int, int]:
        """The shares of mended faults, added up, and the numbers of scored episodes and of errors."""
        return self.mended, self.scored, self.errors

    def with_errors_failed(self) -> Sums:
        """Return the same totals, with all errors counted as failures in the rate."""
        return self._replace(failed_errors=self.errors)

    @property
    def rate(self) -> float | None:
        """The mean share of faults that were mended in counted episodes; None if none was counted."""
        return self.mended / self.counted if self.counted else None


Cells = Mapping[TaskKey, Sums]
"""The sums of one entrant, task by task."""


def total(sums: Iterable[Sums]) -> Sums:
    """Add totals up."""
    return Sums(*map(sum, zip(*sums, strict=True)))
