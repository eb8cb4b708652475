"""The evidence for and against a proposed change: measured here, on the whole suite, and not taken on trust."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from doctest import DocTestParser
from typing import Any

from libcst import ParserSyntaxError
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.env.localisation.spectrum import SourceLine, Unmeasured
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.operators.catalogue import OPERATORS
from stackrank.env.mutation.source import ParsedFile
from stackrank.env.patches import apply_patch, find_faults, function_spans, touched_files
from stackrank.env.sandbox.base import Backend
from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.env.suspicious import find_suspicious
from stackrank.env.task import Fault
from stackrank.extensions.fix.finding.problems import Problem, is_file, limit_of, measured
from stackrank.extensions.fix.finding.project import Project
from stackrank.extensions.fix.finding.suite import Suite, all_pass, passing_unchanged, run_again
from stackrank.extensions.fix.finding.unnamed import break_unnamed
from stackrank.extensions.fix.wording import describe_accepted
from stackrank.patches.reading import Patch
from stackrank.patches.writing import readable
from stackrank.source import parse_python
from stackrank.terms import DEBUGGERS
from stackrank.wording import count_of

Row = dict[str, Any]
_MOST_STOPS = 5
_MOST_VARIANTS = 6
_ENOUGH_ACCEPTED = 2
"""Variants that the tests accept, after which no more are tried: the whole suite runs for each."""
_OTHER_VALUES = {
    *("and/or", "comparison", "confused", "negation", "off by one"),
    *("operator", "other end", "sign", "truth value", "variable"),
}
"""Kinds of mutations after which a program usually behaves differently."""
_SHOWN_CHARS = 600
_SHOWN_LINE = 100
_RUNS = re.compile(r'\{"command": "\s*!')
_BEGUN = re.compile(r"\A\[started.*\n")
"""The line that says which tests the debugger runs, which the evidence contains anyway."""
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def gather_evidence(
    engine: Engine,
    project: Project,
    backend: Backend,
    problem: Problem,
    diff: str,
    *,
    times: int,
    episodes: Sequence[Mapping[str, Any]],
    played: int,
) -> Row:
    """Gather the evidence for one change. `episodes`: those that made it; `played`: how many tried the problem.

    Raises SandboxError; BenchmarkError if the suite does not run with the change.
    """
    files = {**project.files}
    if problem.test_diff:
        files = apply_patch(files, problem.test_diff)
    work = apply_patch(files, diff)
    changed: dict[str, bytes | None] = {
        path: work.get(path) for path in {*files, *work} if work.get(path) != project.files.get(path)
    }
    suite_before = problem.suite
    suite_after = run_again(project, backend, changed, suite_before, problem.tests, times=times)
    target = {test: [suite_before.outcome(test), suite_after.outcome(test)] for test in problem.tests}
    broken = [test for test in suite_before.passing if test not in suite_after.passing]
    unnamed = break_unnamed(project, backend, changed, times=times)
    faults = find_faults(files, diff)
    others = [
        test
        for test in suite_before.failing
        if test not in problem.tests and not is_file(test) and suite_after.outcome(test) == "failed"
    ]
    executed, reason = _measure_execution(project, backend, files, work, problem.tests)
    record = next(
        (row for row in queries.leaderboard(engine, queries.Scope(run=episodes[0]["run_id"]))
         if row["entrant_id"] == episodes[0]["entrant_id"]),
        None,
    )  # fmt: skip
    return {
        "targets": list(project.command.targets),
        "unnamed": unnamed.files,
        "unchecked": unnamed.unchecked,
        "suite_before": suite_before.counts,
        "suite_after": suite_after.counts,
        "target": target,
        "fixed": sorted(test for test in suite_before.failing if suite_after.outcome(test) == "passed"),
        "regressions": sorted({*passing_unchanged(project, backend, broken, times=times), *unnamed.broken}),
        "still_failing": _still_failing(project, backend, files, faults, others),
        "touches": [f"{fault.file}: {', '.join(fault.functions) or 'module level'}" for fault in faults],
        "size": readable(Patch.read(diff)).size._asdict(),
        "lines": executed,
        "unmeasured": reason,
        "variants": try_variants(project, backend, work, diff, problem, suite_after),
        "suspicious": [dict(record) for record in find_suspicious(files, work)] + find_altered_doctests(files, work),
        "debugger": debugger_stops(engine, episodes[0]["id"], touched_files(diff)),
        "agreement": {"same": len(episodes), "played": played},
        "episodes": [record["id"] for record in episodes],
        "sealed": max(record["sealed"] for record in episodes),
        "record": None
        if record is None
        else {name: record[name] for name in ("rate", "ci_low", "ci_high", "tasks", "episodes")},
    }


def find_doubts(evidence: Mapping[str, Any]) -> list[str]:
    """Return what speaks against a change, one sentence each, so that a person reads the soundest first."""
    lines = evidence["lines"]
    doubts = [f"{test} does not pass" for test, (_, outcome) in evidence["target"].items() if outcome != "passed"]
    doubts += [f"{test} no longer passes" for test in evidence["regressions"]]
    doubts += [f"{test} runs what was changed, and still fails" for test in evidence["still_failing"]]
    doubts += [f"{finding['file']}:{finding['line']}: {finding['what']}" for finding in evidence["suspicious"]]
    if lines and lines["run"] < lines["changed"]:
        doubts.append(
            f"no test runs {lines['changed'] - lines['run']} of {count_of(lines['changed'], 'changed statement')}"
        )
    if unchecked := evidence.get("unchecked"):
        doubts.append(f"whether it breaks {', '.join(evidence['unnamed'])} is not known ({unchecked})")
    if variants := evidence.get("variants"):
        doubts += [describe_accepted(variants)] * bool(variants["accepted"])
    return doubts


def try_variants(
    project: Project, backend: Backend, work: Mapping[str, bytes], diff: str, problem: Problem, suite: Suite
) -> Row | None:
    """Try other changes of the same lines: those that the tests accept as well say how little they tell about this one.

    `suite`: its result with the change. None if there are no such changes, as of a file that is not in Python.
    """
    files = {path_of(test) for test in problem.tests}
    near = {test for test in suite.passing if path_of(test) in files}
    judged = replace(project, timeout_s=limit_of(project, problem))
    accepted: list[str] = []
    tried = 0
    for path, mutation, content in _variants(work, diff):
        tried += 1
        changed = {**work, path: content}
        # Nearly all are rejected by the tests that judge the change. Only for the others the whole suite runs.
        if all_pass(judged, backend, changed, near, project.targets_of(problem.tests)) and (
            near == suite.passing or all_pass(project, backend, changed, suite.passing)
        ):
            accepted.append(f"{path}:{mutation.line}: {_line_of(content, mutation.line)}")
        if len(accepted) == _ENOUGH_ACCEPTED:
            break
    return {"tried": tried, "accepted": accepted} if tried else None


def _variants(work: Mapping[str, bytes], diff: str) -> list[tuple[str, Mutation, bytes]]:
    """Return mutations of the lines that a change adds or alters, the likeliest first, and the files with them."""
    found: list[tuple[str, Mutation, bytes]] = []
    for file in readable(Patch.read(diff)).files:
        lines = {line.new for hunk in file.hunks for line in hunk.lines if line.mark == "+"}
        if not (lines and file.path.endswith(".py")):
            continue
        try:
            source = ParsedFile(file.path, work[file.path])
        except (ParserSyntaxError, UnicodeDecodeError):
            continue
        proposed = (mutation for context in source.contexts for propose in OPERATORS for mutation in propose(context))
        found += [
            (file.path, mutation, mutation.apply(source.text).encode(source.module.encoding))
            for mutation in proposed
            if mutation.line in lines
            and mutation.kind in _OTHER_VALUES
            and _compare_by_value(mutation.apply(source.text)) != _compare_by_value(source.text)
        ]
    different = {(path, content): (path, mutation, content) for path, mutation, content in found}
    return sorted(different.values(), key=lambda variant: -variant[1].prior)[:_MOST_VARIANTS]


def _compare_by_value(text: str) -> str:
    """Return a program that compares values where it compared identities: `x is None` and `x == None` are alike."""
    return re.sub(r"\bis\b", "==", re.sub(r"\bis\s+not\b", "!=", text))


def _line_of(content: bytes, line: int) -> str:
    return content.decode("utf-8", "replace").splitlines()[line - 1].strip()[:_SHOWN_LINE]


def _still_failing(
    project: Project, backend: Backend, files: Mapping[str, bytes], faults: Sequence[Fault], tests: Sequence[str]
) -> list[str]:
    """Return those of these failing tests that run, before the change, a function that it changes."""
    if not tests:
        return []
    try:
        spectrum = measured(project, backend, files, tests)
    except Unmeasured:
        return []
    changed = set()
    for fault in faults:
        spans = {name: range(first, last + 1) for name, first, last in function_spans(files.get(fault.file, b""))}
        lines = [line for name in fault.functions for line in spans.get(name, ())] or fault.lines
        changed |= {(fault.file, line) for line in lines}
    return [test for test in tests if test in spectrum.tests and changed & {*spectrum.run_by(test)}]


def find_altered_doctests(files: Mapping[str, bytes], work: Mapping[str, bytes]) -> list[Row]:
    """Find doctest examples that the change removed or altered: agents may edit the files that contain them."""
    alterations: list[Row] = []
    for path in files:
        if path.endswith(".py") and files[path] != work.get(path):
            remaining = Counter(example for _, example in _doctests(work.get(path, b"")))
            for line, example in _doctests(files[path]):
                remaining[example] -= 1
                if remaining[example] < 0:
                    alterations.append({"file": path, "line": line, "what": "alters a doctest, or takes it away"})
    return alterations


def _doctests(source: bytes) -> list[tuple[int, tuple[str, str]]]:
    """Return for each example the line of its function, class or module, its source and its expected output."""
    try:
        nodes = [example for example in ast.walk(parse_python(source)) if isinstance(example, _WITH_DOCSTRING)]
        return [
            (getattr(node, "lineno", 1), (example.source, example.want))
            for node in nodes
            for example in DocTestParser().get_examples(ast.get_docstring(node) or "")
        ]
    except (SyntaxError, ValueError):
        return []


def _measure_execution(
    project: Project,
    backend: Backend,
    files: Mapping[str, bytes],
    work: Mapping[str, bytes],
    targets: Sequence[str],
) -> tuple[dict[str, int] | None, str]:
    """Count the statements that the change adds or alters and those that some test runs, or say why that is not known.

    All tests run only if the targets do not run all of these statements.
    """
    statements = {path: _new_statements(files.get(path, b""), work[path]) for path in work if path.endswith(".py")}
    lines = {(path, line) for path, numbers in statements.items() for line in numbers}
    run: set[SourceLine] = set()
    reason = ""
    for only in (targets, ()):
        if not lines <= run:
            try:
                covered = measured(project, backend, work, only).lines
            except Unmeasured as error:
                reason = str(error)
            else:
                reason = ""
                run |= {(path, line) for path, line in lines if line in covered.get(path, {})}
    return (None, reason) if reason else ({"changed": len(lines), "run": len(run)}, "")


def _new_statements(old_source: bytes, new_source: bytes) -> set[int]:
    if old_source == new_source:
        return set()
    old = set(old_source.splitlines())
    new = {number for number, line in enumerate(new_source.splitlines(), 1) if line not in old}
    try:
        nodes = list(ast.walk(parse_python(new_source)))
    except (SyntaxError, ValueError):
        return set()
    # A line in the middle of a statement belongs to the innermost statement around it, which comes last here.
    inner: dict[int, int] = {}
    for node in nodes:
        if isinstance(node, ast.stmt):
            inner.update(dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), node.lineno))
    return {inner[line] for line in new if line in inner}


def debugger_stops(engine: Engine, episode_id: int, files: set[str]) -> list[Row]:
    """Return the latest places where a debugger stopped in the changed files, and what it showed there.

    Stops where the agent ran a statement are left out, because they tell a person nothing: an agent without a model
    runs whole programs there.
    """
    outline = queries.step_outline(engine, episode_id, limit=None)
    stops = [
        row
        for row in outline
        if row["tool"] in DEBUGGERS and row["file"] in files and row["line"] and not _RUNS.match(row["arguments"])
    ]
    evidence = []
    for row in stops[-_MOST_STOPS:]:
        step = queries.step(engine, episode_id, row["index"], chars=3 * _SHOWN_CHARS)
        output = _BEGUN.sub("", str(step["observation"]) if step else "")
        evidence.append({"step": row["index"], "place": f"{row['file']}:{row['line']}", "shown": output[:_SHOWN_CHARS]})
    return evidence
