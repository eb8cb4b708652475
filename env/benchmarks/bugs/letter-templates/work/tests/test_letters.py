# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from letters import Mailing, MissingField, render


def mailing():
    return Mailing("Your order, {{ name }}", "{{company|upper}}: {{price}} EUR", price="9.50")


def test_plain_letter():
    letter = mailing().letter({"name": "Ann", "company": "Ann's"})
    assert letter == "Your order, Ann\n\nANN'S: 9.50 EUR"


def test_company_with_a_strange_name():
    letter = Mailing("To {{company}}", "{{company}}: {{price}}", price=3).letter({"company": "{{price}} & more"})
    assert letter == "To {{price}} & more\n\n{{price}} & more: 3"


def test_backslash():
    assert render("To {{company}}.", {"company": r"Cut\gain"}) == r"To Cut\gain."


def test_missing():
    with pytest.raises(MissingField):
        render("{{nobody}}", {})
    assert mailing().lacking([{"name": "x"}]) == [(0, "company")]
