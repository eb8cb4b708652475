# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from doors import Doors, UnknownPerson, reach


def test_kim_helps_out() -> None:
    assert Doors().ask("kim041", "read", "reports/dataops/secret/2031") == (
        True,
        "data helps dataops with its secret reports",
    )


def test_secrets() -> None:
    doors = Doors()
    assert not doors.may("kim041", "read", "reports/data/secret/2031")
    assert doors.may("ada097", "read", "reports/data/secret/2031")
    assert not doors.may("kim041", "read", "reports/legal/secret/2031")


def test_guests_and_people_who_left() -> None:
    doors = Doors()
    assert doors.may("ned201", "read", "wiki/public/food") and not doors.may("ned201", "write", "wiki/public/food")
    assert doors.ask("zoe200", "read", "wiki/public/food") == (False, "people who have left")
    assert doors.log.refused() == {"ned201": 1, "zoe200": 1}
    with pytest.raises(UnknownPerson):
        doors.may("nobody", "read", "wiki/x")


def test_somebody_leaves() -> None:
    doors = Doors()
    assert doors.may("kim041", "read", "wiki/x")
    doors.move("kim041", "data@suspended")
    assert not doors.may("kim041", "read", "wiki/x")
    assert reach(doors, "salaries/board/2031") == []
