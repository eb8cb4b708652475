"""Makes the fixture of the version that is about to be released: `python -m tests.db.released.make`.

It plays six tasks of `bugs` with two entrants, leaves a second run unfinished, and writes a label, a note and a saved
view. Run it once for a release, before the tag; a later version never writes over an earlier one's fixture.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import sys
import tempfile
from contextlib import closing
from importlib.metadata import version

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.labels import Labels
from stackrank.db.writes.notes import Notes
from stackrank.db.writes.store import Store
from stackrank.terms import Label, RunStatus
from tests.db.released import FOLDER, QUESTIONS, ask
from tests.fixtures.playing import drive, make_run, play_run

ENTRANTS = [{"agent": "oracle", "tools": "debug"}, {"agent": "repair", "tools": "debug"}]
PRIVATE = ("host", "owner", "claimed_by")
"""Columns that name this machine or its user."""


def main() -> int:
    """Play, dump and ask. Returns the exit status."""
    folder = FOLDER / version("stackrank")
    if (folder / "database.sql.gz").exists():
        print(f"{folder} exists: fixtures of a released version never change")
        return 2
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"STACKRANK_HOME": home, "STACKRANK_DATABASE_URL": f"sqlite:///{home}/made.db"}
        play()
        with closing(sqlite3.connect(f"{home}/made.db")) as connection:
            anonymise(connection)
            dump = "\n".join(connection.iterdump()) + "\n"
        engine = connect()
        answers = {question: ask(engine, question) for question in QUESTIONS}
    folder.mkdir(exist_ok=True)
    (folder / "database.sql.gz").write_bytes(gzip.compress(dump.encode(), mtime=0))
    (folder / "answers.json.gz").write_bytes(gzip.compress(json.dumps(answers, indent=1).encode(), mtime=0))
    print(f"{folder}: {sum(path.stat().st_size for path in folder.iterdir()):,} bytes")
    return 0


def play() -> None:
    """Play the runs and write the remarks."""
    finished = play_run(entrants=ENTRANTS, limit=6, name="finished", owner="ada")
    Store(connect()).end_run(finished, RunStatus.FINISHED)
    cut_off = make_run(entrants=ENTRANTS, limit=2, name="cut off", owner="ada", sandbox="bubblewrap", workers=1)
    drive(cut_off, limit=2)
    engine = connect()
    task = queries.tasks(engine, 1)[0]["id"]
    Labels(engine).put(Label.INSTRUCTIVE, person="ada", task_id=task, reason="A good first task.")
    Labels(engine).save_view("episodes", "failures", "verdict=unresolved", person="ada")
    Notes(engine).add(cut_off, "Continue this one.", author="ada")


def anonymise(connection: sqlite3.Connection) -> None:
    """Replace the names of this machine and its user, and leave out the texts of tasks that nobody played."""
    connection.execute(
        "UPDATE task SET files = '{}', fix = '', statement = '' WHERE id NOT IN (SELECT task_id FROM episode)"
    )
    for table in ("run", "episode"):
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        for column in columns.intersection(PRIVATE):
            connection.execute(f"UPDATE {table} SET {column} = 'somewhere' WHERE {column} <> ''")
    connection.commit()


if __name__ == "__main__":
    sys.exit(main())
