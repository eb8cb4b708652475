"""Chooses which changed expectations are tried, and in which order."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stackrank.env.sandbox.guest.testing.ids import function_of
from stackrank.env.scoring.contradictions import Candidate
from stackrank.env.scoring.judge import Run
from stackrank.env.scoring.proof import Contradiction
from stackrank.env.scoring.report import TestReport
from stackrank.env.scoring.withheld.answers import Answers, line_of

ROUNDS = 12
"""How many candidates of a unit are tried at most."""
KEPT = 3
"""How many contradictions are tried of the only assertion that shows the bug in a unit: of several, one less; of
assertions that do not show it, and in visible tests, one."""
MOST_PLACES = 6
"""How many assertions of a unit are contradicted at most, drawn at random."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A contradiction that is tried, with the candidate that says where it should fail."""

    contradiction: Contradiction
    candidate: Candidate

    @property
    def place(self) -> tuple[str, int]:
        """The unit and the line of the assertion."""
        return self.contradiction.unit, self.contradiction.line

    def fails(self, run: Run, test: str) -> bool:
        """Whether a test of a run failed at the assertion that was changed."""
        report = run.report
        assert report is not None
        lines = report.failed_at.get(test, report.raised_at.get(test, ()) if self.candidate.raises else ())
        return run.outcomes[test] == "failed" and any(
            first <= line <= last for line in lines for first, last in self.candidate.places
        )


def contradiction_of(candidate: Candidate, *, shows_bug: bool = True) -> Contradiction:
    """Return the contradiction of a candidate that has not been tried."""
    line, edit = candidate.places[0][0], candidate.edit
    return Contradiction(candidate.unit, {}, candidate.path, line, edit, candidate.old, candidate.telling, shows_bug)


def in_order(unit: str, options: Sequence[Trial], *, hidden: bool) -> list[Trial]:
    """Return one option of each assertion of a unit, then more of them, those that show the bug first."""
    places = by_place(options)
    groups = random.Random(unit).sample(places, len(places))
    groups.sort(key=lambda group: (group[0].contradiction.telling, not group[0].contradiction.shows_bug))
    del groups[MOST_PLACES if hidden else KEPT :]
    showing = [group[0].contradiction.shows_bug for group in groups]
    most = [KEPT - (sum(showing) > 1) if hidden and shows else 1 for shows in showing]
    ordered = [
        group[number] for number in range(KEPT) for group, count in zip(groups, most, strict=True)
        if number < min(count, len(group))
    ]  # fmt: skip
    return ordered[:ROUNDS]


def by_place(options: Sequence[Trial]) -> list[list[Trial]]:
    """Return the options of each assertion, those that give themselves away last."""
    places: dict[int, list[Trial]] = defaultdict(list)
    for trial in sorted(options, key=lambda trial: trial.contradiction.telling):
        places[trial.contradiction.line].append(trial)
    return list(places.values())


def without_telling(proved: Sequence[Trial]) -> list[Trial]:
    """Leave out contradictions that give themselves away, at assertions that have others."""
    quiet = {trial.place for trial in proved if not trial.candidate.telling}
    return [trial for trial in proved if not trial.candidate.telling or trial.place not in quiet]


class ShowsBug:
    """Whether the program as given is not known to meet the assertion that a candidate changes."""

    def __init__(self, given: TestReport | None, answers: Answers, unmet: Mapping[str, Sequence[str]]) -> None:
        self._reached = {**given.raised_at, **given.failed_at} if given else {}
        """Test that fails as given -> the lines that led to its failure; what comes before these lines was met."""
        self._given = given
        self._asked, self._unmet = _lines_by_function(answers), _lines_by_function(unmet)

    def __call__(self, candidate: Candidate) -> bool:
        """Say so for one candidate."""
        if self._given is None:
            return True
        lines = {line for first, last in candidate.places for line in range(first, last + 1)}
        function = function_of(candidate.unit)
        if not lines.isdisjoint(self._unmet[function]):
            return True
        reached = [line for test in candidate.tests for line in self._reached.get(test, ())]
        if not lines.isdisjoint(reached):
            return True
        return lines.isdisjoint(self._asked[function]) and not max(lines) < max(reached, default=0)


def _lines_by_function(questions: Mapping[str, Iterable[str]]) -> defaultdict[str, set[int]]:
    lines: defaultdict[str, set[int]] = defaultdict(set)
    for test, names in questions.items():
        lines[function_of(test)] |= set(map(line_of, names))
    return lines
