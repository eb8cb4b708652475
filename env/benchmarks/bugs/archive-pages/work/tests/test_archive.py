# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from archive import Archive
from archive.letters import Letter
from archive.service import Service


@pytest.fixture
def service():
    letters = [Letter(number, "rosa" if number in (2, 27, 44) else "goethe", 1800 + number // 10) for number in range(45)]
    return Service(letters)


def test_everything(service):
    assert [letter.number for letter in Archive(service).all()] == list(range(45))
    assert service.requests == 5


def test_years(service):
    assert Archive(service).years() == {1800: 10, 1801: 10, 1802: 10, 1803: 10, 1804: 5}


def test_rare_author(service):
    assert [letter.number for letter in Archive(service).all("rosa")] == [2, 27, 44]


def test_no_more_requests_than_needed(service):
    assert len(Archive(service).first(12, "goethe")) == 12
    assert service.requests == 2
