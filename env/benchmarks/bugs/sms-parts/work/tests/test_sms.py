# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from sms import split
from sms.carrier import encode


def test_plain():
    assert [p.text for p in split("a" * 160).parts] == ["a" * 160]
    assert [len(p.text) for p in split("a" * 161).parts] == [153, 8]


def test_extended_letters():
    message = split("€" * 81)
    assert [len(p.text) for p in message.parts] == [76, 5]
    assert len(encode(message)) == 2


def test_cyrillic():
    message = split("ж" * 71)
    assert [len(p.text) for p in message.parts] == [67, 4]
    assert message.price(9) == 18


def test_party_invitation():
    text = "Party at ours on Friday! Bring your friends, games and snacks " + "🎉" * 8
    assert len(text) == 70
    assert b"".join(encode(split(text))).decode("utf-16-be") == text


def test_one_emoji():
    assert encode(split("Hi 🙂")) == ["Hi 🙂".encode("utf-16-be")]
