# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from billing.bill import Line, make_bill, cheapest
from billing.catalogue import BASIC, FLAT, PLANS, TALK
from billing.plans import Step, charges


def test_lines_over_all_steps():
    assert make_bill(TALK, {"minutes": 450}).lines == [
        Line("talk", 800), Line("200 minutes", 1000), Line("150 minutes (bulk)", 450),
    ]


def test_free_step_in_the_middle():
    assert make_bill(FLAT, {"texts": 130}).total == 2500 + 100 + 60
    assert make_bill(FLAT, {"texts": 60}).total == 2500 + 100


def test_free_without_end():
    assert make_bill(FLAT, {"minutes": 9999, "texts": 0}).lines == [Line("flat", 2500)]


def test_few_units_in_a_long_free_step():
    steps = (Step(100, 0), Step(200, 5))
    assert list(charges(steps, 30)) == []
    assert list(charges(steps, 101)) == [(steps[1], 1)]


def test_two_free_steps():
    steps = (Step(10, 0, "a"), Step(20, 0, "b"), Step(30, 1, "c"), Step(None, 2))
    assert [n for _, n in charges(steps, 35)] == [10, 5]


def test_cheapest_plan():
    assert cheapest(PLANS, {"minutes": 250}) is TALK
    assert cheapest(PLANS, {"minutes": 20}) is BASIC
    assert cheapest(PLANS, {"minutes": 900}) is FLAT


def test_text_and_bad_usage():
    assert make_bill(TALK, {"minutes": 103}).text().splitlines()[-1].split() == ["total", "8.15"]
    with pytest.raises(ValueError):
        make_bill(BASIC, {"minutes": -1})
