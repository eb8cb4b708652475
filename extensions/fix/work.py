"""The work of the command `fix`: its runs, which it can take up again, and what is proposed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.git import resolve_commit
from stackrank.env.benchmarks.python_project.guess_setup import build_guessed
from stackrank.env.sandbox.base import Backend
from stackrank.errors import UsageError
from stackrank.extensions.fix import propose
from stackrank.extensions.fix.comment import write_comment
from stackrank.extensions.fix.finding import problems, suite
from stackrank.extensions.fix.finding.folder import STARTED, TESTS, claim
from stackrank.extensions.fix.finding.issues import Issue, problems_of, test_tasks
from stackrank.extensions.fix.finding.judged import reproduce, set_aside_surroundings
from stackrank.extensions.fix.finding.problems import Problem
from stackrank.extensions.fix.finding.project import Project, shorten
from stackrank.extensions.fix.progress import Progress, digest_command, load_progress
from stackrank.flows.cli import playing
from stackrank.flows.cli.progress import progress
from stackrank.flows.runs.preparing.entrants import check_entrants, needing_fix
from stackrank.flows.runs.specification.spec import read_spec
from stackrank.host.underway import underway
from stackrank.wording import duration, print_err


@dataclass
class FixRequest:
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


class FixSession:
    """Plays runs over the problems of a project, and stores what they propose.

    After each step, the output folder says how far it got, so that a repeated command continues.
    """

    def __init__(self, project: Project, backend: Backend, request: FixRequest, debug: bool) -> None:
        """`debug`: show Prefect's log. Raises SpecError if the entrants cannot play."""
        self._project, self._backend, self._request, self._debug = project, backend, request, debug
        self._engine = connect()
        self._store = Store(self._engine)
        self._run: int | None = None
        self._runs: list[int] = []
        self._numbers: list[int] = []
        """Proposals, by number."""
        entrants, _ = check_entrants(read_spec(None, {**request.spec, "path": str(request.out)}))
        if needy := needing_fix(entrants):
            raise UsageError(f"{needy} needs known fixes, and an open problem has none: name another agent")

    def document(self) -> dict[str, Any]:
        """Propose fixes. Returns what the command prints with `--json`. Raises typer.Exit if it is interrupted."""
        project, request = self._project, self._request
        if project.spec.environment is not None:
            build_guessed(self._backend, project.spec, print_err)
        self._progress = self._load_or_run_suite()
        self._project = project = project.leaving_out(self._progress.suite.slow)
        failing, reported = [*self._progress.problems], request.issues
        if request.limit is not None:
            reported = reported[: request.limit - len(failing)]
        if failing or reported:
            claim(request.out, project.repository)
            self._progress.keep(request.out)
        described, without = self._describe_issues(reported)
        played, unfixed = self._fix([*failing, *described])
        without |= unfixed
        proposals = sorted(map(self._proposal, self._numbers), key=lambda row: (len(row["doubts"]), row["id"]))
        write_comment(project.name, proposals, without, request.out)
        (request.out / STARTED).unlink(missing_ok=True)
        suite_run = self._progress.suite
        return {
            "repository": str(project.repository), "base": project.commit, "run": self._run, "runs": self._runs,
            "suite": suite_run.counts,
            "set_aside": {
                "flaky": list(suite_run.flaky), "outside": list(suite_run.not_isolated),
                "unread": list(suite_run.unread), "surroundings": dict(suite_run.lacking),
            },
            "problems": [{"name": problem.name, "title": problem.title, "tests": problem.tests} for problem in played],
            "proposals": proposals, "without": without, "folder": str(request.out.absolute()),
        }  # fmt: skip

    def _load_or_run_suite(self) -> Progress:
        """Take up the command that was interrupted in the output folder, or run the suite."""
        project, request = self._project, self._request
        since = resolve_commit(project.repository, request.base) if request.base else ""
        digest = digest_command(
            project,
            request.times,
            request.limit,
            since,
            request.issues,
            request.spec,
            self._backend.name,
            self._engine.url,
        )
        if interrupted := load_progress(request.out, digest):
            print_err(
                f"{project.name}: continuing the interrupted command; delete {request.out / STARTED} to start over"
            )
            return interrupted
        limit = f"at most {duration(project.timeout_s)} each time, without waits for a processor"
        with underway(
            f"{project.name}: running its tests, and files with a failing test {request.times} times ({limit})"
        ):
            suite_run = suite.run_suite(project, self._backend, times=request.times, say=print_err)
        project = project.leaving_out(suite_run.slow)
        if suite_run.unread:
            print_err(
                f"{project.name}: the tests in files that need a missing module did not run "
                f"({shorten(suite_run.unread)}): install it with --require or --setup"
            )
        suite_run = set_aside_surroundings(project, self._backend, suite_run, print_err)
        if request.base:
            with underway(f"{project.name}: running its tests at {request.base}"):
                suite_run = suite.select_broken_since(
                    project, self._backend, suite_run, request.base, times=request.times
                )
        with underway(f"{project.name}: finding out which tests fail for the same reason"):
            failing = problems.find_problems(project, suite_run, self._backend, print_err)
            failing, reasons = reproduce(project, self._backend, failing)
        if reasons:
            suite_run = replace(suite_run, lacking={**suite_run.lacking, **reasons})
        return Progress(digest, suite_run, failing[: request.limit])

    # ---- problems

    def _describe_issues(self, reported: list[Issue]) -> tuple[list[Problem], dict[str, str]]:
        """Let agents write tests that show these issues. Returns problems, and the issues without one: name -> why."""
        if not reported:
            return [], {}
        project, request = self._project, self._request
        file = problems.write_entries(project, test_tasks(project, reported), request.out / TESTS)
        run_id = self._play(file, f"fix {project.name}: tests for issues")
        if run_id is None:
            return [], {}
        suite_run = self._progress.suite
        return problems_of(self._engine, project, self._backend, suite_run, reported, run_id, times=request.times)

    def _fix(self, todo: list[Problem]) -> tuple[list[Problem], dict[str, str]]:
        """Play these problems, and again: those of several tests that are solved in part, in parts; and those that are
        solved only by changes that break other tests, with these tests.

        Returns the problems as they are then, and those without a proposal: name -> why.
        """
        if not todo:
            return [], {}
        project, out, name = self._project, self._request.out, f"fix {self._project.name}"
        self._run = self._play(problems.write_problems(project, todo, out), name)
        reasons = self._propose_from(todo, self._run)
        unsolved = [problem for problem in todo if problem.parts and problem.name in reasons]
        several = propose.find_partial_fixes(self._engine, unsolved, self._run or 0)
        if parts := problems.split_up(todo, several, self._fixed_tests()):
            file = problems.write_problems(project, [*todo, *parts], out)
            todo = [problem for problem in todo if problem.name not in several] + parts
            reasons |= self._propose_from(parts, self._play(file, f"{name}: parts of problems", parts))
        if kept := reproduce(project, self._backend, self._kept_from_breaking(todo))[0]:
            file = problems.write_problems(project, [*todo, *kept], out)
            self._propose_from(kept, self._play(file, f"{name}: without breaking other tests", kept))
        fixed = self._fixed_tests()
        return todo, {
            problem.name: problems.explain_missing(problem, reasons[problem.name], fixed)
            for problem in todo
            if problem.name in reasons
        }

    def _kept_from_breaking(self, todo: Sequence[Problem]) -> list[Problem]:
        """Return the problems that changes solve only by breaking tests of other files, together with these tests."""
        kept: list[Problem] = []
        rows = [self._proposal(number) for number in self._numbers]
        for problem in todo:
            broken = [row["evidence"]["regressions"] for row in rows if row["problem"] == problem.name]
            if broken and all(broken):
                kept.append(problems.keeping(problem, sorted({*chain(*broken)}), [*todo, *kept]))
        return kept

    def _fixed_tests(self) -> set[str]:
        """Return the tests that the proposals make pass."""
        return {test for number in self._numbers for test in self._proposal(number)["evidence"]["fixed"]}

    def _proposal(self, number: int) -> Any:
        return queries.proposal(self._engine, number)

    # ---- runs

    def _play(self, file: Path, name: str, tasks: Sequence[Problem] = ()) -> int | None:
        """Play these tasks, or all, with the rest of the budget, or continue the run that was begun for them.

        Returns the run's number, or None if the budget is spent.
        """
        earlier_run = self._progress.runs.get(name)
        if earlier_run and (url := playing.prepare_interrupted(self._engine, earlier_run, file)) is not None:
            self._runs.append(earlier_run)
            return self._finish(earlier_run, url)
        budget = self._request.spec["budget_usd"]
        if budget is not None:
            budget -= sum(map(self._store.spent_usd, self._runs))
            if budget <= 0:
                return None
        fields = {"path": str(file), "name": name, "budget_usd": budget, "tasks": [task.name for task in tasks] or None}
        run_id, url = playing.begin(self._engine, read_spec(None, {**self._request.spec, **fields}))
        self._runs.append(run_id)
        self._progress.runs[name] = run_id
        self._progress.keep(self._request.out)
        return self._finish(run_id, url)

    def _finish(self, run_id: int, url: str) -> int:
        if url and playing.play_rest(run_id, url, self._debug):
            print_err(f"run {run_id} was interrupted, and has not led to proposals yet: repeat the command to continue")
            raise typer.Exit(playing.INTERRUPTED)
        playing.require_finished(self._engine, run_id)
        return run_id

    def _propose_from(self, todo: Sequence[Problem], run_id: int | None) -> dict[str, str]:
        """Store what a run proposes. Returns the problems without a proposal: name -> why."""
        if run_id is None:
            return {problem.name: "the budget is spent" for problem in todo}
        if run_id not in self._progress.proposed:
            arguments = (self._store, self._project, self._backend, todo, run_id, self._request.out)
            try:
                with (
                    underway(f"{self._project.name}: checking the changes of run {run_id}"),
                    progress("changes") as show,
                ):
                    proposals = propose.propose(*arguments, times=self._request.times, show=show)
            except KeyboardInterrupt:
                print_err("interrupted before anything was proposed: repeat the command to continue")
                raise typer.Exit(playing.INTERRUPTED) from None
            self._progress.proposed[run_id] = proposals
            self._progress.keep(self._request.out)
        new, reasons = self._progress.proposed[run_id]
        self._numbers += [number for number in new if number not in self._numbers]
        return reasons
