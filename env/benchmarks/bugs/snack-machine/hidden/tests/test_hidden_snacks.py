# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from snacks import CoinBox, Machine, NoChange
from snacks.shelf import Shelf, SoldOut


def machine(coins, price=130, count=5):
    shelf = Shelf()
    shelf.fill("A1", "nuts", price, count)
    return Machine(CoinBox(coins), shelf)


def test_refusal_in_the_middle_of_several_values():
    one = machine({100: 1, 50: 2, 20: 1}, price=20)
    one.insert(200)
    one.insert(10)
    box = {value: one.box.count(value) for value in (200, 100, 50, 20, 10)}
    with pytest.raises(NoChange):
        one.buy("A1")
    assert {value: one.box.count(value) for value in box} == box
    assert one.credit == 210


def test_box_alone():
    box = CoinBox({50: 1, 20: 3})
    for _ in range(2):
        with pytest.raises(NoChange):
            box.pay_out(60)
        assert (box.count(50), box.count(20)) == (1, 3)
    assert box.pay_out(70) == [50, 20]
    assert (box.count(50), box.count(20)) == (0, 2)


def test_sale_after_a_refusal():
    one = machine({50: 1})
    one.insert(200)
    with pytest.raises(NoChange):
        one.buy("A1")
    one.cancel()
    for coin in (100, 20, 10):
        one.insert(coin)
    assert one.buy("A1") == ("nuts", [])
    assert one.box.total() == 180 and one.takings == 130


def test_refused_twice_then_enough():
    one = machine({50: 1})
    one.insert(200)
    for _ in range(2):
        with pytest.raises(NoChange):
            one.buy("A1")
    one.box.put([20])
    assert one.buy("A1") == ("nuts", [50, 20])
    assert one.box.total() == 70 + 130


def test_change_from_the_coins_put_in():
    one = machine({}, price=50)
    for coin in (20, 20, 20):
        one.insert(coin)
    with pytest.raises(NoChange):
        one.buy("A1")
    assert one.box.total() == 0
    one.insert(10)
    assert one.buy("A1") == ("nuts", [20])


def test_sold_out():
    with pytest.raises(SoldOut):
        machine({}, count=0).buy("A1")


def test_several_coins_of_a_kind_stay_in_the_box():
    box = CoinBox({50: 3, 20: 1})
    with pytest.raises(NoChange):
        box.pay_out(180)
    assert (box.count(50), box.count(20), box.total()) == (3, 1, 170)
