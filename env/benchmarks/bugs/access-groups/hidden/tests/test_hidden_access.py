# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from itertools import permutations

import pytest

from access import Directory, Rights, UnknownGroup


def directory_of(**groups):
    directory = Directory()
    for name, includes in groups.items():
        directory.define(name, [f"u{name}"], includes)
    return directory


def names(text):
    return {f"u{name}" for name in text.split()}


@pytest.mark.parametrize("order", list(permutations("abcd")))
def test_ring_of_groups_in_any_order(order):
    directory = directory_of(a="b", b="c", c="ad", d="")
    for group in order:
        assert directory.users_of(group) == (names("d") if group == "d" else names("a b c d"))


@pytest.mark.parametrize("order", list(permutations("abcde"))[::7])
def test_two_rings_that_share_a_group(order):
    directory = directory_of(a="b", b="ac", c="bd", d="e", e="d")
    expected = {group: names("a b c d e") for group in "abc"}
    expected.update({group: names("d e") for group in "de"})
    for group in order:
        assert directory.users_of(group) == expected[group]


def test_group_that_includes_itself():
    directory = directory_of(a="ab", b="b")
    assert directory.users_of("a") == names("a b")
    assert directory.users_of("b") == names("b")


def test_shared_group_is_found_on_both_ways():
    directory = directory_of(a="bc", b="d", c="d", d="")
    assert directory.users_of("b") == names("b d")
    assert directory.users_of("c") == names("c d")
    assert directory.users_of("a") == names("a b c d")
    assert directory.groups_of("ud") == ["a", "b", "c", "d"]


def test_answers_are_kept_until_a_change():
    directory = directory_of(a="b", b="a")
    first = directory.users_of("a")
    assert directory.users_of("a") is first
    directory.quit("b", "ub")
    assert directory.users_of("a") == directory.users_of("b") == names("a")
    directory.define("c", ["x"])
    directory.define("b", ["y"], ["a", "c"])
    assert directory.users_of("b") == {"ua", "x", "y"}
    assert directory.users_of("a") == {"ua", "x", "y"}


def test_unknown_group_is_an_error_every_time():
    directory = directory_of(a="b", b="az")
    for _ in range(2):
        for group in "ab":
            with pytest.raises(UnknownGroup):
                directory.users_of(group)
    directory.define("z", ["uz"])
    assert directory.users_of("a") == directory.users_of("b") == names("a b z")


def test_levels_after_other_questions():
    directory = directory_of(a="b", b="c", c="a")
    rights = Rights(directory)
    for group in "abc":
        rights.grant(group, group, "write")
    assert [rights.level(f"u{u}", doc) for doc in "abc" for u in "abc"] == ["write"] * 9


def test_many_layers_quickly():
    directory = Directory()
    for layer in range(60):
        for side in "lr":
            includes = [f"l{layer + 1}", f"r{layer + 1}"] if layer < 59 else []
            directory.define(f"{side}{layer}", [f"{side}{layer}"], includes)
    assert len(directory.users_of("l0")) == 119
