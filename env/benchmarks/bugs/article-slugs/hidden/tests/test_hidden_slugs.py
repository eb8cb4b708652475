# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

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
