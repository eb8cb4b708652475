"""All candidates that the operators propose, and their order."""

from __future__ import annotations

import random
from collections.abc import Iterable

from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.operators.catalogue import OPERATORS
from stackrank.extensions.repair import combine
from stackrank.extensions.repair.arguments import exchanges, lacking_arguments
from stackrank.extensions.repair.localise import Suspicion
from stackrank.extensions.repair.omissions import omissions
from stackrank.extensions.repair.symptoms import Symptoms
from stackrank.extensions.repair.workspace import Workspace

# Among changes that all make the tests pass, some kinds do so by accident more often than others: they remove what
# is tested, or insert something at random. The traps of the language rarely occur where nothing is wrong.
TRUST = {
    **dict.fromkeys(("condition left out", "left out", "negation", "jump", "branches", "filter", "lookup"), 0.3),
    **dict.fromkeys(("variable", "other attribute", "truth value", "order", "argument left out", "assignment"), 0.5),
    **dict.fromkeys(("default", "swapped elements"), 0.5),
    **dict.fromkeys(
        ("exchanged", "falsy", "swapped operands", "swapped arguments", "exception kind", "put in", "limit"), 0.5
    ),
    **dict.fromkeys(("deep copy", "copy", "lazy", "iterate a copy", "await", "scope", "late binding"), 3.0),
    **dict.fromkeys(("hidden handler", "repeated list", "mutable default", "class attribute", "precedence"), 3.0),
    **dict.fromkeys(("binary float", "encoding", "swallowed exception", "identity", "protocol", "if/while"), 2.0),
    **dict.fromkeys(("not called", "shield", "reflected", "None"), 2.0),
}


class Proposals:
    """Candidates for one state of the program, and what each is worth."""

    def __init__(self, workspace: Workspace, suspicion: Suspicion, random_: random.Random) -> None:
        self._workspace = workspace
        self._suspicion = suspicion
        self._random = random_
        self._symptoms = Symptoms(workspace.messages, workspace.shown, workspace.values)
        self.scores: dict[Mutation, float] = {}

    def all(self) -> list[Mutation]:
        """Return every candidate, the most promising first."""
        proposed: list[Mutation] = []
        for path in self._workspace.files:
            source = self._workspace.source(path)
            if source is None:
                continue
            for context in source.contexts:
                for operator in OPERATORS:
                    proposed.extend(operator(context))
                proposed.extend(self._symptoms.mutations(context))
                for propose in (omissions, lacking_arguments, exchanges):
                    proposed.extend(propose(context))
        return self.rank([*proposed, *combine.alike(proposed, self._workspace.files)])

    def rank(self, candidates: Iterable[Mutation]) -> list[Mutation]:
        """Sort candidates, the most promising first, and drop those on lines that cannot be at fault."""
        factors: dict[str, float] = {}
        scored: list[tuple[float, int, Mutation]] = []
        for position, candidate in enumerate(candidates):
            suspicion = self._suspicion.of(candidate.path, candidate.line)
            if suspicion <= 0:
                continue
            if candidate.kind not in factors:
                factors[candidate.kind] = self._symptoms.factor(candidate.kind)
            score = suspicion * candidate.prior * factors[candidate.kind] * self._random.uniform(0.97, 1.0)
            scored.append((-score, position, candidate))
        scored.sort(key=lambda row: row[:2])
        return self._spread(scored)

    def _spread(self, scored: list[tuple[float, int, Mutation]]) -> list[Mutation]:
        """PlannedStep turns between lines: many candidates of one line in a row would use up the budget."""
        lines: dict[tuple[str, int], int] = {}
        rescored = []
        for score, position, candidate in scored:
            line = (candidate.path, candidate.line)
            lines[line] = lines.get(line, 0) + 1
            rescored.append((score * 0.9 ** (lines[line] - 1), position, candidate))
        rescored.sort(key=lambda row: row[:2])
        self.scores.update({candidate: -score for score, _, candidate in rescored})
        return [candidate for _, _, candidate in rescored]

    def worth(self, candidate: Mutation) -> float:
        """Return how good a candidate is among those that fix everything."""
        return self.scores.get(candidate, 0.0) * TRUST.get(candidate.kind, 1.0)
