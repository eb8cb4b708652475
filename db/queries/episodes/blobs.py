"""Reads the blobs that hold the long texts of steps, only when they are needed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Engine, select

from stackrank.db.connection.transactions import BLOB, EPISODE, PACKED
from stackrank.db.queries.reading import Row, fetch
from stackrank.db.texts import Folded, expanded, named, needs, unfold, whole

AT_ONCE = 500
"""Most blobs that one statement asks for."""


class BlobReader:
    """The blobs of an episode's steps, read when they are needed."""

    def __init__(self, engine: Engine, run: Any) -> None:
        """`run`: the id of the run that the steps belong to, or a subquery for it."""
        self._engine = engine
        self._run = run
        self.contents: dict[bytes, bytes] = {}

    def read(self, digests: Collection[bytes], *, recursive: bool = True) -> None:
        """Read these blobs, and with `all_of_them` also the blobs that they name in turn."""
        while digests := sorted(set(digests) - self.contents.keys()):
            contents: dict[bytes, bytes] = {}
            for start in range(0, len(digests), AT_ONCE):
                part = digests[start : start + AT_ONCE]
                query = select(BLOB.c.digest, BLOB.c.content).where(BLOB.c.run_id == self._run, BLOB.c.digest.in_(part))
                contents |= {row["digest"]: expanded(row["content"]) for row in fetch(self._engine, query)}
            self.contents |= contents
            digests = set().union(*map(named, contents.values())) if recursive else ()

    def complete(self, rows: list[Row]) -> list[Row]:
        """Return the rows with all folded values unfolded."""
        folded = [value for row in rows for value in row.values() if isinstance(value, Folded)]
        if not folded:
            return rows
        self.read(needs(folded))
        return [
            {
                name: unfold(value, PACKED[name], self.contents) if isinstance(value, Folded) else value
                for name, value in row.items()
            }
            for row in rows
        ]

    def parts(self, states: Sequence[Row | Folded], names: Iterable[str]) -> list[Row]:
        """Return only these parts of each state, if it has them. No other blobs are read."""
        folded = [state for state in states if isinstance(state, Folded)]
        self.read([state.blob for state in folded if state.blob], recursive=False)
        parts = []
        for state in states:
            shallow = json.loads(state.content(self.contents)) if isinstance(state, Folded) else state
            part = {name: shallow[name] for name in names if name in shallow}
            # A state that was not folded has no blobs in it, and a NUL in it stands for itself.
            parts.append((part, isinstance(state, Folded)))
        self.read(named(json.dumps([part for part, is_folded in parts if is_folded]).encode()))
        return [whole(part, self.contents) if is_folded else part for part, is_folded in parts]


def blobs_of(engine: Engine, episode_id: int) -> BlobReader:
    """Return a reader of the blobs of an episode's steps."""
    return BlobReader(engine, select(EPISODE.c.run_id).where(EPISODE.c.id == episode_id).scalar_subquery())
