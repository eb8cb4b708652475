"""Scores the episodes of a run again: stored changes, today's scorer and tests, fresh sandboxes.

No model is asked and no action is repeated. The verdict of record stays the one from when the episode was played, and
leaderboards count only that one, because verdicts of different scorers are never pooled. New verdicts are stored in
addition to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.queries.episodes.episodes import EpisodeSummary
from stackrank.db.queries.episodes.verdicts import VerdictSummary
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.debug_env import DebugEnv
from stackrank.env.environment import files_digest
from stackrank.env.sandbox.base import Say
from stackrank.env.sandbox.client import Changes
from stackrank.env.sandbox.pool import Pool
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.scoring.digest import scorer_digest
from stackrank.env.scoring.record import DamagedChange, environment_digest, unpack
from stackrank.env.task import Task
from stackrank.env.tools import ToolSet
from stackrank.errors import StackrankError
from stackrank.flows.runs.playing.episode import verdict_record
from stackrank.flows.runs.playing.error_policy import describe_error
from stackrank.flows.runs.preparing.environments import build_environments
from stackrank.flows.runs.specification.spec import SpecError, make_spec
from stackrank.terms import RunStatus, TestOutcome, Verdict

_MOST_NAMED = 3
"""Most tests, and most faults, that the reason of a difference names."""


class CannotRescore(StackrankError):
    """The stored data of an episode is insufficient, or does not match today's task. The message says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """An episode in the table of what changed."""

    episode: int
    task: str
    entrant: str
    before: str
    after: str
    """Empty: the episode could not be scored again."""
    share_before: float
    """The share of the task's faults that were mended, 0..1."""
    share_after: float | None
    """None: the episode could not be scored again."""
    why: str = ""
    """How the verdict changed, or why there is none; empty if it is the same."""


@dataclass(frozen=True, slots=True)
class Rescoring:
    """The result of scoring a run again."""

    run: int
    name: str
    scorer: str
    rows: tuple[Row, ...]
    """All episodes that have a verdict, except `failed`."""
    done_before: int
    failed: tuple[Row, ...]
    """Episodes that hit an infrastructure failure; a second call tries them again."""

    @property
    def changed(self) -> tuple[Row, ...]:
        """The episodes whose verdict changed, on the whole or on one of several faults."""
        return tuple(row for row in self.rows if row.after and row.why)

    @property
    def impossible(self) -> tuple[Row, ...]:
        """The episodes that could not be scored again."""
        return tuple(row for row in self.rows if not row.after)

    def document(self) -> dict[str, Any]:
        """Return plain data. What is said of entrants before and after is over their episodes that were scored again.

        `share_before`, `share_after`: the mean share of mended faults, which is the rate if tasks have one fault.
        """
        scored = [row for row in self.rows if row.after]
        return {
            "run": self.run,
            "name": self.name,
            "scorer": self.scorer,
            "rescored": len(scored),
            "done_before": self.done_before,
            "changed": [asdict(row) for row in self.changed],
            "impossible": [asdict(row) for row in self.impossible],
            "errors": [asdict(row) for row in self.failed],
            "entrants": [
                _sums(entrant, [row for row in scored if row.entrant == entrant])
                for entrant in sorted({row.entrant for row in scored})
            ],
        }


def _sums(entrant: str, scored: Sequence[Row]) -> dict[str, Any]:
    return {
        "entrant": entrant,
        "episodes": len(scored),
        "resolved_before": sum(row.before == Verdict.RESOLVED for row in scored),
        "resolved_after": sum(row.after == Verdict.RESOLVED for row in scored),
        "share_before": fmean(row.share_before for row in scored),
        "share_after": fmean(row.share_after or 0.0 for row in scored),
    }


def rescore(
    store: Store,
    ref: int | str,
    *,
    workers: int | None = None,
    sandbox: str | None = None,
    say: Say,
    on_result: Callable[[int, int], None] = lambda scored, total: None,
) -> Rescoring:
    """Score the changes of a run's episodes again, and store each verdict as soon as it is known.

    Verdicts that this scorer gave before on the same task in the same environment are reused. `workers`, `sandbox`:
    None means those of the run. `on_result`: called with the number of finished episodes and of all. Raises SpecError
    if the run is still in progress, BenchmarkError, SandboxError.
    """
    engine = store.engine
    run = queries.run(engine, ref)
    run_id = run["id"]
    if not RunStatus(run["status"]).ended:
        wait = f"wait for it, or cancel it with `stackrank cancel {run_id}`"
        raise SpecError(f"run {run_id} ({run['name']}) is {run['status']}: {wait}")
    spec = make_spec(run["spec"], f"run {run_id}")
    workers = workers or spec.workers
    all_episodes = queries.episodes(engine, run_id, limit=1_000_000)
    episodes = [row for row in all_episodes if row["verdict"] in (Verdict.RESOLVED, Verdict.UNRESOLVED)]
    task_names = {row["task"] for row in episodes}
    tasks = {task.id: task for task in load_benchmark(spec.benchmark, spec.source).tasks() if task.id in task_names}
    backend = chosen_backend(sandbox or spec.sandbox)
    earlier = _current_verdicts(engine, run_id, tasks, backend.name)
    unscored = [row for row in episodes if row["id"] not in earlier]
    playable = [tasks[name] for name in {row["task"] for row in unscored} if name in tasks]
    unbuilt = build_environments(backend, playable, workers, say)
    failed: dict[int, str] = {row["id"]: unbuilt[row["task"]] for row in unscored if row["task"] in unbuilt}
    impossible: dict[int, str] = {}

    def work(row: EpisodeSummary) -> None:
        task = tasks.get(row["task"])
        if task is None:
            raise CannotRescore(f"{spec.benchmark} has no task {row['task']} any more")
        change, changes = stored_change(engine, row["id"], task)
        score = DebugEnv(task, ToolSet("", ()), pool.take).judge(changes)
        store.add_verdict(row["id"], verdict_record(task, backend.name, score, change))

    with Pool(backend, size=workers) as pool:
        todo = [row for row in unscored if row["id"] not in failed]
        scored = len(episodes) - len(todo)
        for row, error in _map_episodes(work, todo, workers):
            scored += 1
            if isinstance(error, CannotRescore):
                impossible[row["id"]] = str(error)
            elif error is not None:
                failed[row["id"]] = describe_error(error)
            on_result(scored, len(episodes))
    verdicts = _current_verdicts(engine, run_id, tasks, backend.name)
    return Rescoring(
        run=run_id,
        name=run["name"],
        scorer=scorer_digest(),
        rows=tuple(
            _row(engine, row, verdicts.get(row["id"]), impossible.get(row["id"], ""))
            for row in episodes
            if row["id"] not in failed
        ),
        done_before=len(earlier),
        failed=tuple(_unscored(row, failed[row["id"]]) for row in episodes if row["id"] in failed),
    )


def _current_verdicts(
    engine: Engine, run_id: int, tasks: Mapping[str, Task], backend: str
) -> dict[int, VerdictSummary]:
    """Return this scorer's new verdicts on a run's episodes, for today's tasks and this environment, by episode."""
    current = {(task.digest, environment_digest(task, backend)) for task in tasks.values()}
    verdicts = queries.rescored_verdicts(engine, run_id, scorer_digest())
    return {
        verdict["episode_id"]: verdict
        for verdict in verdicts
        if (verdict["task_digest"], verdict["environment"]) in current
    }


def _map_episodes(
    work: Callable[[EpisodeSummary], None], todo: list[EpisodeSummary], workers: int
) -> Iterator[tuple[EpisodeSummary, Exception | None]]:
    """Do the work for every episode, and yield it with its error. Closing the generator cancels what has not begun."""
    threads = ThreadPoolExecutor(max_workers=workers)
    try:
        futures = {threads.submit(work, row): row for row in todo}
        for future in as_completed(futures):
            error = future.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            yield futures[future], error
    finally:
        threads.shutdown(cancel_futures=True)


def stored_change(engine: Engine, episode_id: int, task: Task) -> tuple[str, Changes]:
    """Return the digest of an episode's stored change, and the change. Raises CannotRescore."""
    record = next((verdict for verdict in queries.verdicts(engine, episode_id) if verdict["of_record"]), None)
    if record is None or not record["change"]:
        raise CannotRescore("no change is stored: the workspace was lost, or the change was too large to keep")
    if record["workspace"] != files_digest(task.files):
        raise CannotRescore(f"the files of {task.id} have changed since, so the change does not apply to them")
    packed = queries.stored_change(engine, record["change"])
    if packed is None:
        raise CannotRescore(f"the change {record['change']} is gone from the database")
    try:
        return record["change"], unpack(record["change"], packed)
    except DamagedChange as error:
        raise CannotRescore(str(error)) from None


def _unscored(row: EpisodeSummary, reason: str) -> Row:
    return Row(row["id"], row["task"], row["entrant"], row["verdict"], "", _share_before(row), None, reason)


def _row(engine: Engine, row: EpisodeSummary, new_verdict: VerdictSummary | None, reason: str) -> Row:
    if new_verdict is None:
        return _unscored(row, reason)
    resolved, faults = new_verdict["resolved"], new_verdict["faults"]
    share = sum(faults.values()) / len(faults) if faults else float(resolved)
    result = str(Verdict.RESOLVED if resolved else Verdict.UNRESOLVED)
    change = _explain_change(engine, row, new_verdict, share)
    return Row(row["id"], row["task"], row["entrant"], row["verdict"], result, _share_before(row), share, change)


def _share_before(row: EpisodeSummary) -> float:
    return row["mended"] / row["faults_total"]


def _explain_change(engine: Engine, row: EpisodeSummary, new_verdict: VerdictSummary, share: float) -> str:
    """Explain how a newer verdict differs from the verdict of record: faults, tests, tampering, and changed inputs.

    Empty if it says the same of the whole and of each fault. `share`: that of the faults that are mended now.
    """
    is_same = new_verdict["resolved"] == (row["verdict"] == Verdict.RESOLVED) and share == _share_before(row)
    if is_same and not new_verdict["faults"]:
        return ""
    verdicts = {verdict["id"]: verdict for verdict in queries.verdicts(engine, row["id"])}
    newest = verdicts[new_verdict["id"]]
    first = next(verdict for verdict in verdicts.values() if verdict["of_record"])
    words = {True: "mended", False: "open"}
    changed_faults = [
        f"{fault}: {words[first['faults'][fault]]} before, {words[is_mended]} now"
        for fault, is_mended in newest["faults"].items()
        if first["faults"].get(fault, is_mended) != is_mended
    ]
    if is_same and not changed_faults:
        return ""
    tests = first["tests"]
    parts = [
        f"{test}: {tests.get(test, 'absent')} before, {outcome} now"
        for test, outcome in newest["tests"].items()
        if tests.get(test) != outcome and TestOutcome.UNSEEN not in (tests.get(test), outcome)
    ]
    parts = [*_shortened(changed_faults, "faults"), *_shortened(parts, "tests")]
    if newest["tampered"] and not row["tampered"]:
        parts.append("tampering found")
    if newest["tampered"] or not parts:
        parts += newest["notes"][:1]
    inputs = {"task_digest": "the task", "scorer": "the scorer", "environment": "the environment"}
    changed = [name for column, name in inputs.items() if first[column] != newest[column]]  # type: ignore[literal-required]
    return "; ".join([*parts, f"changed since: {', '.join(changed) or 'nothing that has a digest'}"])


def _shortened(parts: list[str], noun: str) -> list[str]:
    rest = len(parts) - _MOST_NAMED
    return [*parts[:_MOST_NAMED], f"and {rest} more {noun}"] if rest > 0 else parts
