# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from billing.bill import make_bill
from billing.catalogue import BASIC, FLAT, TALK


def test_basic():
    assert make_bill(BASIC, {"minutes": 40, "texts": 60}).total == 360 + 350 + 40


def test_included_minutes_not_used_up():
    assert make_bill(TALK, {"minutes": 100}).total == 800


def test_talkative_customer():
    assert make_bill(TALK, {"minutes": 150}).total == 800 + 250


def test_unknown_meter():
    with pytest.raises(KeyError):
        make_bill(FLAT, {"faxes": 1})
