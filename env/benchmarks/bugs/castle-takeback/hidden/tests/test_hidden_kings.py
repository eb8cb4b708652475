# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from kings import Game, IllegalMove


def test_rook_move_taken_back():
    game = Game()
    game.move("h1", "h5")
    game.take_back()
    assert game.rights == set("KQkq")
    game.move("e1", "g1")


def test_rook_captured_and_taken_back():
    game = Game()
    game.move("h1", "h8")
    assert game.rights == set("Qq")
    game.take_back()
    game.move("e1", "c1")
    game.move("e8", "g8")
    assert game.board["f8"] == "r"


def test_castling_itself_taken_back():
    game = Game()
    game.move("e1", "c1")
    game.take_back()
    assert game.board == Game().board
    game.move("e1", "c1")
    assert game.board["d1"] == "R"


def test_step_by_step():
    game = Game()
    seen = []
    for start, end in (("a1", "b1"), ("h8", "g8"), ("e1", "e2"), ("e8", "d7")):
        seen.append((dict(game.board), set(game.rights), game.white))
        game.move(start, end)
    assert game.rights == set()
    for board, rights, white in reversed(seen):
        game.take_back()
        assert (game.board, game.rights, game.white) == (board, rights, white)


def test_rights_lost_before_stay_lost():
    game = Game()
    game.move("h1", "h2")
    game.move("a8", "b8")
    game.move("e1", "d1")
    game.take_back()
    assert game.rights == set("Qk")
    with pytest.raises(IllegalMove):
        game.move("e1", "g1")


def test_refused_move_leaves_no_record():
    game = Game()
    with pytest.raises(IllegalMove):
        game.move("e1", "e3")
    with pytest.raises(IllegalMove):
        game.take_back()


@pytest.mark.parametrize("start, end", [("d4", "d5"), ("e8", "e7"), ("h8", "g8"), ("e1", "e3"), ("a1", "e1"), ("h1", "a1"), ("a1", "b2")])
def test_moves_against_the_rules_change_nothing(start, end):
    game = Game()
    with pytest.raises(IllegalMove):
        game.move(start, end)
    assert game.board == {"e1": "K", "a1": "R", "h1": "R", "e8": "k", "a8": "r", "h8": "r"}
    assert game.white is True
    assert game.rights == {"K", "Q", "k", "q"}


def test_only_the_side_to_move_moves_also_after_a_take_back():
    game = Game()
    game.move("a1", "a5")
    with pytest.raises(IllegalMove):
        game.move("a5", "a6")
    game.take_back()
    with pytest.raises(IllegalMove):
        game.move("a8", "a7")
    game.move("a1", "a5")
    assert game.board["a5"] == "R"
    assert game.white is False


def test_pieces_back_at_home_do_not_bring_rights_back():
    game = Game()
    for start, end in (("e1", "e2"), ("a8", "b8"), ("e2", "e1"), ("b8", "a8"), ("a1", "a2")):
        game.move(start, end)
    game.take_back()
    assert game.rights == {"k"}
