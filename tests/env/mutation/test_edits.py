"""Edits of a text."""

from __future__ import annotations

import pytest

from stackrank.env.mutation.edits import Edit, apply_edits, difference


def test_edits_are_applied_from_the_end() -> None:
    assert apply_edits("abcdef", [Edit(0, 1, "AA"), Edit(3, 3, "-"), Edit(5, 6, "")]) == "AAbc-de"


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        ("x = 1", "x = 12", Edit(5, 5, "2")),
        ("aaa", "aa", Edit(2, 3, "")),
        ("f(a, b)", "f(b, a)", Edit(2, 6, "b, a")),
        ("same", "same", Edit(4, 4, "")),
    ],
)
def test_the_difference_is_the_smallest_edit(old: str, new: str, edit: Edit) -> None:
    assert difference(old, new) == edit
    assert apply_edits(old, [edit]) == new
