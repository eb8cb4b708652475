# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from scores.table import ScoreTable, show


def table():
    result = ScoreTable()
    for name, score in [("x", 5), ("y", 4), ("z", 4), ("w", 1)]:
        result.play(name, score)
    assert result.place("w") == 4
    return result


def test_remove_and_ask_for_place():
    scores = table()
    scores.remove("x")
    assert [scores.place(name) for name in "xyzw"] == [None, 1, 1, 3]


def test_rename():
    scores = table()
    scores.rename("w", "v")
    assert scores.place("w") is None and scores.place("v") == 4
    scores.rename("x", "v")
    assert scores.ranking() == [(1, "v", 5), (2, "y", 4), (2, "z", 4)]


def test_play_again():
    scores = table()
    scores.play("w", 9)
    assert scores.place("w") == 1


def test_unknown_player():
    with pytest.raises(KeyError):
        table().remove("q")
    with pytest.raises(KeyError):
        table().rename("q", "x")


def test_caller_may_change_the_list():
    scores = table()
    scores.ranking().clear()
    assert len(show(scores)) == 4
