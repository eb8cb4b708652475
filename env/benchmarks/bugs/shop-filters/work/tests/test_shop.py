# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from shop import Shop
from shop.articles import Article


@pytest.fixture
def shop():
    return Shop([
        Article("Shirt plain", 19.0, {"colour": "red", "size": "M"}),
        Article("Shirt silk", 79.0, {"colour": "red", "size": "L"}),
        Article("Shirt sport", 25.0, {"colour": "blue", "size": "M"}),
        Article("Scarf", 9.5, {"colour": "green"}),
        Article("Socks", 5.0, {"colour": "red", "pairs": 3}),
    ])


def test_one_condition(shop):
    assert shop.find("colour:green|blue") == ["Shirt sport", "Scarf"]
    assert shop.find("price>20") == ["Shirt silk", "Shirt sport"]


def test_words_and_a_condition(shop):
    assert shop.find("shirt price<30") == ["Shirt plain", "Shirt sport"]


def test_two_conditions(shop):
    assert shop.find("colour:red price<30") == ["Shirt plain", "Socks"]


def test_number_that_is_missing(shop):
    assert shop.find("pairs>2") == ["Socks"]
