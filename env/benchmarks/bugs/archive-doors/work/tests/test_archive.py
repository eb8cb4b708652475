# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from doors.archive import Archive
from doors.people import People
from doors.rules import parse_rules

RULES = """
allow all   /menu          # open to the public
allow staff /finance
deny  staff /finance/salaries
allow audit /finance/salaries/2023
"""
DOCUMENTS = ["/menu", "/finance/plan", "/finance/salaries/2022/june", "/finance/salaries/2023/may"]


def archive(**groups):
    people = People()
    for person, names in groups.items():
        people.enter(person, names)
    result = Archive(parse_rules(RULES), people)
    result.file(*DOCUMENTS)
    return result


def test_one_group():
    house = archive(sam=["staff"])
    assert house.listing("guest") == ["/menu"]
    assert house.listing("sam") == ["/finance/plan", "/menu"]


def test_two_groups():
    house = archive(eva=["staff", "audit"])
    assert house.may_read("eva", "/finance/salaries/2023/may")
    assert not house.may_read("eva", "/finance/salaries/2022/june")


def test_bad_rule():
    with pytest.raises(ValueError):
        parse_rules("permit all /")
