"""Proposals about a repository, and what is published of them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from stackrank.db import queries
from stackrank.db.engine import connect
from stackrank.db.proposals import Proposals
from stackrank.db.store import Store
from stackrank.flows.runs.fix.publish import publish
from tests.support.fixing import git, proposal_row, repository


class Desk:
    """Proposals about a repository, and what is published of them."""

    def __init__(self, folder: Path, url: str) -> None:
        self.shop = repository(folder / "shop")
        self.out = folder / "out"
        self.engine = connect(url)
        self.proposals = Proposals(self.engine)
        self.store = store = Store(self.engine)
        tasks = [{"name": "t", "digest": "t"}]
        benchmark = store.save_benchmark(name="b", digest="b", license="", source="", tasks=tasks)
        entrant = store.save_entrant(digest="e", name="one", agent="repair", model="", tools="debug")
        run = store.create_run(name="r", benchmark_id=benchmark.id, spec={})
        cell = (benchmark.task_ids["t"], entrant, 1)
        self.episode = store.create_episodes(run, [cell])[cell]
        self._ids = run, entrant, self.episode

    def propose(self, diff: str, **more: Any) -> int:
        about = {"repository": str(self.shop), "base": git(self.shop, "rev-parse", "HEAD"), "folder": str(self.out)}
        fields = {**about, "problem": hashlib.sha256(diff.encode()).hexdigest()[:8], "diff": diff, **more}
        return self.proposals.propose([proposal_row(*self._ids, **fields)])[0]

    def decide(self, number: int, kind: Any, reason: str = "So.") -> None:
        digest = queries.proposal(self.engine, number)["digest"]
        self.proposals.decide(number, kind, digest=digest, reason=reason, person="ann")

    def publish(self) -> Any:
        return publish(queries.proposals(self.engine), self.out)
