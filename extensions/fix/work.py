"""The work of the command `fix`: its runs, which it can take up again, and what is proposed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.git import resolve_commit
from stackrank.env.benchmarks.guess_setup import build_guessed
from stackrank.env.sandbox.base import Backend
from stackrank.errors import UsageError
from stackrank.extensions.fix import problems, propose, suite
from stackrank.extensions.fix.comment import write_comment
from stackrank.extensions.fix.folder import STARTED, TESTS, claim
from stackrank.extensions.fix.issues import Issue, problems_of, test_tasks
from stackrank.extensions.fix.problems import Problem
from stackrank.extensions.fix.project import Project, some
from stackrank.extensions.fix.started import Started, asked, take_up
from stackrank.flows.cli import playing
from stackrank.flows.cli.progress import progress
from stackrank.flows.runs.preparing.check import check_entrants, needing_fix
from stackrank.flows.runs.specification.spec import read_spec
from stackrank.wording import print_err


@dataclass
class Wanted:
    """What the command asks for, apart from the project."""

    out: Path
    """The folder for tasks, evidence and patches."""
    spec: dict[str, Any]
    """Fields of the specification of each run: the entrants and their limits."""
    issues: list[Issue]
    """Issues to fix after the failing tests."""
    limit: int | None
    """Most problems, failing tests before issues."""
    base: str
    """The commit at which a failing test has to pass; empty if that does not matter."""
    times: int
    """How often a suite runs to find flaky tests."""


class Fixing:
    """Plays runs over the problems of a project, and stores what they propose.

    After each step, the output folder says how far it got, so that a repeated command continues.
    """

    def __init__(self, project: Project, backend: Backend, wanted: Wanted, debug: bool) -> None:
        """`debug`: show Prefect's log. Raises SpecError if the entrants cannot play."""
        self._project, self._backend, self._wanted, self._debug = project, backend, wanted, debug
        self._engine = connect()
        self._store = Store(self._engine)
        self._run: int | None = None
        self._runs: list[int] = []
        self._numbers: list[int] = []
        """Proposals, by number."""
        entrants, _ = check_entrants(read_spec(None, {**wanted.spec, "path": str(wanted.out)}))
        if needy := needing_fix(entrants):
            raise UsageError(f"{needy} needs known fixes, and an open problem has none: name another agent")

    def document(self) -> dict[str, Any]:
        """Propose fixes. Returns what the command prints with `--json`. Raises typer.Exit if it is interrupted."""
        project, wanted = self._project, self._wanted
        if project.spec.environment is not None:
            build_guessed(self._backend, project.spec, print_err)
        self._started = self._start()
        failing, reported = [*self._started.problems], wanted.issues
        if wanted.limit is not None:
            reported = reported[: wanted.limit - len(failing)]
        if failing or reported:
            claim(wanted.out, project.repository)
            self._started.keep(wanted.out)
        described, without = self._described(reported)
        found, none = self._fixed([*failing, *described])
        without |= none
        proposals = sorted(map(self._proposal, self._numbers), key=lambda row: (-row["surety"], row["id"]))
        write_comment(project.name, proposals, without, wanted.out)
        (wanted.out / STARTED).unlink(missing_ok=True)
        ran = self._started.suite
        return {
            "repository": str(project.repository), "base": project.commit, "run": self._run, "runs": self._runs,
            "suite": ran.counts,
            "set_aside": {"flaky": list(ran.flaky), "outside": list(ran.outside), "unread": list(ran.unread)},
            "problems": [{"name": one.name, "title": one.title, "tests": one.tests} for one in found],
            "proposals": proposals, "without": without, "folder": str(wanted.out.absolute()),
        }  # fmt: skip

    def _start(self) -> Started:
        """Take up the command that was interrupted in the output folder, or run the suite."""
        project, wanted = self._project, self._wanted
        since = resolve_commit(project.repository, wanted.base) if wanted.base else ""
        key = asked(
            project, wanted.times, wanted.limit, since, wanted.issues, wanted.spec, self._backend.name, self._engine.url
        )
        if before := take_up(wanted.out, key):
            print_err(
                f"{project.name}: continuing the interrupted command; delete {wanted.out / STARTED} to start over"
            )
            return before
        print_err(f"{project.name}: running its tests {wanted.times} times")
        ran = suite.run_suite(project, self._backend, times=wanted.times)
        if ran.unread:
            print_err(
                f"{project.name}: the tests in files that need a missing module did not run "
                f"({some(ran.unread)}): install it with --require or --setup"
            )
        if wanted.base:
            ran = suite.broken_since(project, self._backend, ran, wanted.base, times=wanted.times)
        found = problems.find_problems(project, ran, self._backend, print_err)
        return Started(key, ran, found[: wanted.limit])

    # ---- problems

    def _described(self, reported: list[Issue]) -> tuple[list[Problem], dict[str, str]]:
        """Let agents write tests that show these issues. Returns problems, and the issues without one: name -> why."""
        if not reported:
            return [], {}
        project, wanted = self._project, self._wanted
        file = problems.write_entries(project, test_tasks(project, reported), wanted.out / TESTS)
        run_id = self._play(file, f"fix {project.name}: tests for issues")
        if run_id is None:
            return [], {}
        ran = self._started.suite
        return problems_of(self._engine, project, self._backend, ran, reported, run_id, times=wanted.times)

    def _fixed(self, found: list[Problem]) -> tuple[list[Problem], dict[str, str]]:
        """Play these problems, and those of several tests that are solved in part again, in parts.

        Returns the problems as they are then, and those without a proposal: name -> why.
        """
        if not found:
            return [], {}
        project, out, name = self._project, self._wanted.out, f"fix {self._project.name}"
        self._run = self._play(problems.write_problems(project, found, out), name)
        none = self._proposed(found, self._run)
        unsolved = [each for each in found if each.parts and each.name in none]
        several = propose.solved_in_part(self._engine, unsolved, self._run or 0)
        if parts := problems.split_up(found, several, self._mended()):
            file = problems.write_problems(project, [*found, *parts], out)
            found = [each for each in found if each.name not in several] + parts
            none |= self._proposed(parts, self._play(file, f"{name}: parts of problems", parts))
        mended = self._mended()
        return found, {each.name: problems.hidden(each, none[each.name], mended) for each in found if each.name in none}

    def _mended(self) -> set[str]:
        """Return the tests that the proposals make pass."""
        return {test for each in self._numbers for test in self._proposal(each)["evidence"]["mended"]}

    def _proposal(self, number: int) -> Any:
        return queries.proposal(self._engine, number)

    # ---- runs

    def _play(self, file: Path, name: str, tasks: Sequence[Problem] = ()) -> int | None:
        """Play these tasks, or all, with the rest of the budget, or continue the run that was begun for them.

        Returns the run's number, or None if the budget is spent.
        """
        begun = self._started.runs.get(name)
        if begun and (url := playing.prepare_interrupted(self._engine, begun, file)) is not None:
            self._runs.append(begun)
            return self._finish(begun, url)
        left = self._wanted.spec["budget_usd"]
        if left is not None:
            left -= sum(map(self._store.spent_usd, self._runs))
            if left <= 0:
                return None
        more = {"path": str(file), "name": name, "budget_usd": left, "tasks": [each.name for each in tasks] or None}
        run_id, url = playing.begin(self._engine, read_spec(None, {**self._wanted.spec, **more}))
        self._runs.append(run_id)
        self._started.runs[name] = run_id
        self._started.keep(self._wanted.out)
        return self._finish(run_id, url)

    def _finish(self, run_id: int, url: str) -> int:
        if url and playing.play_rest(run_id, url, self._debug):
            print_err(f"run {run_id} was interrupted, and has not led to proposals yet: repeat the command to continue")
            raise typer.Exit(playing.INTERRUPTED)
        playing.require_over(self._engine, run_id)
        return run_id

    def _proposed(self, found: Sequence[Problem], run_id: int | None) -> dict[str, str]:
        """Store what a run proposes. Returns the problems without a proposal: name -> why."""
        if run_id is None:
            return {each.name: "the budget is spent" for each in found}
        if run_id not in self._started.proposed:
            about = (self._store, self._project, self._backend, found, run_id, self._wanted.out)
            try:
                with progress("changes") as show:
                    made = propose.propose(*about, times=self._wanted.times, show=show)
            except KeyboardInterrupt:
                print_err("interrupted before anything was proposed: repeat the command to continue")
                raise typer.Exit(playing.INTERRUPTED) from None
            self._started.proposed[run_id] = made
            self._started.keep(self._wanted.out)
        new, none = self._started.proposed[run_id]
        self._numbers += [number for number in new if number not in self._numbers]
        return none
