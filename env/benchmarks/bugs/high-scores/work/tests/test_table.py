# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from scores.table import ScoreTable, show


def table():
    result = ScoreTable()
    for name, score in [("ann", 50), ("bob", 90), ("ann", 70), ("cy", 70)]:
        result.play(name, score)
    return result


def test_ranking():
    assert table().ranking() == [(1, "bob", 90), (2, "ann", 70), (2, "cy", 70)]


def test_removed():
    scores = table()
    assert show(scores, 1) == [" 1. bob            90"]
    scores.remove("bob")
    assert scores.ranking() == [(1, "ann", 70), (1, "cy", 70)]


def test_negative():
    with pytest.raises(ValueError):
        table().play("eve", -1)
