"""Print every table, or those that are named; the status is 1 where a number misses its target."""

from __future__ import annotations

import argparse
import pkgutil
import sys
import time
from importlib import import_module
from pathlib import Path

SIMULATIONS, QUICK = 2_000, 100


def names() -> list[str]:
    """The tables, by the names of their modules."""
    return sorted(
        module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name != "__main__"
    )


def main() -> int:
    """Print a table per module: each number, its target, and whether it holds."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.statistics", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"One of {', '.join(names())}. Default: all.")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} simulations a number instead of {SIMULATIONS}.")
    parser.add_argument("--simulations", type=int, help="So many simulations a number.")
    arguments = parser.parse_args()
    if unknown := set(arguments.tables) - set(names()):
        parser.error(f"no table {', '.join(sorted(unknown))}: choose from {', '.join(names())}")
    simulations = arguments.simulations or (QUICK if arguments.quick else SIMULATIONS)
    misses = 0
    for name in arguments.tables or names():
        module, start = import_module(f"tests.bench.statistics.{name}"), time.monotonic()
        lines = module.table(simulations)
        print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]} [{time.monotonic() - start:.0f} s]")
        for line in lines:
            print(f"  {line.name:64} {line.value:>9}  {line.target:24} {'holds' if line.holds else 'MISSED'}")
        misses += sum(not line.holds for line in lines)
    print(f"\n{simulations} simulations a number; {misses} numbers miss their target")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
