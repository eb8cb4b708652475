"""Every table of `python -m tests.bench.statistics`, small: the targets hold within the simulation's own error."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.bench.statistics import share
from tests.bench.statistics.__main__ import names
from tests.support.session import sample


def test_a_share_outside_its_bounds_is_a_miss() -> None:
    assert not share("too often", 20, 100, at_most=0.05).holds
    assert not share("too seldom", 60, 100, at_least=0.7).holds
    assert share("within the error of 100 simulations", 7, 100, at_most=0.05).holds


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(names(), ["pairs"]))
def test_every_line_of_a_table_holds(name: str) -> None:
    failed_lines = [line for line in import_module(f"tests.bench.statistics.{name}").table(60) if not line.holds]
    assert not failed_lines
