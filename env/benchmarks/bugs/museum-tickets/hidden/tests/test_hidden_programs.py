# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import sys
from importlib import import_module

import pytest


def load(name):
    for module in [m for m in sys.modules if m.split(".")[0] == "tickets"]:
        del sys.modules[module]
    return import_module(name)


@pytest.mark.parametrize("first", ["desk", "gate", "groups", "prices", "visitors"])
@pytest.mark.parametrize("second", ["desk", "gate"])
def test_any_order(first, second):
    load("tickets." + first)
    import_module("tickets." + second)
    assert import_module("tickets.desk").sell(["70 student"]) == ["student 6.00", "to pay 6.00"]
    assert import_module("tickets.gate").check("adult", "3", ["15"]) == "not alone"


def test_cheapest_group():
    groups, visitors = load("tickets.groups"), import_module("tickets.visitors")
    assert [groups.group_of(visitors.Visitor(*v)) for v in [(2, ""), (15, "student"), (68, "student"), (30, "")]] == [
        "infant", "child", "student", "adult",
    ]


def test_family():
    prices, visitors = load("tickets.prices"), import_module("tickets.visitors")
    family = [visitors.Visitor(age) for age in (40, 41, 12, 10, 8)]
    assert prices.family_price(family) == 3000
    assert prices.family_price(family + [visitors.Visitor(70)]) == 2400 + 1440 + 900


def test_every_group_needs_a_price():
    groups = load("tickets.groups")
    groups.GROUPS["press"] = lambda visitor: False
    sys.modules.pop("tickets.prices", None)
    with pytest.raises(RuntimeError):
        import_module("tickets.prices")


def test_everybody():
    groups, visitors = load("tickets.groups"), import_module("tickets.visitors")
    prices = import_module("tickets.prices")
    for age in range(0, 90):
        for card in ("", "student", "press"):
            fitting = [
                (cost, name)
                for name, cost, fits in [
                    ("infant", 0, age < 4), ("child", 480, age < 16), ("student", 600, card == "student"), ("senior", 900, age >= 67),
                ]
                if fits
            ]
            cost, name = min(fitting, default=(1200, "adult"))
            visitor = visitors.Visitor(age, card)
            assert (groups.group_of(visitor), prices.price(visitor)) == (name, cost)
            assert groups.may_enter_alone(visitor) == (age >= 10)
    assert (prices.FULL, prices.price_of_group("press")) == (1200, 1200)


def test_gate():
    gate = load("tickets.gate")
    assert gate.check("child", "12", []) == "in"
    assert gate.check("child", "9", []) == "not alone"
    assert gate.check("child", "9", ["15", "16"]) == "in"
    assert gate.check("student", "12 student", []) == "wrong ticket"
    assert gate.check("adult", "12 student", []) == "in"
    assert gate.check("infant", "3", ["40"]) == "in"
