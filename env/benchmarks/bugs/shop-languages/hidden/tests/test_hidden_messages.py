# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import datetime
import string

import pytest

from shop import LANGUAGES, Translator, refund_mail
from shop.messages import CATALOGUES
from shop.orders import Order

VALUES = {'amount': '12,50 €', 'item': 'Tee', 'most': '3', 'name': 'Ada', 'number': '7', 'day': '3.4.', 'first': 'Mo', 'last': 'Mi', 'days': '5', 'count': '2', 'aisle': 'B', 'shelf': '4', 'left': '2', 'minutes': '9', 'place': 'Bern', 'address': 'a@b', 'shop': 'Shop', 'year': '2031', 'digits': '1234', 'reason': 'x', 'percent': '5', 'weight': '2 kg', 'street': 'Hof 1', 'town': 'Ulm', 'code': '99', 'average': '4,5', 'words': 'w', 'phone': '555', 'points': '10', 'level': 'Gold'}


def test_the_sentence_about_the_money() -> None:
    order = Order(12, "Ugo", [("Moka", 2350)], cancelled=True)
    assert refund_mail(order, Translator("it")).splitlines() == [
        "Ordine 12",
        "",
        "Buongiorno, Ugo.",
        "L'ordine 12 è stato annullato.",
        "Riceverà 23,50 € entro 14 giorni.",
        "",
        "Scriva a help@shop.example.",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_can_be_said(language: str) -> None:
    say = Translator(language)
    for key, text in CATALOGUES[language].items():
        assert say(key, **VALUES) == text.format(**VALUES)
    assert say.gaps == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_is_filled_in_everywhere(language: str) -> None:
    def names(text: str) -> list:
        return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)

    assert set(CATALOGUES[language]) == set(CATALOGUES["en"])
    for key, text in CATALOGUES["en"].items():
        assert names(CATALOGUES[language][key]) == names(text), key


def test_gaps_are_filled_in_english_and_noted() -> None:
    say = Translator("xx", {"en": {"a": "one {n}"}, "xx": {"a": "uno {m}"}})
    assert say("a", n=1) == "one 1" and say.gaps == ["xx:a"]
    assert not say.has("b")
    with pytest.raises(KeyError):
        say("b")


def test_days_in_words() -> None:
    from shop.dates import in_words

    date = datetime.date(2031, 3, 1)
    words = ["Saturday 1 March 2031", "Samstag 1 März 2031", "samedi 1 mars 2031", "sábado 1 marzo 2031", "sabato 1 marzo 2031"]
    assert [in_words(date, Translator(language)) for language in ("en", "de", "fr", "es", "it")] == words


def test_no_sentence_is_lost() -> None:
    assert [len(CATALOGUES[language]) for language in LANGUAGES] == [69] * 5
    order = Order(1, "Eva", [], datetime.date(2031, 1, 1))
    assert order.arrival() == (datetime.date(2031, 1, 3), datetime.date(2031, 1, 7))
