# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from gallery import Gallery


def gallery(*names):
    result = Gallery()
    for name in names:
        result.upload(name)
    return result


def test_order():
    assert gallery("img 10", "img 9", "Img 1", "img").page(1) == ["img", "Img 1", "img 9", "img 10"]


def test_rooms():
    names = ["kitchen 9 m²", "bath 4 m²", "kitchen 12 m²"]
    assert gallery(*names).page(1) == ["bath 4 m²", "kitchen 9 m²", "kitchen 12 m²"]


def test_same_name_again():
    g = gallery("a09", "x")
    assert g.upload("a09") == "a10"
    assert [g.upload("x") for _ in range(2)] == ["x 2", "x 3"]
