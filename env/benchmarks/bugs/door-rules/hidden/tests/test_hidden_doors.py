# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from doors import Doors
from doors.patterns import fits


@pytest.mark.parametrize(
    "action, what, allowed",
    [
        ("read", "reports/dataops/secret/a", True),
        ("write", "designs/dataops/secret/a", True),
        ("read", "servers/databank/secret/a", True),
        ("write", "reports/dataops/secret/a", False),
        ("read", "reports/data/secret/a/b", False),
        ("write", "wiki/data/secret/a", False),
        ("write", "wiki/database/secret/a", True),
        ("read", "wiki/data/open/a", True),
        ("read", "calendar/dataops/secret/a", True),
        ("read", "calendar/data/secret/a", False),
    ],
)
def test_what_the_data_team_may(action: str, what: str, allowed: bool) -> None:
    assert Doors().may("kim041", action, what) is allowed


def test_reasons() -> None:
    doors = Doors()
    assert doors.ask("kim041", "read", "reports/data/secret/a").why == "secrets of data are for its leads"
    assert doors.ask("kim041", "write", "designs/dataops/secret/a").why == "and with its drawings"
    assert doors.ask("kim041", "merge", "keys/x") == (False, "no rule allows it")
    assert doors.ask("mia007", "restart", "servers/a") == (True, "administration")


def test_secrets_of_all_teams_stay_secret() -> None:
    doors = Doors()
    badges = {badge: person for person, badge in doors.people.items()}
    for badge, person in badges.items():
        team, group = badge.split("@")
        if group == "staff":
            for area in ("reports", "keys", "wiki", "calendar"):
                assert not doors.may(person, "read", f"{area}/{team}/secret/x"), badge


def test_each_team_has_its_own_rule() -> None:
    secret = [rule for rule in Doors().rules if rule.effect == "deny" and rule.what.endswith("/secret/*")]
    assert len(secret) == 20
    assert [rule.what for rule in secret] == [f"*/{rule.who.split('@')[0]}/secret/*" for rule in secret]


def test_patterns() -> None:
    assert fits("a/*", "a/b/c") and not fits("a/*", "a/") and not fits("a/*", "ab/c")
    assert fits("*/x/*", "q/x/y") and not fits("*/x/*", "q/p/x/y")
    assert fits("x*@y", "xyz@y") and not fits("x*@y", "yx@y")
