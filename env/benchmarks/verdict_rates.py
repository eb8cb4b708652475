"""How often the verdicts on a benchmark's tasks are wrong: what was measured, and where it is stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from stackrank.env.benchmarks.base import Benchmark, Identified, digest
from stackrank.home import home, write_whole

CHANGES, RATES = "changes.jsonl", "rates.json"
"""Files in a benchmark's folder: the labelled changes, and the rates that were measured with them."""


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """How many labelled changes got the wrong verdict."""

    changes: int
    """Changes that count."""
    errors: int
    tasks: int
    authors: int
    rate: float | None
    """The mean over tasks of the share of errors, in 0..1; None if no change counts."""
    low: float | None
    """Where its 95% interval starts (`db.stats.rate`)."""
    high: float | None


@dataclass(frozen=True, slots=True)
class VerdictRates:
    """Both error rates of the verdicts on a benchmark's tasks."""

    digest: str
    """The digest of the benchmark whose tasks were used."""
    measured_on: str
    """The day, as YYYY-MM-DD in UTC."""
    false_accepts: ErrorRate
    """Wrong changes that pass the visible tests and are `resolved`."""
    false_rejects: ErrorRate
    """Right repairs that are `unresolved`."""

    def document(self) -> dict[str, Any]:
        """Return the rates as plain data."""
        return asdict(self)

    def dump(self) -> str:
        """Return the rates as JSON."""
        return json.dumps(self.document(), indent=1) + "\n"


@runtime_checkable
class HasFolder(Protocol):
    """A benchmark with a folder of its own, which may contain labelled changes and measured rates."""

    @property
    def folder(self) -> Path:
        """The folder."""
        ...


def load(text: str) -> VerdictRates:
    """Read what `dump` wrote."""
    fields = json.loads(text)
    accepts, rejects = (ErrorRate(**fields.pop(name)) for name in ("false_accepts", "false_rejects"))
    return VerdictRates(**fields, false_accepts=accepts, false_rejects=rejects)


def find_rates(benchmark: Benchmark, tasks: Sequence[Identified]) -> VerdictRates | None:
    """Return the rates measured on this machine for exactly these tasks, else those in the benchmark's folder.

    The latter may have been measured with an earlier version of the tasks: their digest says which.
    """
    own = _file(digest(tasks))
    shipped = benchmark.folder / RATES if isinstance(benchmark, HasFolder) else None
    for file in (own, shipped):
        if file is not None and file.is_file():
            return load(file.read_text(encoding="utf-8"))
    return None


def save_rates(rates: VerdictRates, folder: Path | None = None) -> None:
    """Store rates on this machine; in the folder of their benchmark too, if it is given."""
    write_whole(_file(rates.digest), rates.dump())
    if folder is not None:
        write_whole(folder / RATES, rates.dump())


def _file(benchmark_digest: str) -> Path:
    return home() / "rates" / f"{benchmark_digest}.json"
