# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import datetime

import pytest

from shop import LANGUAGES, Translator, order_page, refund_mail
from shop.negotiation import best
from shop.orders import Order

ORDER = Order(7, "Ada", [("Tea", 450), ("Pot", 2300)], datetime.date(2031, 4, 3))


@pytest.mark.parametrize("language", LANGUAGES)
def test_mails_are_in_one_language(language: str) -> None:
    say = Translator(language)
    mail = refund_mail(ORDER, say)
    english = refund_mail(ORDER, Translator("en")).splitlines()
    same = [line for line in mail.splitlines() if line and line in english]
    assert language == "en" or same == [], language


def test_the_money_is_spoken_of_in_italian() -> None:
    assert refund_mail(ORDER, Translator("it")).splitlines()[4].startswith("Ricever")


def test_page() -> None:
    assert order_page(ORDER, Translator("de"))[-2:] == [
        "Sie ging am 3.4.2031 ab.",
        "Sie kommt zwischen 5.4.2031 und 9.4.2031 an.",
    ]


def test_best_language() -> None:
    assert best("fr-CH, de;q=0.9, en;q=0.8", LANGUAGES) == "fr"
    assert best("nl, it;q=0.3, es;q=0.7", LANGUAGES) == "es"
    assert best("", LANGUAGES) == "en"


def test_what_is_nowhere() -> None:
    with pytest.raises(KeyError):
        Translator("de")("cart.full")
