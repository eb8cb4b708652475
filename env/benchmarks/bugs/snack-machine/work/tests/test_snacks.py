# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from snacks import CoinBox, Machine, NoChange
from snacks.shelf import Shelf


@pytest.fixture
def shelf():
    shelf = Shelf()
    shelf.fill("A1", "nuts", 130, 5)
    return shelf


def test_change(shelf):
    machine = Machine(CoinBox({50: 2, 20: 2}), shelf)
    machine.insert(200)
    assert machine.buy("A1") == ("nuts", [50, 20])
    assert machine.box.total() == 140 + 130


def test_cancel(shelf):
    machine = Machine(CoinBox(), shelf)
    machine.insert(50)
    machine.insert(20)
    assert machine.cancel() == [50, 20]
    assert machine.credit == 0


def test_closing_after_a_refusal(shelf):
    machine = Machine(CoinBox({50: 3}), shelf)
    machine.insert(200)
    with pytest.raises(NoChange):
        machine.buy("A1")
    assert machine.cancel() == [200]
    assert machine.takings == 0
    assert machine.box.total() == 150
