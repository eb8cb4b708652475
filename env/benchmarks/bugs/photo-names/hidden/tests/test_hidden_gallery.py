# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from chunks import chunks
from gallery import Gallery
from photos import free_name, in_order, natural_key


def test_other_signs_that_are_digits_of_some_kind():
    names = ["x² 10", "x² 9", "①", "H₂O 3", "H₂O 12", "½ cake"]
    assert in_order(reversed(names))[:2] == ["H₂O 3", "H₂O 12"]
    assert set(in_order(names)) == set(names)


def test_sign_next_to_a_number():
    assert list(chunks("10² m")) == [(True, "10"), (False, "² m")]
    assert in_order(["10²", "9²", "10"]) == ["9²", "10", "10²"]


def test_decimal_digits_of_other_scripts_have_values():
    assert natural_key("٣") == natural_key("3")
    assert in_order(["p ١٠", "p ٩"]) == ["p ٩", "p ١٠"]


def test_free_names():
    assert free_name("m²", ["m²"]) == "m² 2"
    assert free_name("7 m²", ["7 m²", "8 m²"]) == "9 m²"
    assert free_name("img099", ["img099"]) == "img100"
    assert free_name("a1b009", ["a1b009"]) == "a1b010"


def test_upload_again():
    g = Gallery()
    assert [g.upload("r²") for _ in range(3)] == ["r²", "r² 2", "r² 3"]
    assert g.page(1, 2) == ["r²", "r² 2"]
    assert g.page(2, 2) == ["r² 3"]


def test_equal_but_for_zeros():
    assert in_order(["a1", "a01", "A1"]) == ["A1", "a01", "a1"]


def test_any_sign_beside_numbers():
    for number in range(0x20000):
        sign = chr(number)
        if not sign.isnumeric() or sign.isascii():
            continue
        name = f"a7{sign}"
        if sign.isdecimal():
            assert list(chunks(name)) == [(False, "a"), (True, f"7{sign}")]
            assert natural_key(name) == natural_key(f"a{70 + int(sign)}")
        else:
            assert list(chunks(name)) == [(False, "a"), (True, "7"), (False, sign)]
            assert in_order([name, f"a10{sign}", "a7"]) == ["a7", name, f"a10{sign}"]
            assert free_name(name, {name}) == f"a8{sign}"
            assert free_name(sign, {sign, f"{sign} 2"}) == f"{sign} 3"
        assert "".join(text for _, text in chunks(f"{name} {sign}x1")) == f"{name} {sign}x1"
