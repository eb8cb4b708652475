# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from i18n.page import page
from i18n.translator import Translator


def test_english():
    assert page("en-GB", "Ann", 1) == ["Good day, Ann!", "Your cart: 1 article", "Goodbye"]


def test_german_falls_back():
    assert page("de", "Jo", 2) == ["Guten Tag, Jo!", "Ihr Warenkorb: 2 Artikel", "Goodbye"]


def test_dutch_cart():
    assert Translator("nl").text("cart") == "Uw winkelwagen"


def test_unknown_key():
    with pytest.raises(KeyError):
        Translator("de").text("tea")
