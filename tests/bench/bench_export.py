"""The speed of exports, and whether memory grows with the number of episodes.

    python -m tests.bench.bench_export [--episodes N] [--steps N] [--formats jsonl steps ...]

Each format is written from a synthetic run of SMALL episodes and from one of N, in a process of its own. Peak memory
may grow by MOST_GROWN_MB, and at least LEAST episodes have to be written in a second of processor time, which does not
depend on how busy the machine is.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from stackrank.db.connection.engine import connect
from tests.bench.scenarios import big_database

SMALL, LEAST, MOST_GROWN_MB = 1_000, 2_000, 32


def make(file: Path, episodes: int, steps: int) -> str:
    """A database with one run; its URL."""
    big_database.TASKS = episodes // big_database.ENTRANTS
    url = f"sqlite:///{file}"
    big_database.fill(connect(url), episodes=episodes, steps=episodes * steps)
    return url


def export(url: str, format: str, out: Path) -> tuple[float, float]:
    """(seconds of the processor, peak megabytes) of a process that exports the run."""
    command = [sys.executable, "-m", "stackrank.flows.cli.main", "export", "1", "--format", format, "--out", str(out)]
    process = subprocess.Popen(command, env={**os.environ, "STACKRANK_DATABASE_URL": url}, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{format} cannot be exported: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Exit status 1 where a format is too slow or takes memory for every episode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=8, help="of an episode, on average")
    parser.add_argument("--formats", nargs="*", default=["jsonl", "chat", "steps", "csv"])
    options = parser.parse_args(arguments)
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = make(folder / "small.db", SMALL, options.steps)
        large = make(folder / "large.db", options.episodes, options.steps)
        for format in options.formats:
            small_memory, little = export(small, format, folder / "small.out")
            seconds, much = export(large, format, folder / "large.out")
            # What it takes to start, both have.
            rate = (options.episodes - SMALL) / max(seconds - small_memory, 1e-9)
            good &= rate >= LEAST and much - little <= MOST_GROWN_MB
            print(
                f"{format}: {rate:.0f} episodes a second (target: {LEAST}), peak {little:.0f} MB for {SMALL} episodes, "
                f"{much:.0f} MB for {options.episodes} (at most +{MOST_GROWN_MB})",
                flush=True,
            )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
