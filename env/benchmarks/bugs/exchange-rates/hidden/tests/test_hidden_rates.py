# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from decimal import Decimal

import pytest

from rates import RateTable, import_rates
from rates.importer import read_line


@pytest.mark.parametrize("line", ["CHF 0.95", "CHF = -1", "CHF = 0", "CHF = 1 = 2", "CHF =", "= 3", "CHF = NaN", "ABC = x"])
def test_lines_left_out(line):
    table = RateTable()
    report = import_rates([line, "", "USD = 2"], table)
    assert report.left_out == [(1, line)]
    assert table.known() == ["EUR", "USD"]


def test_everything_odd():
    report = import_rates(["a", "b = ", "c = 1"], RateTable())
    assert report.taken == 0 and [number for number, _ in report.left_out] == [1, 2, 3]


def test_other_errors_are_not_hidden():
    class Broken(RateTable):
        def set(self, code, rate):
            raise OSError("disk")

    with pytest.raises(OSError):
        import_rates(["USD = 1"], Broken())
    with pytest.raises(TypeError):
        import_rates(["USD = 1"], _NoArguments())


class _NoArguments:
    def set(self):
        return None


def test_direct_use_still_raises():
    with pytest.raises(KeyError):
        RateTable().set("XXX", Decimal(1))
    with pytest.raises(ValueError):
        read_line("nothing")
