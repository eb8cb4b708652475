# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from cards.table import DECKS, new_game


def test_skat():
    hands = new_game("skat", 3, 10, 1)
    assert [len(hand) for hand in hands] == [10, 10, 10, 2]
    assert sum(DECKS["skat"].count(hand) for hand in hands) == 120


def test_tarock():
    hands = new_game("tarock", 4, 12, 1)
    assert [len(hand) for hand in hands] == [12, 12, 12, 12, 6]


def test_full():
    assert len({card for hand in new_game("full", 2, 5, 3) for card in hand}) == 52


def test_not_enough():
    with pytest.raises(ValueError):
        new_game("skat", 4, 9, 1)
