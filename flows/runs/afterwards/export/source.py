"""The input of an export: a run's matching episodes, page by page, and their steps, a few episodes at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, TypedDict

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.queries.catalogue import BenchmarkRow
from stackrank.db.queries.episodes.episodes import EpisodeRow

Row = Mapping[str, Any]
PAGE = 200
EPISODES_AT_ONCE, STEPS_AT_ONCE = 50, 400
"""Most episodes, and most of their steps, in memory at once. An episode with more steps is read alone."""
SPLITS = {"train": 0.8, "validation": 0.1, "test": 0.1}
"""Each split's share of all tasks."""


class About(TypedDict):
    """What every record about an episode says about it."""

    episode: int
    run: str
    """The name of the run."""
    task: str
    entrant: str
    model: str
    attempt: int
    verdict: str
    """`resolved`, `unresolved`, `error`, or empty before there is one."""
    split: str
    """`train`, `validation` or `test`, by task."""


def split_of(digest: str) -> str:
    """Return the split of a task. It depends only on the digest, so it is the same in every export on every machine."""
    place = int.from_bytes(blake2b(digest.encode(), digest_size=8).digest(), "big") / 2**64
    for name, share in SPLITS.items():
        if place < share:
            return name
        place -= share
    return name


class ExportSource:
    """The episodes of one run that the filters select."""

    def __init__(self, engine: Engine, run: Row, filters: Mapping[str, Any], splits: Sequence[str] = ()) -> None:
        """`run`: as `queries.run` returns it. `filters`: as `queries.episodes` takes them. `splits`: none means all."""
        self.engine = engine
        self.run = run
        self._filters = filters
        self._splits = splits
        self.scope = queries.describe_scope(engine, queries.Scope(run=run["id"]))
        self.counts: dict[tuple[str, str], int] = {}
        """(split, verdict) -> number of episodes read."""

    def unknown(self) -> dict[str, list[str]]:
        """Return what the filters name and the run does not have: `entrant` or `task` -> names."""
        names = {
            "entrant": {row["name"] for row in self.run["entrants"]},
            "task": {row["name"] for row in queries.tasks(self.engine, self.benchmark["id"])},
        }
        missing = {name: sorted(set(self.chosen(name)) - names) for name, names in names.items()}
        return {name: names for name, names in missing.items() if names}

    @property
    def sentence(self) -> str:
        """The run's scope as a sentence, for people."""
        return str(self.scope["sentence"])

    @cached_property
    def benchmark(self) -> BenchmarkRow:
        """The run's version of its benchmark."""
        return queries.benchmark(self.engine, self.run["benchmark_id"])

    @cached_property
    def digests(self) -> Mapping[int, str]:
        """The digest of each task, by the task's id."""
        return {task["id"]: task["digest"] or task["name"] for task in queries.tasks(self.engine, self.benchmark["id"])}

    def split(self, row: Row) -> str:
        """Return the split of an episode, which is that of its task."""
        return split_of(self.digests[row["task_id"]])

    def rows(self, task_id: int | None = None) -> Iterator[Row]:
        """Yield the selected episodes by id, of one task if `task_id` is given, and count them."""
        last_id = None
        filters = {**self._filters, **({} if task_id is None else {"task_id": task_id})}
        while page := queries.episodes(self.engine, self.run["id"], **filters, after_id=last_id, limit=PAGE):
            for row in page:
                split = self.split(row)
                if not self._splits or split in self._splits:
                    key = (split, row["verdict"])
                    self.counts[key] = self.counts.get(key, 0) + 1
                    yield row
            last_id = page[-1]["id"]

    def played(
        self, *, exchanges: bool = False, with_all_columns: bool = False, task_id: int | None = None
    ) -> Iterator[tuple[Row, list[Any]]]:
        """Yield the episodes of `rows` with their steps. `with_all_columns`: yield them as `queries.episode` does."""
        for group in _groups(self.rows(task_id)):
            ids = [row["id"] for row in group]
            steps = queries.steps_of(self.engine, self.run["id"], ids, exchanges=exchanges)
            rows: Mapping[int, Any] = queries.full_episodes(self.engine, ids) if with_all_columns else {}
            # `pop` frees the steps that were handed out, so that they are not in memory with the next ones.
            yield from ((rows.get(row["id"], row), steps.pop(row["id"])) for row in group)

    def whole(self) -> Iterator[EpisodeRow]:
        """Yield the episodes with all columns, as `queries.episode` returns them."""
        for group in _groups(self.rows()):
            episodes = queries.full_episodes(self.engine, [row["id"] for row in group])
            yield from (episodes[row["id"]] for row in group)

    def chosen(self, name: str) -> Sequence[str]:
        """Return the values of a filter; empty if it is not set."""
        return self._filters.get(name) or ()

    def about(self, row: Row) -> About:
        """Return what every record says about its episode."""
        return {
            "episode": row["id"],
            "run": row["run"],
            "task": row["task"],
            "entrant": row["entrant"],
            "model": row["model"],
            "attempt": row["attempt"],
            "verdict": row["verdict"],
            "split": self.split(row),
        }


def _groups(rows: Iterator[Row]) -> Iterator[list[Row]]:
    group: list[Row] = []
    held = 0
    for row in rows:
        steps = row["steps"] + 1  # the reset
        if group and (held + steps > STEPS_AT_ONCE or len(group) == EPISODES_AT_ONCE):
            yield group
            group, held = [], 0
        group.append(row)
        held += steps
    if group:
        yield group
