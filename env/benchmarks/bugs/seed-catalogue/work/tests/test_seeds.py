# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from seeds import CatalogueError, read_catalogue
from seeds.calendar_page import month_page

GOOD = ["Carrot | mar-jun | 1.95", "", "Garlic | oct-jan | 3.00", "Cress | jan-dec | 1"]


def test_good_catalogue():
    varieties = read_catalogue(GOOD)
    assert varieties["Garlic"].months == (10, 11, 12, 1)
    assert month_page(varieties, 1) == ["JAN", "Cress: 1.00", "Garlic: 3.00"]


def test_mistake():
    with pytest.raises(CatalogueError) as caught:
        read_catalogue(GOOD + ["Leek | apr | 2.5"])
    assert str(caught.value) == "line 5: not a price: 2.5"


def test_empty_catalogue():
    assert read_catalogue([]) == {}
