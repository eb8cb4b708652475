# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from access import Directory, Rights, UnknownGroup


def company():
    directory = Directory()
    directory.define("board", ["ann"], includes=["heads"])
    directory.define("heads", ["bob"], includes=["board", "staff"])
    directory.define("staff", ["cid", "dot"])
    return directory


def test_groups_within_groups():
    directory = company()
    assert directory.users_of("staff") == {"cid", "dot"}
    assert directory.users_of("heads") == {"ann", "bob", "cid", "dot"}


def test_rights():
    rights = Rights(company())
    rights.grant("plan", "staff", "read")
    rights.grant("plan", "board", "write")
    assert rights.level("bob", "plan") == "write"
    assert rights.level("eve", "plan") == "none"
    assert rights.readers("plan") == ["ann", "bob", "cid", "dot"]


def test_rights_one_after_the_other():
    rights = Rights(company())
    rights.grant("budget", "heads", "read")
    rights.grant("plan", "board", "read")
    assert rights.readers("budget") == ["ann", "bob", "cid", "dot"]
    assert rights.readers("plan") == ["ann", "bob", "cid", "dot"]


def test_changes_and_unknown_groups():
    directory = company()
    assert "eve" not in directory.users_of("board")
    directory.join("staff", "eve")
    assert "eve" in directory.users_of("board")
    with pytest.raises(UnknownGroup):
        directory.users_of("guests")
