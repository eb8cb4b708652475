"""The processor time of read-only commands, as a multiple of the time of their imports.

`python -m tests.bench.bench_commands`; a command may take 3 times the floor.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from stackrank.db.connection.engine import connect
from tests.dashboard.seed import seed

FLOOR = ["-c", "import typer, sqlmodel"]


def processor_s(arguments: list[str]) -> float:
    """What one call of Python costs, in seconds of processor time."""
    usage_before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    usage_after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage_after.ru_utime + usage_after.ru_stime - usage_before.ru_utime - usage_before.ru_stime


def main() -> None:
    """Print each command's time and its ratio to the floor, the best of some rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'bench.db'}"
        first, two, _ = seed(connect(url)).entrants
        os.environ["STACKRANK_DATABASE_URL"] = url
        calls = [["leaderboard"], ["runs"], ["episodes"], ["trace", "1"], ["compare", first, two]]
        floor = min(processor_s(FLOOR) for _ in range(rounds))
        print(f"{'import typer, sqlmodel':24} {floor:5.2f} s")
        for call in calls:
            best = min(processor_s(["-m", "stackrank.flows.cli.main", *call]) for _ in range(rounds))
            print(f"{call[0]:24} {best:5.2f} s {best / floor:5.2f} x")


if __name__ == "__main__":
    main()
