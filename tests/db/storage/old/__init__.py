"""A database of the version before the package was renamed, and what that version said about it."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
FINISHED, CUT_OFF = 1, 2
"""Its runs."""


def restore(file: Path) -> str:
    """Write the database to `file` and return its URL."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(gzip.decompress((_HERE / "database.sql.gz").read_bytes()).decode())
    return f"sqlite:///{file}"


def answers() -> dict[str, Any]:
    """What the old version's commands printed with --json."""
    found: dict[str, Any] = json.loads((_HERE / "answers.json").read_text())
    return found
