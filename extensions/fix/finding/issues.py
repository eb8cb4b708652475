"""Issues: texts that say what is wrong. The agent first writes a failing test that represents an issue."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.files import read_text
from stackrank.env.benchmarks.repo_schema import TaskEntry, id_from
from stackrank.env.patches import PatchError, apply_patch, make_diff
from stackrank.env.patterns import Pattern
from stackrank.env.sandbox.base import Backend
from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.extensions.fix.finding.problems import Problem, entry_of
from stackrank.extensions.fix.finding.project import Project
from stackrank.extensions.fix.finding.suite import Suite, run_suite
from stackrank.terms import Verdict

_TEXTS = (".md", ".txt", ".rst")
RUNNER = "stackrank_reproduces.py"
_RUNNER = Path(__file__).with_name("reproduces.py")
_TASK = """\
{text}

No test shows this yet. Write one, with pytest, into the new file {path}: it has to fail because of this, and pass \
once it is fixed. Change nothing else. `{command}` succeeds when the file has a test that fails in its call."""


@dataclass(frozen=True)
class Issue:
    """What somebody reported."""

    name: str
    title: str
    text: str


def read_issues(path: Path) -> list[Issue]:
    """Read issues from a text file, a folder of text files, or a forge's JSON export. Closed issues and pull requests
    are left out. Raises BenchmarkError, which names the file.
    """
    if not path.exists():
        raise BenchmarkError(
            f"there is no {path}: --issues takes a text file, a folder of text files, or a forge's JSON export"
        )
    files = sorted(file for file in path.iterdir() if file.suffix in (*_TEXTS, ".json")) if path.is_dir() else [path]
    issues = [
        issue
        for file in files
        for issue in (_exported if file.suffix == ".json" else _written)(file, path if path.is_dir() else None)
    ]
    if not issues:
        raise BenchmarkError(f"{path} has no open issue: it needs text files ({', '.join(_TEXTS)}), or a JSON export")
    return issues


def require_distinct(issues: Sequence[Issue]) -> None:
    """Raises BenchmarkError if two issues have the same name."""
    doubled = [name for name, number in Counter(issue.name for issue in issues).items() if number > 1]
    if doubled:
        raise BenchmarkError(f"there are two issues called {doubled[0]}: leave one out, or rename its file")


def _written(file: Path, inside: Path | None) -> Iterator[Issue]:
    text = read_text(file, inside=inside).strip()
    if not text:
        raise BenchmarkError(f"{file} is empty: describe the problem in it")
    title = text.partition("\n")[0].lstrip("# ").strip()
    yield Issue(id_from(file.stem), title[:120], text)


def _exported(file: Path, inside: Path | None) -> Iterator[Issue]:
    """Read an export, which may be several JSON documents in a row, one for each page of the forge."""
    text, decoder = read_text(file, inside=inside).strip(), json.JSONDecoder()
    while True:
        try:
            data, end = decoder.raw_decode(text)
        except ValueError as error:
            raise BenchmarkError(f"{file} is not JSON, or is truncated: {error}") from None
        rows = data.get("issues", data.get("items", [data])) if isinstance(data, dict) else data
        yield from issues_from(rows, str(file))
        text = text[end:].lstrip()
        if not text:
            return


def issues_from(rows: Any, source: str) -> Iterator[Issue]:
    """Yield the open issues among a forge's rows, no pull requests. Raises BenchmarkError, which names `source`."""
    for row in rows if isinstance(rows, list) else [None]:
        if not isinstance(row, dict) or not isinstance(row.get("title"), str) or "number" not in row:
            raise BenchmarkError(
                f"{source} is not a list of issues: each needs `number` and `title`, as GitHub exports them"
            )
        if row.get("pull_request") or str(row.get("state", "open")).lower() == "closed":
            continue
        body = row.get("body") or ""
        yield Issue(f"issue-{id_from(str(row['number']))}", row["title"][:120], f"{row['title']}\n\n{body}".strip())


def test_file(project: Project, issue: Issue) -> str:
    """Return the path for an issue's test, in the folder that has the most tests."""
    folders = Counter(
        str(PurePosixPath(path).parent) for path in project.files if PurePosixPath(path).match("test_*.py")
    )
    folder = folders.most_common(1)[0][0] if folders else "tests"
    name = f"test_{issue.name.replace('-', '_').replace('.', '_').lower()}.py"
    path = name if folder == "." else f"{folder}/{name}"
    if path in project.files:
        raise BenchmarkError(f"{project.name} already has a file {path}: give the issue another name")
    return path


def test_tasks(project: Project, issues: Sequence[Issue]) -> list[TaskEntry]:
    """Return tasks that are solved by writing a failing test. Raises BenchmarkError."""
    runner = make_diff({}, {RUNNER: _RUNNER.read_bytes()})
    tasks = []
    for issue in issues:
        path = test_file(project, issue)
        options = [*project.command.options, path]
        command = f"python {RUNNER} {shlex.join(options)}"
        statement = _TASK.format(text=issue.text, path=path, command=command)
        fields: dict[str, Any] = {
            "title": f"a test for: {issue.title}",
            "statement": statement,
            "editable": [Pattern.literal(path).text],
            "status_decides": True,  # it is the status of our own program
        }
        tasks.append(entry_of(project, issue.name, command, test_patch=runner, **fields))
    return tasks


def problems_of(
    engine: Engine,
    project: Project,
    backend: Backend,
    suite: Suite,
    issues: Sequence[Issue],
    run_id: int,
    *,
    times: int,
) -> tuple[list[Problem], dict[str, str]]:
    """Return the issues for which an episode of the run wrote a test that always fails, and the others: name -> why.

    `suite`: the result of the suite without those tests, each of which is in a new file.
    """
    problems: list[Problem] = []
    without: dict[str, str] = {}
    for issue in issues:
        resolved = queries.episodes(engine, run_id, task=issue.name, verdict=Verdict.RESOLVED, limit=100_000)
        without[issue.name] = "no test was written that fails"
        for row in resolved:
            diff = queries.episode(engine, row["id"])["diff"]
            problem = _problem(project, backend, suite, issue, diff, times)
            if isinstance(problem, Problem):
                problems.append(problem)
                del without[issue.name]
                break
            without[issue.name] = problem
    return problems, without


def _problem(project: Project, backend: Backend, suite: Suite, issue: Issue, diff: str, times: int) -> Problem | str:
    path = test_file(project, issue)
    try:
        work = apply_patch(project.files, diff)
    except PatchError as error:
        return str(error)
    changed: dict[str, Any] = {path: work[path]} if path in work else {}
    if not changed:
        return f"the episode left no {path}"
    test_run = run_suite(project, backend, changed, times=times, only=[path])
    tests = tuple(test for test in test_run.failing if path_of(test) == path)
    if not tests:
        return f"the test of {path} does not fail each time"
    suite_before = replace(
        suite,
        passing=suite.passing | test_run.passing,
        failing={**suite.failing, **test_run.failing},
        flaky=(*suite.flaky, *test_run.flaky),
        leaves=suite.leaves | test_run.leaves,
    )
    statement = f"{issue.text}\n\nThese tests were written for it, fail and have to pass:\n" + "".join(
        f"- {test}: {suite_before.failing[test]}\n" for test in tests
    )
    return Problem(issue.name, issue.title, statement, tests, suite_before, make_diff({}, changed))
