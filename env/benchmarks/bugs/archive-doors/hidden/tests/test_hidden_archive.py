# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import itertools

import pytest

from doors.archive import Archive
from doors.decide import decide
from doors.paths import is_below, parse_path
from doors.people import People
from doors.rules import parse_rules

RULES = parse_rules(
    """
    allow all /
    deny a /x
    allow b /x/y
    deny c /x/y/z
    allow a /x/y/z/w
    allow c /q
    deny b /q
    """
)
CASES = [("/x", False), ("/x/y", True), ("/x/y/k", True), ("/x/y/z", False), ("/x/y/z/w/1", True), ("/q", False), ("/r", True)]


@pytest.mark.parametrize("groups", list(itertools.permutations(["a", "b", "c", "all"])))
def test_order_of_groups(groups):
    assert [(path, decide(RULES, list(groups), parse_path(path))) for path, _ in CASES] == CASES


def test_everybody_counts_with_the_others():
    rules = parse_rules("allow staff /\ndeny all /secret\nallow staff /secret/soft\n")
    people = People()
    people.enter("sam", ["staff"])
    house = Archive(rules, people)
    house.file("secret/plan", "/secret/soft/tea/", "/menu")
    assert house.listing("sam") == ["/menu", "/secret/soft/tea"]
    assert house.listing("guest") == []


def test_deny_wins_among_equals():
    rules = parse_rules("allow a /f\ndeny b /f\n")
    assert not decide(rules, ["a", "b"], ("f",)) and not decide(rules, ["b", "a"], ("f",))
    assert decide(rules, ["a"], ("f",))


def test_names_that_begin_alike():
    assert not is_below(parse_path("/finances"), parse_path("/finance"))
    assert not decide(parse_rules("allow all /finance"), ["all"], parse_path("/finances"))


def test_groups_entered_twice():
    people = People()
    people.enter("eva", ["a"])
    people.enter("eva", ["b"])
    assert people.groups("eva") == ["a", "b", "all"]
    assert people.groups("nobody") == ["all"]
