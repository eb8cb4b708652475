"""SQLite databases for tests. Each kind is created once per session and copied.

Migrating an empty one takes 0.2 s of processor time, filling one several seconds.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from tests.dashboard.seed import Seeded, seed


class Databases:
    """Makes databases. All processes of a session share one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def empty(self, file: Path) -> str:
        """A database with tables and no rows in a new file. Returns its address."""
        return self._copy("empty", lambda url: None, file)[0]

    def seeded(self, file: Path, **options: Any) -> tuple[str, Seeded]:
        """A database in a new file, filled by `seed` with these options. Returns its address, and what is in it."""
        name = "-".join(["seeded", *(f"{key}={value}" for key, value in sorted(options.items()))])
        url, contents = self._copy(name, lambda url: _filled(url, **options), file)
        if contents.live_run:  # a moment ago, as if it had just been filled
            engine = connect(url)
            Store(engine).heartbeat(contents.live_run)
            engine.dispose()
        return url, contents

    def _copy(self, name: str, fill: Callable[[str], Any], file: Path) -> tuple[str, Any]:
        original, pickled = self._folder / f"{name}.db", self._folder / f"{name}.pickle"
        with (self._folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not pickled.exists():
                for leftover in self._folder.glob(f"{name}.db*"):  # of one who was cut off
                    leftover.unlink()
                connect(f"sqlite:///{original}").dispose()
                contents = fill(f"sqlite:///{original}")
                pickled.with_suffix(".part").write_bytes(pickle.dumps(contents))
                pickled.with_suffix(".part").rename(pickled)
        shutil.copy(original, file)
        return f"sqlite:///{file}", pickle.loads(pickled.read_bytes())


def _filled(url: str, **options: Any) -> Seeded:
    engine = connect(url)
    contents = seed(engine, **options)
    engine.dispose()  # the last one to leave puts everything into the one file
    return contents


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Databases:
    """Ready-made databases."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "databases"
    folder.mkdir(exist_ok=True)
    return Databases(folder)
