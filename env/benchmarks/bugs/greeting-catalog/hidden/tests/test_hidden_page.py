# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from i18n.page import page
from i18n.translator import Translator


def test_dutch_page():
    assert page("nl-BE", "Piet", 3) == ["Goedendag, Piet!", "Uw winkelwagen: 3 artikelen", "Tot ziens"]


@pytest.mark.parametrize("n, text", [(0, "0 artikelen"), (1, "1 artikel"), (12, "12 artikelen")])
def test_dutch_forms(n, text):
    assert Translator("NL").text("articles", n=n) == text


def test_other_languages():
    assert Translator("de").text("articles", n=1) == "1 Artikel"
    assert Translator("en").text("bye") == "Goodbye"


def test_unknown_key_in_dutch():
    with pytest.raises(KeyError):
        Translator("nl").text("hallo")
