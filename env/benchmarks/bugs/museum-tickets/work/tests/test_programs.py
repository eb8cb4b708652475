# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import sys
from importlib import import_module

import pytest


@pytest.fixture
def start():
    """Load a program as if it were the first thing Python loads."""

    def load(name):
        for module in [m for m in sys.modules if m.split(".")[0] == "tickets"]:
            del sys.modules[module]
        return import_module(name)

    return load


def test_desk(start):
    desk = start("tickets.desk")
    assert desk.sell(["40", "38 student", "7"]) == ["adult 12.00", "student 6.00", "child 4.80", "to pay 22.80"]


def test_gate(start):
    gate = start("tickets.gate")
    assert gate.check("child", "7", ["40"]) == "in"
    assert gate.check("child", "17", []) == "wrong ticket"


def test_visitor(start):
    assert start("tickets.visitors").parse_visitor(" 20  student ").card == "student"
