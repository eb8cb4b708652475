# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from trips import SagaFailed, book
from trips.partners import Cards, Company


def test_booked():
    cards, train, hotel = Cards(), Company("train"), Company("hotel")
    assert book("ann", 300, cards, [train, hotel])["notes"] == ["trip of ann", "train booked", "hotel booked"]
    assert cards.charged == {"ann": 300}


def test_hotel_is_full():
    cards, train, hotel = Cards(), Company("train"), Company("hotel", places=0)
    with pytest.raises(SagaFailed) as caught:
        book("ann", 300, cards, [train, hotel])
    assert caught.value.taken_back == ["train", "charge"]
    assert cards.charged == {"ann": 0} and not train.booked


def test_hotel_is_full_and_train_does_not_cancel():
    cards, train, hotel = Cards(), Company("train"), Company("hotel", places=0)
    train.refuses_cancelling = True
    with pytest.raises(SagaFailed) as caught:
        book("ann", 300, cards, [train, hotel])
    assert str(caught.value) == "hotel failed; could not take back train"
    assert cards.charged == {"ann": 0}
