# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from ledger.accounts import is_within, with_groups
from ledger.journal import parse_journal
from ledger.reports import balance, balances, statement

JOURNAL = """2024-03-01 Rent
  Costs:Room 300
  Assets:Bank

2024-03-02 Room service
  Costs:RoomService:Clean 40
  Costs:RoomService:Heat 25.05
  Assets:Bank:Savings

2024-03-03 Move
  Assets:Bank 100
  Assets:Bank:Savings
"""


def test_groups_count_their_own_postings_and_those_below():
    entries = parse_journal(JOURNAL)
    assert balance(entries, "Assets:Bank") == -30000 - 6505
    assert balance(entries, "Assets:Bank:Savings") == -16505


def test_balances_of_all_names():
    assert balances(parse_journal(JOURNAL)) == {
        "Assets": -36505, "Assets:Bank": -36505, "Assets:Bank:Savings": -16505,
        "Costs": 36505, "Costs:Room": 30000, "Costs:RoomService": 6505,
        "Costs:RoomService:Clean": 4000, "Costs:RoomService:Heat": 2505,
    }


def test_statement_lists_only_the_account():
    assert statement(parse_journal(JOURNAL), "Costs:Room") == [("2024-03-01", "Rent", 30000, 30000)]


def test_moves_inside_a_group_are_no_change():
    assert len(statement(parse_journal(JOURNAL), "Assets:Bank")) == 2


def test_is_within():
    assert is_within("A:B", "A:B")
    assert is_within("A:B:C:D", "A:B")
    assert not is_within("A:BC", "A:B")
    assert not is_within("A", "A:B")
    assert not is_within("X:A:B", "A")


def test_balance_until_a_date():
    assert balance(parse_journal(JOURNAL), "Assets", until="2024-03-01") == -30000
    assert with_groups(["A:B:C", "A:D"]) == ["A", "A:B", "A:B:C", "A:D"]


def test_names_with_other_signs():
    assert not is_within("Assets:Bank-North", "Assets:Bank")
    assert not is_within("Assets:Bank.North", "Assets:Bank")
    assert not is_within("Assets:Bank North:Savings", "Assets:Bank")
    assert is_within("Assets:Bank-North:Savings", "Assets:Bank-North")
