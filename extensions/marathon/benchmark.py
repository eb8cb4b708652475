"""The benchmark `marathon`, composed of the faults of `bugs`.

Each release is a workspace of small projects, a folder each. Which faults it has is drawn from all that can be
composed, by hashes of their names; so releases are a random sample, and the same on every machine.

releases.json   the digests of the releases that were validated; `stackrank validate marathon --record` writes it
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.task import Task
from stackrank.env.validate import Validation
from stackrank.extensions.marathon.release import compose

RELEASES = {20: 4, 40: 12, 80: 14}
"""How many releases there are with so many faults. Large ones tell more: an entrant's luck averages out over faults."""
RECORD = Path(__file__).with_name("releases.json")
_LEFT_OUT = {
    "disk-usage": "its visible tests take ten seconds, which every run of the tests of a release would take longer",
    "warehouse-belts": "its visible tests never end, so a run of the tests of a release would show nothing",
}


class Marathon:
    """Releases with many faults at once."""

    name = "marathon"
    license = BugSuite.license
    source = "composed of the faults of bugs"

    def __init__(self, source: Source | None = None) -> None:
        """The releases are always the same, so nothing of `source` matters."""

    def tasks(self) -> Sequence[Task]:
        """Return the releases, the small ones first. Raises BenchmarkError."""
        return _releases()

    def excluded(self) -> Mapping[str, str]:
        """Return the faults of `bugs` that are in no release, with the reason."""
        return _LEFT_OUT

    def to_record(self, task: Task) -> Task:
        """Return the task as it is."""
        return task

    def record(self, validations: Sequence[Validation]) -> None:
        """Write the digests of valid releases."""
        digests = {task.id: task.digest for task in self.tasks()}
        record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
        record = {release: digest for release, digest in record.items() if digests.get(release) == digest}
        record |= {validation.task: digests[validation.task] for validation in validations if validation.valid}
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")


@functools.cache
def _releases() -> tuple[Task, ...]:
    faults = [task for task in BugSuite().tasks() if task.id not in _LEFT_OUT]
    names = {f"release-{size}-{number:02}": size for size, count in RELEASES.items() for number in range(1, count + 1)}
    return tuple(compose(name, draw(faults, size, name)) for name, size in names.items())


def draw(faults: Iterable[Task], size: int, seed: str) -> list[Task]:
    """Draw faults at random, none of which has a module or a folder at its top that is called as in another."""

    def place(fault: Task) -> bytes:
        return hashlib.sha256(f"{seed} {fault.id}".encode()).digest()

    drawn: list[Task] = []
    taken: set[str] = set()
    for fault in sorted(faults, key=place):
        names = {PurePosixPath(path).parts[0].partition(".")[0] for path in fault.files} - {"tests"}
        if taken.isdisjoint(names) and len(drawn) < size:
            taken |= names
            drawn.append(fault)
    return sorted(drawn, key=lambda fault: fault.id)
