"""How busy the machine is said to be."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

from stackrank.host.load import machine_load


def test_load_counts_per_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (6.0, 1.0, 1.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert machine_load() == 1.5

    def unknown() -> NoReturn:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", unknown)
    assert machine_load() is None
