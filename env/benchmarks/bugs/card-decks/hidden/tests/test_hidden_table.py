# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from cards.base import Deck
from cards.skat import SkatDeck
from cards.table import new_game
from cards.tarock import TarockDeck


def test_tarock_cards():
    cards = TarockDeck.cards
    assert cards[:22] == tuple("T%d" % n for n in range(1, 23))
    assert set(cards[22:]) == {s + r for s in "CSHD" for r in ("7", "8", "9", "10", "J", "Q", "K", "A")}
    assert len(cards) == 54


def test_every_card_has_a_value():
    for deck in (Deck, SkatDeck, TarockDeck):
        assert all(deck.value(card) >= 0 for card in deck.cards)
    assert TarockDeck.count(list(TarockDeck.cards)) == 253 + 4 * 18


@pytest.mark.parametrize("deck, size", [(Deck, 52), (SkatDeck, 32), (TarockDeck, 54)])
def test_sizes(deck, size):
    assert len(deck()) == len(deck.cards) == len(set(deck.cards)) == size


def test_decks_do_not_share_cards():
    first = TarockDeck()
    first.deal(2, 5)
    assert len(first) == 44 and len(TarockDeck()) == 54


def test_other_decks_unchanged():
    assert Deck.cards[0] == "C2" and Deck.value("DA") == 14
    assert SkatDeck.cards[:2] == ("C7", "C8") and SkatDeck.value("H10") == 10


def test_no_more_than_the_deck():
    with pytest.raises(ValueError):
        new_game("tarock", 5, 11, 0)


@pytest.mark.parametrize("deck, ranks", [
    (Deck, ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")),
    (SkatDeck, ("7", "8", "9", "J", "Q", "K", "10", "A")),
    (TarockDeck, ("7", "8", "9", "10", "J", "Q", "K", "A")),
])
def test_ranks_of_decks(deck, ranks):
    assert deck.ranks == ranks
    assert set(deck.values) == set(ranks)
    assert set(deck.cards) == set(deck.trumps) | {suit + rank for suit in "CSHD" for rank in ranks}


@pytest.mark.parametrize("name, deck", [("full", Deck), ("skat", SkatDeck), ("tarock", TarockDeck)])
def test_every_card_is_somewhere_once(name, deck):
    assert deck.name == name
    hands = new_game(name, 3, 5, 8)
    assert [len(hand) for hand in hands] == [5, 5, 5, len(deck.cards) - 15]
    assert sorted(card for hand in hands for card in hand) == sorted(deck.cards)
