# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from owners import BadAddress, Book, as_number, as_text, letters

LOG = """
2031-03-02 10:00:01 DROP src=5.35.204.3 port=22
2031-03-02 10:00:02 DROP src=5.35.204.9 port=23
2031-03-02 10:00:02 PASS src=5.35.192.9 port=22
2031-03-02 10:00:04 DROP src=5.8.112.200 port=22
2031-03-02 10:00:05 DROP src=5.8.112.1 port=80
2031-03-02 10:00:06 DROP src=5.35.207.255 port=22
"""


def test_letters() -> None:
    assert letters(Book(), LOG.splitlines()) == [("Willow-18", 3)]


def test_first_and_last_address() -> None:
    book = Book()
    for address in ("5.8.0.0", "5.8.3.255"):
        network = book.owner(address)
        assert network is not None and network.name == "Meridian-00"
    assert book.owner("5.7.255.255") is None
    assert book.owner("5.8.4.0") is None


def test_numbers() -> None:
    assert as_number("1.2.3.4") == 16909060
    assert as_text(16909060) == "1.2.3.4"
    with pytest.raises(BadAddress):
        as_number("1.2.3.256")
