"""Verdicts with the most-used plug-ins of pytest, all at once or each by itself.

    python -m tests.bench.bench_plugins [--each] [PACKAGE...]

One row for each environment: what its verdict came to, how strongly it is sealed, and what a half-right fix came to.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from rich.console import Console
from rich.table import Table

from stackrank.env.environment import Environment
from stackrank.env.patches import make_diff
from stackrank.env.patterns import globs
from stackrank.env.sandbox.base import Backend, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.scoring.judge import Score
from stackrank.env.scoring.prove import prove
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Limits, Task

# By downloads; those among them that need a server, a browser or a device of their own are left out.
PLUGINS = (
    "pytest-cov", "pytest-asyncio", "pytest-xdist", "pytest-mock", "pytest-metadata", "pytest-html", "pytest-timeout",
    "pytest-rerunfailures", "pytest-django", "pytest-env", "pytest-randomly", "pytest-sugar", "pytest-forked",
    "pytest-benchmark", "pytest-json-report", "pytest-httpx", "pytest-socket", "pytest-split", "pytest-aiohttp",
    "pytest-localserver", "pytest-bdd", "pytest-order", "pytest-subtests", "pytest-instafail", "pytest-repeat",
    "pytest-freezer", "pytest-httpserver", "syrupy", "pytest-datadir", "pytest-regressions", "allure-pytest", "anyio",
    "Faker", "typeguard", "requests-mock", "pytest-check", "pytest-picked", "pytest-dependency", "pytest-base-url",
)  # fmt: skip
RIGHT = b"def total(items):\n    return sum(items)\n\n\ndef mean(items):\n    return total(items) / len(items)\n"
GIVEN = RIGHT.replace(b"sum(items)", b"sum(items) - 1").replace(b"len(items)", b"(len(items) + 1)")
HALF = RIGHT.replace(b"len(items)", b"(len(items) + 1)")
HIDDEN = b"""import pytest

from cart import mean, total


@pytest.mark.parametrize("items, expected", [([], 0), ([5], 5), ([1, 2], 3)])
def test_totals(items, expected):
    assert total(items) == expected


def test_mean():
    assert mean([2, 4]) == 3


def test_mean_of_one():
    assert mean([7]) == 7
"""
DRAWN = b"""from hypothesis import given, strategies

from cart import total


@given(strategies.lists(strategies.integers()))
def test_total_is_the_sum(items):
    assert total(items) == sum(items)


def test_total_of_two():
    assert total([2, 2]) == 4
"""


def plugged(packages: tuple[str, ...], options: str = "") -> Task:
    """A shop with these packages in its environment and these options of pytest; two of its functions are wrong."""
    settings = f'[tool.pytest.ini_options]\naddopts = "{options}"\n'.encode()
    return Task(
        id="plugged",
        benchmark="bench",
        statement="Totals and means are wrong.",
        files={"cart.py": GIVEN, "tests/test_cart.py": b"def test_nothing():\n    pass\n", "pyproject.toml": settings},
        hidden_files={"tests/test_hidden.py": HIDDEN}
        | ({"tests/test_drawn.py": DRAWN} if "hypothesis" in packages else {}),
        test_command="python -m pytest -q",
        readonly=globs(("tests/**",)),
        fix=make_diff({"cart.py": GIVEN}, {"cart.py": RIGHT}),
        environment=Environment(requirements=("pytest", *packages)),
        limits=Limits(timeout_s=120),
    )


def verdicts(task: Task, kind: Backend) -> tuple[Score, Score]:
    """Of the known fix, and of half of it."""
    kind.prepare(spec_for(task), lambda message: print(message, file=sys.stderr))
    with Sandbox(kind, spec_for(task, warm=False)) as sandbox:
        task = replace(task, proof=prove(task, sandbox).dump())
    right, half = (
        score(task, Changes(files={"cart.py": content}), lambda spec: Sandbox(kind, spec)) for content in (RIGHT, HALF)
    )
    return right, half


def main(arguments: list[str] | None = None) -> int:
    """Try and print. Exit status 1 where an honest fix is refused or half a fix is taken for one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", help="in place of the list")
    parser.add_argument("--each", action="store_true", help="an environment for each, instead of one for all")
    options = parser.parse_args(arguments)
    packages = ("hypothesis", *(options.packages or PLUGINS))
    kind = chosen_backend(None)
    table = Table("environment", "honest fix", "sealed", "half a fix", title=f"pytest plug-ins in {kind.name}")
    good = True
    for environment in [(package,) for package in packages] if options.each else [packages]:
        right, half = verdicts(plugged(environment), kind)
        good = good and right.resolved and not half.resolved
        name = environment[0] if len(environment) == 1 else f"{len(environment)} packages"
        lines = [
            "resolved" if package.resolved else "; ".join(("unresolved", *package.notes)) for package in (right, half)
        ]
        table.add_row(name, lines[0], str(right.sealed), lines[1])
    Console(width=130).print(table)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
