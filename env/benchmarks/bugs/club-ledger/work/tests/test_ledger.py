# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from ledger.journal import parse_journal
from ledger.reports import balance, statement

JOURNAL = """2024-01-02 Dues
  Assets:Bank 120.00
  Income:Dues

2024-01-05 Second account
  Assets:BankNorth 50
  Assets:Bank

2024-01-09 Coffee
  Costs:Food 7.5
  Assets:Cash -7.50
"""


def test_all_assets():
    assert balance(parse_journal(JOURNAL), "Assets") == 11250


def test_bank_balance():
    assert balance(parse_journal(JOURNAL), "Assets:Bank") == 7000


def test_cash_statement():
    assert statement(parse_journal(JOURNAL), "Assets:Cash") == [("2024-01-09", "Coffee", -750, -750)]


def test_unbalanced():
    with pytest.raises(ValueError):
        parse_journal("2024-01-01 Oops\n  A 5\n  B -4\n")
