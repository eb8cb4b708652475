"""Turns the episodes of a run into proposals with evidence, the soundest first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.patches import PatchError
from stackrank.env.patterns import Matcher, globs
from stackrank.env.sandbox.base import Backend
from stackrank.extensions.fix.decisions import Proposals
from stackrank.extensions.fix.evidence import find_doubts, gather_evidence
from stackrank.extensions.fix.finding.problems import Problem, title_of
from stackrank.extensions.fix.finding.project import Project
from stackrank.extensions.fix.leftovers import without_idle_edits, without_leftovers
from stackrank.extensions.fix.publish import require_applies
from stackrank.patches.reading import Patch
from stackrank.terms import Verdict
from stackrank.wording import count_of

Row = dict[str, Any]
Show = Callable[[int, int], None]
Candidate = tuple[Problem, list[Mapping[str, Any]], int]
"""A problem, the episodes that resolved it with the same change, and how many episodes tried."""


def propose(
    store: Store,
    project: Project,
    backend: Backend,
    problems: Sequence[Problem],
    run_id: int,
    out: Path,
    *,
    times: int,
    show: Show,
) -> tuple[list[int], dict[str, str]]:
    """Gather the evidence for every change that resolved its task, and store the changes as proposals.

    Returns the proposals' numbers, the soundest first, and the problems without a proposal: name -> why.
    """
    without: dict[str, str] = {}
    candidates: dict[tuple[str, str], list[Candidate]] = {}
    for problem in problems:
        played = queries.episodes(store.engine, run_id, task=problem.name, limit=100_000)
        resolved = [episode["id"] for episode in played if episode["verdict"] == Verdict.RESOLVED]
        changes = group_by_change(queries.full_episodes(store.engine, resolved), project, problem.suite.leaves)
        if not changes:
            without[problem.name] = _explain_missing(played)
        lean: dict[str, list[Mapping[str, Any]]] = {}
        for diff, episodes in changes.items():
            smaller = without_leftovers(project, backend, problem, diff)
            if not any(episode["model"] for episode in episodes):  # a search means nothing by its edits
                smaller = without_idle_edits(project, backend, problem, smaller)
            lean.setdefault(smaller, []).extend(episodes)
        for diff, episodes in lean.items():
            candidates.setdefault((diff, problem.test_diff), []).append((problem, episodes, len(played)))
    rows: list[Row] = []
    for number, ((diff, _), group) in enumerate(candidates.items()):
        show(number, len(candidates))
        problem, episodes = _merge_problems(group), [episode for _, group_rows, _ in group for episode in group_rows]
        try:
            require_applies(project.repository, project.commit, project.in_repository(problem.test_diff + diff))
            evidence = gather_evidence(
                store.engine, project, backend, problem, diff,
                times=times, episodes=episodes, played=sum(number for _, _, number in group),
            )  # fmt: skip
        except (BenchmarkError, PatchError) as error:
            without[problem.name] = f"a change was left out: {error}"
            continue
        evidence["covers"] = [problem.name for problem in problems if {*problem.tests} <= {*evidence["fixed"]}]
        rows.append(_row(project, problem, run_id, out, diff, episodes[0], evidence))
    for name in {name for row in rows for name in row["evidence"]["covers"]}:
        without.pop(name, None)
    show(len(candidates), len(candidates))
    rows.sort(key=lambda row: len(row["doubts"]))
    return Proposals(store.engine).propose(rows), without


def find_partial_fixes(engine: Engine, problems: Sequence[Problem], run_id: int) -> dict[str, list[frozenset[str]]]:
    """Return the problems of which an episode fixed some tests but not all: name -> the tests that each such episode
    left failing. These problems may have two causes.
    """
    unsolved: dict[str, list[frozenset[str]]] = {}
    for problem in problems:
        ids = [row["id"] for row in queries.episodes(engine, run_id, task=problem.name, limit=100_000)]
        for episode in queries.full_episodes(engine, ids).values():
            unfixed = frozenset(episode["score"].get("unfixed") or ()) & {*problem.tests}
            if unfixed and len(unfixed) < len(problem.tests):
                unsolved.setdefault(problem.name, []).append(unfixed)
    return unsolved


def _merge_problems(candidates: Sequence[Candidate]) -> Problem:
    """Combine the problems that one change resolves into one."""
    first = candidates[0][0]
    if len(candidates) == 1:
        return first
    tests = tuple(dict.fromkeys(test for problem, _, _ in candidates for test in problem.tests))
    return replace(first, title=title_of(tests), tests=tests)


def group_by_change(
    episodes: Mapping[int, Any], project: Project, leaves: Collection[str]
) -> dict[str, list[Mapping[str, Any]]]:
    """Return diff -> the episodes that produced it, oldest first. Empty changes are left out, because they fix nothing.

    `leaves`: new files that the tests leave behind. They are removed from diffs, and so are files that the project's
    `.gitignore` names.
    """
    ignored = Matcher(globs(project.files.get(".gitignore", b"").decode("utf-8", "replace").splitlines()))
    changes: dict[str, list[Mapping[str, Any]]] = {}
    for _, episode in sorted(episodes.items()):
        patch = Patch.read(episode["diff"]).where(
            lambda file: file.old is not None or not (file.path in leaves or ignored.matches(file.path))
        )
        if patch.files and not episode["tampered"]:
            changes.setdefault(patch.text, []).append(episode)
    return changes


def _explain_missing(played: Sequence[Mapping[str, Any]]) -> str:
    if not played:
        return "it was not played"
    ends = sorted(
        {episode["failure_point"] or episode["stop_reason"] or episode["verdict"] or "open" for episode in played}
    )
    return f"none of {count_of(len(played), 'episode')} resolved it ({', '.join(ends)})"


def _row(
    project: Project,
    problem: Problem,
    run_id: int,
    out: Path,
    diff: str,
    episode: Mapping[str, Any],
    evidence: Mapping[str, Any],
) -> Row:
    return {
        "run_id": run_id,
        "entrant_id": episode["entrant_id"],
        "episode_id": episode["id"],
        "repository": str(project.repository),
        "base": project.commit,
        "folder": str(out.absolute()),
        "problem": problem.name,
        "title": problem.title,
        "tests": list(problem.tests),
        "diff": project.in_repository(diff),
        "test_diff": project.in_repository(problem.test_diff),
        "evidence": dict(evidence),
        "doubts": find_doubts(evidence),
    }
