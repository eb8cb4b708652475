"""The bytes of a stored step, beside those of a step with plain texts and JSON.

    python -m tests.bench.bench_storage [FILE ...]

FILE: SQLite databases of episodes that were played, such as the demo's; they are only read. Without one, the episodes
of the newest released version that the tests keep. Whole pages count, and indexes: few steps look larger than many.
Ends with 1 where a step takes more than a third.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Column, MetaData, Table, Text, create_engine, insert, select

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import BENCHMARK, ENTRANT, EPISODE, RUN, STEP, TASK
from stackrank.db.models.runs import Step
from stackrank.db.texts import Packed
from stackrank.db.writes.store import Store
from tests.db import released

TABLES = ("step", "blob", "episode_tool")
TARGET = 1 / 3


def size(file: Path) -> int:
    """The bytes of the pages of steps, of what belongs to them, and of their indexes."""
    query = "SELECT sum(pgsize) FROM dbstat JOIN sqlite_schema USING (name) WHERE tbl_name IN (?, ?, ?)"
    with closing(sqlite3.connect(file)) as connection:
        return int(connection.execute(query, TABLES).fetchone()[0])


def spelled_out() -> Table:
    """Return the table of steps with plain texts and JSON in the place of packed columns."""

    def kind(column: Column[Any]) -> Any:
        return column.type if not isinstance(column.type, Packed) else Text() if column.type.kind is str else JSON()

    columns = (Column(column.name, kind(column), primary_key=column.primary_key) for column in STEP.columns)
    return Table("step", MetaData(), *columns)


def measure(file: Path, folder: Path) -> tuple[int, float, float]:
    """How many steps a database has, and the bytes of each: spelled out, and as they are stored now."""
    copy, old_file, compact = folder / "copy.db", folder / "before.db", folder / "now.db"
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    engine = connect(f"sqlite:///{copy}")
    spelled = spelled_out()
    earlier, later = create_engine(f"sqlite:///{old_file}"), connect(f"sqlite:///{compact}")
    spelled.metadata.create_all(earlier)
    store, steps = Store(later), 0
    for table in (BENCHMARK, TASK, ENTRANT, RUN, EPISODE):
        with engine.connect() as reading, later.begin() as writing:
            if rows := [dict(row) for row in reading.execute(select(table)).mappings()]:
                writing.execute(insert(table), rows)
    with engine.connect() as connection:
        episodes = connection.scalars(select(EPISODE.c.id).order_by(EPISODE.c.id)).all()
    for episode in episodes:
        rows = list(queries.full_steps(engine, episode))
        if rows:
            with earlier.begin() as connection:
                connection.execute(insert(spelled), rows)
        for row in rows:
            store.add_step(Step(**row))
        steps += len(rows)
    return steps, size(old_file) / steps, size(compact) / steps


def main() -> int:
    """Print a line for each database; 1 where one misses the target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    missed_count = 0
    with tempfile.TemporaryDirectory(prefix="stackrank-bench-") as folder:
        files = parser.parse_args().files
        if not files:
            files = [Path(folder) / "released.db"]
            released.restore(files[0])
        for number, file in enumerate(files):
            subfolder = Path(folder) / str(number)
            subfolder.mkdir()
            steps, old_bytes, new_bytes = measure(file, subfolder)
            missed_count += new_bytes > TARGET * old_bytes
            outcome = "holds" if new_bytes <= TARGET * old_bytes else "MISSED"
            sizes = f"{old_bytes:.0f} bytes before, {new_bytes:.0f} now: {new_bytes / old_bytes:.1%}"
            print(f"{file.name}: {steps} steps, {sizes}  {outcome}")
    return int(missed_count > 0)


if __name__ == "__main__":
    sys.exit(main())
