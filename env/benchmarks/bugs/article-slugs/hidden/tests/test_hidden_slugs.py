# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

import unicodedata

from slugs import SlugRegistry, slugify, to_ascii


@pytest.mark.parametrize(
    "title, slug",
    [
        ("Łódź", "lodz"),
        ("ŁÓDŹ", "lodz"),
        ("ÆRØ", "aero"),
        ("Œuvre", "oeuvre"),
        ("ÞÓRR and Ðor", "thorr-and-dor"),
        ("Đakovo Ħamrun", "dakovo-hamrun"),
        ("GROẞE STRAẞE", "grosse-strasse"),
        ("große Straße", "grosse-strasse"),
        ("İstanbul ışık", "istanbul-isik"),
    ],
)
def test_special_letters(title, slug):
    assert slugify(title) == slug


@pytest.mark.parametrize("text", ["ærøskøbing", "łęg", "þorn", "đuro", "œil"])
def test_case_does_not_matter(text):
    assert to_ascii(text.upper()) == to_ascii(text)
    assert to_ascii(text).isascii()


def test_composed_and_decomposed():
    assert to_ascii("E\u0301cole") == to_ascii("\u00c9cole") == "ecole"


def test_wide_and_ligature_letters():
    assert slugify("ＷＩＤＥ ﬁne ①") == "wide-fine-1"
    assert slugify("𝐁𝐎𝐋𝐃") == "bold"


def test_nothing_left():
    assert slugify("日本") == "untitled"
    assert slugify("?!") == "untitled"


def test_registry_numbers_titles_that_differ_in_case_only():
    registry = SlugRegistry()
    assert registry.assign("a", "Østerbro") == "osterbro"
    assert registry.assign("b", "ØSTERBRO") == "osterbro-2"
    assert registry.article("osterbro-2") == "b"


LETTERS = {"\u00e6": "ae", "\u0153": "oe", "\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00f0": "d", "\u00fe": "th", "\u00df": "ss", "\u0127": "h"}


def test_special_letters_of_every_kind_and_case():
    for letter, expected in LETTERS.items():
        for mark in ("", "\u0301", "\u0323\u0304"):
            for form in ("NFC", "NFD", "NFKC", "NFKD"):
                for text in (letter, letter.upper(), letter.title()):
                    assert to_ascii(unicodedata.normalize(form, f"x{text}{mark}Y")) == f"x{expected}y", (text, mark, form)
    assert to_ascii("\u1e9e") == "ss" and to_ascii("\u0130\u0131I") == "iii"


@pytest.mark.parametrize("first, end", [(0, 0x250), (0x1D2C, 0x1D6B), (0x1E00, 0x1F00), (0x2100, 0x2190), (0xFB00, 0xFB07), (0xFF21, 0xFF5B), (0x1D400, 0x1D6A8)])
def test_letters_written_in_another_way_are_like_the_plain_ones(first, end):
    for number in range(first, end):
        plain = unicodedata.normalize("NFKD", chr(number))
        assert to_ascii(chr(number)) == to_ascii(plain) == to_ascii(chr(number).lower()) == to_ascii(plain.lower()), hex(number)
        letters = [LETTERS.get(letter, letter if letter.isascii() else None) for letter in plain.lower() if not unicodedata.combining(letter)]
        if None not in letters:
            assert to_ascii(chr(number)) == "".join(letters), hex(number)
