# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from sms import GSM, UCS2, choose, split
from sms.carrier import encode


@pytest.mark.parametrize("text", ["🙂" * 35, "🙂" * 36, "🙂" * 70, "a🙂" * 50, "я" * 66 + "🙂" * 3, "𝄞x" * 90, "я" * 66 + "🙂" + "я" * 67])
def test_emoji_are_never_torn_apart_nor_too_long(text):
    message = split(text)
    assert message.text == text
    frames = encode(message)
    assert [frame.decode("utf-16-be") for frame in frames] == [part.text for part in message.parts]


@pytest.mark.parametrize("text, lengths", [
    ("🙂" * 35, [35]),
    ("🙂" * 36, [33, 3]),
    ("я" * 68 + "🙂", [69]),
    ("я" * 69 + "🙂", [67, 3]),
    ("я" * 66 + "🙂" * 3, [66, 3]),
    ("🙂" * 67, [33, 33, 1]),
])
def test_as_few_parts_as_possible(text, lengths):
    assert [len(part.text) for part in split(text).parts] == lengths


def test_payload_of_parts():
    message = split("🙂" * 40)
    assert [part.payload(UCS2) for part in message.parts] == [66, 14]
    assert [part.payload(UCS2) for part in split("я" * 80).parts] == [67, 13]


def test_cost_of_letters():
    assert [GSM.cost(c) for c in "a€[é"] == [1, 2, 2, 1]
    assert [UCS2.cost(c) for c in "aя€中🙂"] == [1, 1, 1, 1, 2]


def test_alphabets():
    assert choose("Grüße à tous {€}") is GSM
    assert choose("ç") is UCS2
    assert choose("") is GSM and split("").text == ""


def test_extended_letter_at_the_edge():
    assert [len(p.text) for p in split("a" * 152 + "€" + "a" * 20).parts] == [152, 21]
