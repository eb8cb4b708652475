# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from sheet import Sheet, rooms, total

EXPECTED = {
    "Office North": (1502.0, 0, 465.62),
    "Office South": (2441.0, 149.0, 774.59),
    "Canteen": (2685.0, 0, 832.35),
    "Workshop": (1261.0, 0, 390.91),
    "Paint shop": (2972.0, 0, 921.32),
    "Store": (2504.0, 500.0, 836.24),
    "Garage": (2114.0, 0, 655.34),
    "Archive": (1709.0, 269.0, 562.07),
    "Server room": (1805.0, 1445.0, 732.95),
    "Reception": (974.0, 0, 301.94),
    "Laboratory": (2442.0, 0, 757.02),
    "Packing": (2335.0, 907.0, 832.69),
    "Loading ramp": (1832.0, 0, 567.92),
    "Greenhouse": (2763.0, 891.0, 963.45),
    "Gate house": (2366.0, 0, 733.46),
    "Boiler room": (2980.0, 0, 923.8),
}


def test_every_room() -> None:
    assert rooms(Sheet()) == EXPECTED


@pytest.mark.parametrize("row", [3, 7, 11, 17])
def test_a_larger_room_pays_less(row: int) -> None:
    sheet = Sheet()
    name = str(sheet.value(f"A{row}"))
    others = {other: room for other, room in rooms(sheet).items() if other != name}
    sheet.set(f"B{row}", "100000")
    after = rooms(sheet)
    assert after[name].surcharge == 0 and after[name].cost == round(EXPECTED[name][0] * 0.31, 2)
    assert {other: room for other, room in after.items() if other != name} == others


def test_a_smaller_room_pays_more() -> None:
    sheet = Sheet()
    sheet.set("B11", "1")
    used = EXPECTED["Server room"][0]
    assert rooms(sheet)["Server room"].surcharge == used - 12
    assert rooms(sheet)["Greenhouse"] == EXPECTED["Greenhouse"]


def test_without_a_surcharge() -> None:
    sheet = Sheet()
    sheet.set("B24", "0")
    assert total(sheet) == round(sum(round(used * 0.31, 2) for used, _, _ in EXPECTED.values()), 2)
    sheet.set("B22", "0")
    assert all(room.surcharge == room.used for room in rooms(sheet).values())


def test_highest_and_average() -> None:
    costs = [cost for _, _, cost in EXPECTED.values()]
    assert Sheet().value("R28") == max(costs)
    assert Sheet().value("R29") == pytest.approx(sum(costs) / 16, abs=0.011)
