"""Installation of packages for tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def pip(*arguments: str | Path, python: Path | str = sys.executable) -> None:
    """Call pip for the environment of `python`; the test fails with its output where it fails."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "--disable-pip-version-check",
        *map(str, arguments),
    ]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout[-2000:] + completed.stderr[-2000:]
