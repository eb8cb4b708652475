"""Try candidates: by writing and running them, or in the program that the debugger has stopped."""

from __future__ import annotations

import itertools
import random
from collections.abc import Generator, Iterable, Iterator
from typing import Any

from stackrank.agents.episode.protocol import Briefing
from stackrank.env.actions import Observation
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.state import messages_of, outcomes_of
from stackrank.extensions.repair import combine, debugger, syntax, tracing
from stackrank.extensions.repair.donors import insertions, limits, units
from stackrank.extensions.repair.proposals import Proposals
from stackrank.extensions.repair.workspace import PlannedStep, Workspace
from stackrank.wording import count_of

BATCH = 24
"""The number of candidates tried in the stopped program with one action."""
MOST_ROUNDS = 4
"""The most rounds. A bug in several places is fixed one place per round."""
MOST_SYNTAX = 6
"""The most repairs that are tried for a file that does not parse."""
MOST_BATCHES = 8
PAIR_BATCHES = 3
DONOR_BATCHES = 3
COLD_AFTER_WARM = 6
"""The number of candidates that are written and run after nothing helped in the stopped program."""
LEAST_STEPS_TO_TRACE = 10
"""With fewer steps left than this, nothing is traced."""
MOST_HANGS = 2
"""The most test runs that may use up their whole time; in the stopped program, ten times as many candidates may."""
COLD = 0.6
"""A line whose factor has fallen below this waits until the other lines have been tried."""
KEEP_LOOKING = 2
"""The number of batches that are still tried once a candidate fixes everything; the most trusted come first."""


class Search(Workspace):
    """The search in one episode, with what it has tried."""

    def __init__(self, briefing: Briefing, first: Observation) -> None:
        super().__init__(briefing, first)
        self._random = random.Random(briefing.attempt_seed)
        self._suspicion = self.rate_lines()
        self._proposals = Proposals(self, self._suspicion, self._random)
        self._cooled: dict[tuple[str, int], float] = {}
        """(path, line) -> factor below 1 if changes of the line made no difference to how the tests fail."""
        self._seen: set[str] = set()
        """Changed texts of files that have already been candidates."""
        self._hangs = 0
        """Test runs that did not end by themselves."""
        self._touched: dict[str, str] = {}
        """Path -> text to restore, for files that still contain a change that did not help."""
        self._stopped = False
        """Whether candidates can be tried in the stopped program."""
        self._restart = False
        """Whether the program has to be run to the failing test again before the next question."""
        self._measured = debugger.Spectrum(lines={}, effort=1, steps=0, kept=())
        """How much work the tests are in the stopped program."""

    def plan(self) -> Generator[PlannedStep, Observation, None]:
        """The whole search, step by step."""
        yield from self.read()
        yield from self._repair_syntax()
        for _ in range(MOST_ROUNDS):
            was_failing, had_pdb = bool(self.failing), self.can_use("pdb")
            self._suspicion = self.rate_lines()
            self._stopped = self.can_use("pdb") and (yield from self._investigate())
            if self.can_use("trace") and not self._stopped:
                yield from self._trace()
            self._proposals = Proposals(self, self._suspicion, self._random)
            ranked = self._proposals.all()
            if self._stopped:
                helped = yield from self._try_in_stopped_program(ranked)
                ranked = [mutation for mutation in ranked if not debugger.can_try_stopped(mutation)]
                ranked = ranked[:COLD_AFTER_WARM]
            else:
                helped = False
            helped = helped or (yield from self._try_cold(ranked))
            unlocked = self.can_use("pdb") and not had_pdb
            if (not helped and not unlocked) or (not self.failing and was_failing):
                break
        if self.steps_left >= len(self._touched):
            yield from self._put_back()

    def _repair_syntax(self) -> Generator[PlannedStep, Observation, None]:
        for path in [path for path, text in self.files.items() if syntax.problem(text)]:
            for candidate in syntax.repairs(path, self.files[path])[:MOST_SYNTAX]:
                if self.steps_left < 3 or (yield from self._attempt(candidate)):
                    break

    def _fresh(self, candidates: Iterable[Mutation]) -> Iterator[Mutation]:
        """Yield the candidates that turn their file into a text that is new and compiles."""
        for candidate in candidates:
            old = self.files[candidate.path]
            new = candidate.apply(old)
            # A change that did not help in the stopped program, with its past, may help after a fresh start.
            key = (
                f"{candidate.path} {candidate.is_hot_swappable}\n{new}" if self._stopped else f"{candidate.path}\n{new}"
            )
            if new != old and key not in self._seen and not syntax.problem(new):
                self._seen.add(key)
                yield candidate

    def _attempt(self, candidate: Mutation) -> Generator[PlannedStep, Observation, bool]:
        """Write a candidate, run the tests and return whether it helps. If not, the file has to be put back later."""
        path = candidate.path
        old = self.files[path]
        new = candidate.apply(old)
        yield from self._put_back(path)
        thought = f"Line {candidate.line}: {candidate.kind}."
        rewrite = yield from self.call("rewrite", thought, path=path, new_code=new)
        if not rewrite.ok:
            if "read-only" in rewrite.text:
                self.readonly.add(path)
            return False
        self._touched[path] = old
        result = yield from self.call("eval", "Do the tests pass now?")
        self._hangs += bool(result.state.get("timed_out"))
        if self._better(result):
            self.files[path] = new
            self._touched.pop(path)
            self.store_outcomes(result)
            return True
        if tuple(messages_of(result.state).values()) == self.messages:
            line = (path, candidate.line)
            self._cooled[line] = self._cooled.get(line, 1.0) * 0.8
        return False

    def _better(self, result: Observation) -> bool:
        """Whether failing tests pass now, and no passing test fails or is gone."""
        outcomes = outcomes_of(result.state)
        if result.state.get("solved"):
            return True
        bad = {test for test, outcome in outcomes.items() if outcome in ("failed", "missing")}
        if not self.outcomes:  # nothing could be collected before
            return bool(outcomes) and len(bad) < len(outcomes)
        was_bad = set(self.failing)
        if set(self.outcomes) - set(outcomes):
            return False  # a test that can no longer be collected does not fail, either
        return bad < was_bad or (bool(set(outcomes) - set(self.outcomes)) and not bad - was_bad)

    def _put_back(self, keep: str = "") -> Generator[PlannedStep, Observation, None]:
        """Undo changes that did not help, except in the file `keep`, which is about to be written anyway."""
        for path in [path for path in self._touched if path != keep]:
            yield from self.call("rewrite", f"Restore {path}.", path=path, new_code=self._touched.pop(path))

    def _try_cold(self, ranked: list[Mutation]) -> Generator[PlannedStep, Observation, bool]:
        """Write and run one candidate after another, as long as there are steps; return whether one helped."""
        had_pdb = self.can_use("pdb")
        queue = self._fresh(ranked)
        later: list[Mutation] = []
        while self.steps_left >= 3 + len(self._touched) and self._hangs < MOST_HANGS:
            candidate = next(queue, None)
            if candidate is None:
                if not later:
                    return False
                queue, later = iter(later), []
                self._cooled.clear()
            elif self._cooled.get((candidate.path, candidate.line), 1.0) < COLD:
                later.append(candidate)
            elif self.can_use("pdb") and not had_pdb:
                return False  # pdb has become available, and its answers change the order
            elif (yield from self._attempt(candidate)):
                return True
        return False

    def _investigate(self) -> Generator[PlannedStep, Observation, bool]:
        """Ask where the failing test is stopped and what it executes. Return whether candidates can be tried there."""
        yield from self._put_back()
        stop = yield from self.step(debugger.look(), "Where does the test fail, and with what values?")
        if not debugger.stands_in_test(stop):
            return False
        self.values = debugger.local_values(stop)
        question = debugger.ask_spectrum(sorted(self.files), self.failing)
        observation = yield from self.step(question, "Which lines do the failing tests execute, and which the others?")
        spectrum = debugger.answer(debugger.Spectrum, observation)
        if not spectrum:
            return False
        yield from self.read_more(spectrum.lines)
        self._suspicion = self.rate_lines()
        self._suspicion.executed = {
            path: {line: (in_failing, in_passing) for line, in_failing, in_passing in rows}
            for path, rows in spectrum.lines.items()
        }
        self._measured = spectrum
        self._restart = False
        return True

    def _trace(self) -> Generator[PlannedStep, Observation, None]:
        """Ask which lines a failing test runs that others do not, and with what values it fails."""
        if not self.files or not self.failing or self.steps_left < LEAST_STEPS_TO_TRACE:
            return
        yield from self._put_back()
        failing = self.failing[0]
        thought = "Which lines does the failing test run, and with what values does it fail?"
        trace = yield from self.step(tracing.ask_lines(self.files, failing), thought)
        failing_lines = tracing.lines_run(trace)
        if not failing_lines:
            return
        self.values = tracing.values_at_failure(trace)
        passing_lines = []
        for test in tracing.alike(failing, self.outcomes):
            trace = yield from self.step(tracing.ask_lines(self.files, test), "And which does one that passes?")
            passing_lines.append(tracing.lines_run(trace))
        self._suspicion.executed = tracing.spectrum(failing_lines, passing_lines, max(len(self.failing), 1))

    def _try_in_stopped_program(self, ranked: list[Mutation]) -> Generator[PlannedStep, Observation, bool]:
        """Try candidates in the stopped program, many in a step, and write the best of those that help."""
        swappable = [mutation for mutation in ranked if debugger.can_try_stopped(mutation)]
        fixing, active = yield from self._try_batches(self._fresh(swappable), MOST_BATCHES)
        if not fixing:
            pairs = combine.pairs(active, self._suspicion, PAIR_BATCHES * BATCH)
            fixing, _ = yield from self._try_batches(self._fresh(pairs), PAIR_BATCHES)
        if not fixing:
            sources = [source for path in self.files if (source := self.source(path)) is not None]
            sought = (units, limits, insertions)
            donors = self._proposals.rank(mutation for put in sought for source in sources for mutation in put(source))
            fixing, _ = yield from self._try_batches(self._fresh(donors), DONOR_BATCHES)
        if fixing:
            # Candidates that cannot be tried in the stopped program but look much better come first.
            scores = self._proposals.scores
            least = 1.5 * scores.get(fixing[0], 0.0)
            cold = [
                mutation for mutation in ranked if scores[mutation] > least and not debugger.can_try_stopped(mutation)
            ]
            fixing = [*list(self._fresh(cold))[:2], *fixing]
        for candidate in fixing[:5]:
            if self.steps_left < 3 + len(self._touched) or self._hangs >= MOST_HANGS:
                break
            if (yield from self._attempt(candidate)):
                return True
        return False

    def _try_batches(
        self, queue: Iterator[Mutation], batches: int
    ) -> Generator[PlannedStep, Observation, tuple[list[Mutation], list[Mutation]]]:
        """Try candidates in the stopped program.

        Return those that fix something and break nothing, as far as the tests ran, the best first, and those that at
        least change how the tests fail.
        """
        failing, is_quick = self.failing, self._measured.effort == 1
        # With long tests, try fewer candidates, so that an action takes a few seconds at most.
        size = max(int(BATCH / self._measured.effort**1.5), 3)
        fixing: list[tuple[float, float, int, Mutation]] = []
        answers: list[tuple[Mutation, Any]] = []
        first_fixed: int | None = None
        position, hangs = 0, 0
        for number in range(batches if is_quick else batches // 3):
            batch = list(itertools.islice(queue, size))
            has_looked = first_fixed is not None and number - first_fixed >= KEEP_LOOKING
            if not batch or self.steps_left < 6 or has_looked or hangs > 10 * MOST_HANGS:
                break
            question = debugger.ask_trials(batch, failing, self._measured, self._restart)
            thought = (
                f"Would one of {count_of(len(batch), 'change')} do? The first: line {batch[0].line}, {batch[0].kind}."
            )
            results = debugger.trial_results((yield from self.step(question, thought)))
            self._restart = results is None
            was_fixed = first_fixed is not None
            for candidate, result in zip(batch, results or (), strict=False):
                answers.append((candidate, result))
                hangs += result is None
                if isinstance(result, tuple) and not result[1]:
                    fixed, broken = result
                    # Tests that stopped at their first failure may run far longer once they pass.
                    share = len(failing) - 0.5 if broken is None else fixed
                    fixing.append((-share, -self._proposals.worth(candidate), position, candidate))
                    if share == len(failing) and first_fixed is None:
                        first_fixed = number
                position += 1
            if first_fixed is not None and not was_fixed:
                by_worth = sorted(queue, key=lambda mutation: -self._proposals.worth(mutation)) if is_quick else []
                queue = iter(by_worth)
        messages = [result for _, result in answers if isinstance(result, str)]
        usual = max(messages, key=messages.count, default="")
        active = [
            candidate for candidate, result in answers if isinstance(result, tuple) or result not in (usual, None)
        ]
        return [row[-1] for row in sorted(fixing, key=lambda row: row[:3])], active
