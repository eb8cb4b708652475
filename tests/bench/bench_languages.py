"""The speed of the tool `debug` in each language whose tool chain this machine has.

    python -m tests.bench.bench_languages [--rounds N] [--backend docker]

A session opens with `b` and `c`; the program's build is measured by itself and taken off. A step is `n`, `w` or `p`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

from rich.console import Console
from rich.table import Table

from stackrank.extensions.languages.debugging.targets import LANGUAGES, target_of
from stackrank.extensions.languages.toolchains import examine
from tests.extensions.languages.test_debug import GROWN, PROGRAM, TEST, Played, normal_mode, opened

OPENED_MS, STEP_MS = 1500.0, 20.0


def measure(action: Callable[[], object]) -> float:
    """Return how long the action takes, in milliseconds."""
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


def play(played: Played, rounds: int) -> tuple[float, float, float]:
    """Return medians in ms: the build, a session's opening without it, and a step."""
    language, mode = played.language, normal_mode(played.language)
    target = target_of(played.bench.task, TEST[language].format(mode))
    played.build()
    builds, openings, steps = [], [], []
    for _ in range(rounds):
        if target.build:
            builds.append(measure(lambda: played.bench.sandbox.run(target.build, 60)))
        openings.append(measure(lambda: played(f"b {PROGRAM[language]}:{GROWN[language]}", "c", mode=mode)))
        for command in ("p y", "w", "n", "p y + 1", "w"):
            steps.append(measure(partial(played, command)))
        played("q")
    build = statistics.median(builds) if builds else 0.0
    return build, statistics.median(openings) - build, statistics.median(steps)


def main() -> int:
    """Measure and print. Exit status 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--backend", default="bubblewrap")
    arguments = parser.parse_args()
    met = True
    table = Table("language", "build, ms", f"opening, ms (<= {OPENED_MS:g})", f"step, ms (<= {STEP_MS:g})")
    for language in LANGUAGES:
        if missing := next(filter(None, examine(arguments.backend)[language]), ""):
            table.add_row(language, missing)
            continue
        for played in opened(language, sandbox=arguments.backend):
            build, opening, step = play(played, arguments.rounds)
            met = met and opening <= OPENED_MS and step <= STEP_MS
            table.add_row(language, f"{build:.0f}", f"{opening:.0f}", f"{step:.1f}")
    Console().print(table)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
